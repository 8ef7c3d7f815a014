"""Rotation about an axis and translation along it."""

from __future__ import annotations

import functools
from typing import final

import attrs
import numpy as np

from mbkit.joints.bases.axes import DIRECTION, POINT, frame_at
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.spatial.arrays import ORIGIN, Z_AXIS, FloatArray, frozen_array


@final
@attrs.frozen(slots=False)  # a dictionary for the cached properties
class CylindricalJoint(MotionJoint):
    """Rotation about an axis and, independently, translation along it: SO(2) x R.

    q = (angle, shift) [rad, m], v is its rate. The two commute, so that there is one kind of
    coordinates: q is that of the first and of the second kind, and an element of the group.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis : ndarray, shape (3,), default z
        Direction of the axis, of any length but zero; rotation is right-handed about it.
    point : ndarray, shape (3,), default the origin
        A point of the axis. [m]

    Raises
    ------
    ShapeError, GeometryError
        If `axis` or `point` is not a finite vector of three, or the axis is zero.

    Examples
    --------
    >>> sleeve = CylindricalJoint("sleeve", axis=(0, 0, 1), point=(1, 0, 0))
    >>> sleeve.pose(np.array([np.pi, 0.5]))[:3, 3].round(12) + 0.0
    array([2. , 0. , 0.5])
    """

    same_along = (2,)

    name: str
    axis: FloatArray = attrs.field(default=Z_AXIS, converter=frozen_array, **DIRECTION)
    point: FloatArray = attrs.field(default=ORIGIN, converter=frozen_array, **POINT)

    @functools.cached_property
    def motion(self) -> Motion:
        """Rotation about z and translation along it."""
        W = np.eye(6)[:, [0, 1, 3, 4]]
        return ScrewProduct(np.eye(6)[[2, 5]], ("rad", "m"), W, chart="turn_and_shifts")

    @functools.cached_property
    def canonical_frame(self) -> FloatArray:
        """Frame at the point, with its z axis along the axis."""
        return frame_at(self.axis, self.point)
