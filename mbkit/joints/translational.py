"""Translation along two or three axes."""

from __future__ import annotations

import functools
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import GeometryError, ShapeError
from mbkit.joints.bases.axes import unit
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.spatial.arrays import (
    EQUAL,
    FloatArray,
    check_array,
    frozen_array,
    owner,
    shown,
    with_key,
)

#: Least singular value of unit axes that count as independent: two of them by half a degree.
_INDEPENDENT = 1e-2


def _check_axes(joint: Any, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    with_key("axes", _independent_axes, joint, value)


def _independent_axes(joint: Any, value: FloatArray) -> None:
    what = f"{owner(joint)}: axes"
    if value.shape not in ((2, 3), (3, 3)):
        raise ShapeError(
            f"{what} must be two or three rows of three numbers, got shape {value.shape}; for one "
            "there is mbkit.PrismaticJoint."
        )
    check_array(value, value.shape, what)
    if not value.any(axis=1).all():
        raise GeometryError(f"{what} must have directions, got {shown(value)}; none may be zero.")
    if np.linalg.svd([unit(axis) for axis in value])[1][-1] < _INDEPENDENT:
        raise GeometryError(
            f"{what} must be independent, got {shown(value)}, which are nearly parallel or in one "
            "plane; turn one away, or leave it out."
        )


@final
@attrs.frozen(slots=False)  # a dictionary for the cached property
class TranslationalJoint(MotionJoint):
    """Translation in a plane, along two axes, or in space, along three: R2 or R3.

    q are the distances along the axes [m], v their rates. Translations commute, so that there is
    one kind of coordinates.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axes : ndarray, shape (2, 3) or (3, 3), default x, y and z
        Directions by rows, of any length but zero, independent; they need not be normal to each
        other.

    Raises
    ------
    ShapeError, GeometryError
        If there are not two or three, one is zero or not finite, or they are not independent.

    Examples
    --------
    >>> table = TranslationalJoint("table", axes=[(1, 0, 0), (0, 2, 0)])
    >>> table.pose(np.array([0.5, 0.25]))[:3, 3]
    array([0.5 , 0.25, 0.  ])
    """

    same_along = (0, 1, 2)

    name: str
    axes: FloatArray = attrs.field(
        default=frozen_array(np.eye(3)),
        converter=frozen_array,
        validator=_check_axes,
        eq=EQUAL,
        hash=False,
        repr=shown,
    )

    @functools.cached_property
    def motion(self) -> Motion:
        """Translations one after another."""
        directions = np.array([unit(axis) for axis in self.axes])
        count = len(directions)
        W = np.zeros((6, 6 - count))
        W[:3, :3] = np.eye(3)
        if count == 2:
            W[3:, 3] = unit(np.cross(*directions))
        screws = np.hstack([np.zeros((count, 3)), directions])
        return ScrewProduct(screws, ("m",) * count, W, chart="shifts")
