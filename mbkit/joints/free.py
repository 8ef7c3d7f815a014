"""Six degrees of freedom."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.joints.bases.subgroup_joint import FIRST_KIND, GROUP, SubgroupJoint, check_coordinates
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.pose_group import PoseGroup
from mbkit.spatial.arrays import FloatArray, owner


@final
@attrs.frozen(slots=False)  # a dictionary for the cached property
class FreeJoint(SubgroupJoint):
    """No restriction at all: any pose, on the group SE(3).

    With ``coordinates="group"`` the position is a unit quaternion (w, x, y, z) and the origin of
    the successor's joint frame in the predecessor's, [m]; the velocity is the body-fixed twist of
    the successor's joint frame, angular velocity before velocity, both in its own axes. [rad/s,
    m/s] The motion subspace of these quasi-velocities is constant.

    With ``"first kind"`` the position is the screw X of T = exp(X), angular part first, and the
    velocity its rate. [rad, m] It is singular where X turns by 2 pi. Coordinates of the second kind
    are those of a `CompositeJoint` of translations and rotations.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    coordinates : {"group", "first kind"}, keyword only
        The kind of coordinates.

    Raises
    ------
    ModelError
        If `coordinates` is no kind there is.

    Examples
    --------
    >>> free = FreeJoint("free")
    >>> free.neutral()
    array([1., 0., 0., 0., 0., 0., 0.])
    >>> step = np.array([0.0, 0.0, np.pi, 0.0, np.pi, 0.0])  # half a circle of radius one
    >>> free.retract(free.neutral(), step).round(12)[4:] + 0.0
    array([-2.,  0.,  0.])
    >>> FreeJoint("free", coordinates="first kind").pose(step).round(12)[:3, 3] + 0.0
    array([-2.,  0.,  0.])
    """

    name: str
    coordinates: str = attrs.field(default=GROUP, kw_only=True, validator=check_coordinates)

    order = None
    turning = 4
    charts = ("screw_coordinates", None)
    kinds = (GROUP, FIRST_KIND)

    @property
    def freedoms(self) -> dict[str, FloatArray]:
        """Turns about three axes and shifts along them."""
        names = ("turn x", "turn y", "turn z", "x", "y", "z")
        return dict(zip(names, np.eye(6), strict=True))

    @property
    def velocity_twist(self) -> str | None:
        """The twist is body-fixed with ``coordinates="group"``; rates of a screw are none."""
        return "body_fixed" if self.coordinates == GROUP else None

    def group_motion(self) -> Motion:
        """Return the motion in a unit quaternion and a position."""
        return PoseGroup(f"{owner(self)}: orientation")
