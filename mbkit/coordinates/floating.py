"""Floating bodies: their inertia is inverted once, at assembly."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.kernels import layout
from mbkit.representations import Representation
from mbkit.sparsity.packing import packed
from mbkit.spatial import SpatialInertia

if TYPE_CHECKING:
    from mbkit.joints import Joint

__all__ = ["set_floating"]

#: Principal moments below this part of the largest, or of mass times squared distance of the centre
#: of mass, are rounding.
_NEGLIGIBLE = 1e-13


def set_floating(
    bodies: Any,
    joints: tuple[Joint | None, ...],
    inertias: list[SpatialInertia],
    representation: Representation,
    named: Collection[str],
) -> list[Any]:
    """Write the inverse inertia of floating bodies; return the arrays that the rows point to.

    A body floats if it is on a joint from the world whose velocity is the body's twist in the
    representation of the recursions, carries no body, and no constraint names that joint.
    """
    from mbkit.kernels.compile import array_address

    found: dict[int, list[float]] = {}
    carriers = {*bodies["parent"].tolist()}
    for i, (row, joint, inertia) in enumerate(zip(bodies, joints, inertias, strict=True)):
        if joint is None or row["parent"] != 0 or i in carriers or joint.name in named:
            continue
        if joint.velocity_twist != representation.name or row["kind"] != layout.TABLE:
            continue
        if row["reversed"] or not _turns_nothing(row, representation):
            continue
        numbers = _roots(inertia)
        if numbers is not None:
            found[i] = numbers
    arrays = packed(found.values(), np.float64)
    for i, array in zip(found, arrays, strict=True):
        bodies[i]["floating"] = array_address(array)
    return arrays


def _turns_nothing(row: Any, representation: Representation) -> bool:
    """Return whether twists are the same as seen from where the joint sits in the world."""
    C = np.eye(4)
    C[:3, :3] = row["R"]
    C[:3, 3] = row["p"]
    return bool((representation.twist_map(C) == np.eye(6)).all())  # T(C X) = T(C) T(X)


def _roots(inertia: SpatialInertia) -> list[float] | None:
    """Return the axes over roots of moments, the centre of mass, one over the root of the mass."""
    if not inertia.mass > 0.0:
        return None
    com = np.asarray(inertia.com)
    moments, axes = np.linalg.eigh(inertia.moment_about_com)
    size = max(moments[-1], inertia.mass * float(com @ com))
    if not moments[0] > _NEGLIGIBLE * size:
        return None
    rows = axes.T / np.sqrt(moments)[:, None]
    return [*rows.reshape(-1).tolist(), *com.tolist(), 1.0 / np.sqrt(inertia.mass)]
