"""A coupling of two shafts that turn alike."""

from __future__ import annotations

import functools
from typing import final

import attrs
import numpy as np

from mbkit.joints.bases.axes import DIRECTION, POINT, frame_at
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.screw_sum import ScrewSum
from mbkit.spatial.arrays import ORIGIN, Z_AXIS, FloatArray, frozen_array


@final
@attrs.frozen(slots=False)  # a dictionary for the cached properties
class ConstantVelocityJoint(MotionJoint):
    """Rotation about any axis normal to a shaft: both shafts turn at one rate, however bent.

    T = exp(x e1 + y e2), e1 and e2 normal to the shaft and to each other, q = (x, y) [rad], v its
    rate: a turn by the length of q about the axis x e1 + y e2. These motions form no subgroup.
    Singular at turns by 2 pi; beyond pi, q (1 - 2 pi / |q|) is the same pose nearer to zero.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    axis : ndarray, shape (3,), default z
        Direction of the shafts in the reference configuration, of any length but zero. e1 and e2
        are x and y of the joint frame, turned as the shortest turn of z to the axis does.
    point : ndarray, shape (3,), default the origin
        Where the shafts meet. [m]

    Raises
    ------
    ShapeError, GeometryError
        If `axis` or `point` is not a finite vector of three, or the axis is zero.

    Notes
    -----
    The joint bears the moment about the normal of the plane that halves the angle between the
    shafts (the homokinetic plane), exp(-q/2) times the shaft in the successor, since the turn about
    it is the one that it lacks.

    Examples
    --------
    >>> joint = ConstantVelocityJoint("joint")
    >>> joint.pose(np.array([np.pi / 2, 0.0]))[:3, 2].round(12) + 0.0  # the successor's shaft
    array([ 0., -1.,  0.])
    """

    name: str
    axis: FloatArray = attrs.field(default=Z_AXIS, converter=frozen_array, **DIRECTION)
    point: FloatArray = attrs.field(default=ORIGIN, converter=frozen_array, **POINT)

    singularity_remedy = "q (1 - 2 pi / |q|) is the same pose nearer to zero"

    @functools.cached_property
    def motion(self) -> Motion:
        """A rotation about an axis in the plane of x and y."""
        wrenches, chart = "constant_velocity_wrenches", "normal_rotation_vector"
        return ScrewSum(np.eye(6)[:2], ("rad", "rad"), wrenches, chart=chart)

    @functools.cached_property
    def canonical_frame(self) -> FloatArray:
        """Frame where the shafts meet, with its z axis along them."""
        return frame_at(self.axis, self.point)
