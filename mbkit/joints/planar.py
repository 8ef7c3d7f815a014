"""Motion in a plane."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.joints.bases.planar_motion import PlanarMotion
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class PlanarJoint(PlanarMotion):
    """Rotation about an axis and translation in the plane normal to it: SE(2).

    With ``coordinates="group"`` the position is (angle, x, y), the turn about the axis and the
    place of the joint's point in the plane of the predecessor [rad, m]; the velocity is the rate of
    the angle and the velocity of the point in the axes of the successor, so that the motion
    subspace is constant. The angle counts turns. x and y are those of the joint frame, turned as
    the shortest turn of z to the axis does.

    With ``"first kind"`` and ``"second kind"`` the velocity is the rate of the position; those of
    the second kind in the order ("x", "y", "angle") are x, y and the angle.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis : ndarray, shape (3,), default z
        Normal of the plane, of any length but zero.
    point : ndarray, shape (3,), default the origin
        The point whose position the coordinates give, and about which the angle turns. [m]
    coordinates : {"group", "first kind", "second kind"}, keyword only
        The kind of coordinates.
    order : sequence of str, keyword only, default ("angle", "x", "y")
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
    >>> puck = PlanarJoint("puck")
    >>> step = np.array([np.pi, 0.0, 1.0])  # turn by half of it, shift along y, turn again
    >>> puck.retract(puck.neutral(), step).round(12) + 0.0
    array([ 3.14159265, -1.        ,  0.        ])
    """

    @property
    def freedoms(self) -> dict[str, FloatArray]:
        """The turn and two shifts."""
        return dict(zip(("angle", "x", "y"), np.eye(6)[2:5], strict=True))

    def stored_wrenches(self) -> FloatArray:
        """Return moments in the plane and the force normal to it."""
        return np.eye(6)[:, [0, 1, 5]]
