"""A screw motion, and translation in the plane normal to it."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from mbkit.given_values import as_number
from mbkit.joints.bases.axes import PITCH
from mbkit.joints.bases.planar_motion import PlanarMotion
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.planar_group import PlanarGroup
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen
class HelicalPlanarJoint(PlanarMotion):
    """A screw motion about an axis, and translation in the plane normal to it: H_p with R2.

    As `PlanarJoint`, whose coordinates it has, but that the plane advances along the axis with the
    angle, by the pitch.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis : ndarray, shape (3,), default z
        Normal of the plane, of any length but zero.
    point : ndarray, shape (3,), default the origin
        The point whose position the coordinates give. [m]
    pitch : float, keyword only
        Translation along the axis by radian. [m/rad]
    coordinates : {"group", "first kind", "second kind"}, keyword only
        The kind of coordinates.
    order : sequence of str, keyword only, default ("angle", "x", "y")
        Factors of the second kind; "angle" is the screw motion.

    Raises
    ------
    ShapeError, GeometryError
        If `axis` or `point` is not a finite vector of three, the axis is zero, or the pitch is not
        finite.
    ModelError
        If `coordinates` is no kind there is, or `order` does not have each freedom once.

    Examples
    --------
    >>> nut = HelicalPlanarJoint("nut", pitch=0.5)
    >>> nut.pose(np.array([2.0, 3.0, 4.0]))[:3, 3]
    array([3., 4., 1.])
    """

    pitch: float = attrs.field(kw_only=True, converter=as_number, **PITCH)

    @property
    def freedoms(self) -> dict[str, FloatArray]:
        """The screw and two shifts."""
        screws = np.eye(6)[2:5]
        screws[0, 5] = self.pitch
        return dict(zip(("angle", "x", "y"), screws, strict=True))

    def group_motion(self) -> Motion:
        """Return the motion in an angle and a place."""
        return PlanarGroup(self.stored_wrenches(), self.pitch)

    def stored_wrenches(self) -> FloatArray:
        """Return moments in the plane, and the wrench about the axis reciprocal to the screw."""
        W = np.eye(6)[:, [0, 1, 5]]
        W[[2, 5], 2] = np.array([-self.pitch, 1.0]) / math.hypot(self.pitch, 1.0)
        return W
