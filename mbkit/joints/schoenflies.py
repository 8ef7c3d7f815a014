"""Translation in space and rotation about one direction."""

from __future__ import annotations

import functools
from typing import Any, final

import attrs
import numpy as np

from mbkit.joints.axes import DIRECTION, POINT, frame_at
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.planar_group import PlanarGroup
from mbkit.joints.subgroup_joint import (
    GROUP,
    SubgroupJoint,
    as_order,
    check_coordinates,
    check_order,
)
from mbkit.spatial.arrays import ORIGIN, Z_AXIS, FloatArray, frozen_array

__all__ = ["SchoenfliesJoint"]


@final
@attrs.frozen(slots=False)  # a dictionary for the cached properties
class SchoenfliesJoint(SubgroupJoint):
    """Translation in space and rotation about an axis of fixed direction: SE(2) x R.

    The motion of the last body of a SCARA robot. With ``coordinates="group"`` the position is
    (angle, x, y, z), the turn about the axis and the place of the joint's point in the predecessor,
    z along the axis [rad, m]; the velocity is the rate of the angle and the velocity of the point
    in the axes of the successor, so that the motion subspace is constant. The angle counts turns.
    With ``"first kind"`` and ``"second kind"`` the velocity is the rate of the position.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis : ndarray, shape (3,), default z
        Direction of the rotation axis, of any length but zero.
    point : ndarray, shape (3,), default the origin
        The point whose place the position tells. [m]
    coordinates : {"group", "first kind", "second kind"}, keyword only
        What the position is.
    order : sequence of str, keyword only, default ("angle", "x", "y", "z")
        Factors of the second kind. With the angle between x and y they are singular where it is
        pi/2.

    Raises
    ------
    ShapeError, GeometryError
        If `axis` or `point` is not a finite vector of three, or the axis is zero.
    ModelError
        If `coordinates` is no kind there is, or `order` does not have each freedom once.

    Examples
    --------
    >>> SchoenfliesJoint("gripper").pose(np.array([np.pi, 1.0, 2.0, 3.0])).round(12)[:3] + 0.0
    array([[-1.,  0.,  0.,  1.],
           [ 0., -1.,  0.,  2.],
           [ 0.,  0.,  1.,  3.]])
    """

    same_along = (2,)

    name: str
    axis: FloatArray = attrs.field(default=Z_AXIS, converter=frozen_array, **DIRECTION)
    point: FloatArray = attrs.field(default=ORIGIN, converter=frozen_array, **POINT)
    coordinates: str = attrs.field(default=GROUP, kw_only=True, validator=check_coordinates)
    order: Any = attrs.field(default=None, kw_only=True, converter=as_order, validator=check_order)

    default_order = ("angle", "x", "y", "z")

    @property
    def freedoms(self) -> dict[str, FloatArray]:
        """The turn and three shifts."""
        return dict(zip(("angle", "x", "y", "z"), np.eye(6)[2:], strict=True))

    def group_motion(self) -> Motion:
        """Return the motion in an angle and a place."""
        return PlanarGroup(self.stored_wrenches())

    def stored_wrenches(self) -> FloatArray:
        """Return the moments normal to the axis."""
        return np.eye(6)[:, :2]

    @functools.cached_property
    def canonical_frame(self) -> FloatArray:
        """Frame at the point, with its z axis along the axis."""
        return frame_at(self.axis, self.point)
