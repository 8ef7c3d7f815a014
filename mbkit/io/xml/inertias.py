"""Inertias of links, which files may give that no body has."""

from __future__ import annotations

import numpy as np

from mbkit.errors import InertiaError
from mbkit.io.xml.values import Part
from mbkit.spatial import FloatArray, SpatialInertia

__all__ = ["inertia_at"]


def inertia_at(part: Part, mass: float, C: FloatArray, moment: FloatArray) -> SpatialInertia:
    """Return m, c, R I R^T of an element whose frame has the pose C = (R, c) in that of the link.

    A moment that no body has is taken as it is, since many robots have such links, and noted. Zero
    where there is another fault.
    """
    R, com = C[:3, :3], C[:3, 3]
    if not np.array_equal(R, np.eye(3)):
        moment = R @ moment @ R.T
        moment = 0.5 * (moment + moment.T)

    def accepted() -> SpatialInertia:
        try:
            return SpatialInertia.from_com(mass, com, moment)
        except InertiaError as error:
            inertia = SpatialInertia.from_com(mass, com, moment, unphysical=True)
            part.reading.note(part.line, f"{part.owner} is taken as it is, though: {error}")
            return inertia

    found = part.attempt(accepted)
    return SpatialInertia.zero() if found is None else found
