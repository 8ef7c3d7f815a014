"""Translation in space and rotation about one direction."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.joints.bases.planar_motion import PlanarMotion
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class SchoenfliesJoint(PlanarMotion):
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
        The point whose position the coordinates give. [m]
    coordinates : {"group", "first kind", "second kind"}, keyword only
        The kind of coordinates.
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

    default_order = ("angle", "x", "y", "z")

    @property
    def freedoms(self) -> dict[str, FloatArray]:
        """The turn and three shifts."""
        return dict(zip(("angle", "x", "y", "z"), np.eye(6)[2:], strict=True))

    def stored_wrenches(self) -> FloatArray:
        """Return the moments normal to the axis."""
        return np.eye(6)[:, :2]
