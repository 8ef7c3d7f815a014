"""Six degrees of freedom."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.errors import ConfigurationError
from mbkit.joints.joint import Joint
from mbkit.joints.kernels import JointKernels
from mbkit.spatial.arrays import FloatArray, owner
from mbkit.spatial.frames import unit_rotation

__all__ = ["FreeJoint"]


@final
@attrs.frozen
class FreeJoint(Joint):
    """No restriction at all: any pose, on the group SE(3).

    The position is a unit quaternion (w, x, y, z) and the origin of the successor's joint frame in
    the predecessor's, [m]; the velocity is the body-fixed twist of the successor's joint frame,
    angular velocity before velocity, both in its own axes. [rad/s, m/s] The motion subspace of
    these quasi-velocities is constant.

    Attributes
    ----------
    name : str
        Unique in the mechanism.

    Examples
    --------
    >>> free = FreeJoint("free")
    >>> free.neutral()
    array([1., 0., 0., 0., 0., 0., 0.])
    >>> step = np.array([0.0, 0.0, np.pi, 0.0, np.pi, 0.0])  # half a circle of radius one
    >>> free.retract(free.neutral(), step).round(12)[4:] + 0.0
    array([-2.,  0.,  0.])
    """

    num_positions = 7
    num_velocities = 6
    zero_reference = True

    name: str

    @property
    def position_units(self) -> tuple[str, ...]:
        """None for the quaternion, metres for the position."""
        return ("", "", "", "", "m", "m", "m")

    def pose(self, q: FloatArray) -> FloatArray:
        """Return (R(q[:4]), q[4:]); see `Joint.pose`."""
        what = f"{owner(self)}: orientation"
        T = np.eye(4)
        T[:3, :3] = unit_rotation(q[:4], what, ConfigurationError)
        T[:3, 3] = q[4:]
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return the identity: v is the twist."""
        return np.eye(6)

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return zero: S is constant."""
        return np.zeros(6)

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return T(q) exp(dx) on SE(3)."""
        from mbkit.lie import SE3, UnitQuaternion

        moved = UnitQuaternion.compose(q[:4], UnitQuaternion.exp(dx[:3]))
        position = q[4:] + UnitQuaternion.Ad(q[:4]) @ SE3.exp(dx)[:3, 3]
        return np.concatenate([moved / np.linalg.norm(moved), position])

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return log(T(q0)^-1 T(q1)) on SE(3)."""
        from mbkit.lie import SE3, UnitQuaternion

        back = UnitQuaternion.inverse(q0[:4])
        step = np.eye(4)
        step[:3, 3] = UnitQuaternion.Ad(back) @ (q1[4:] - q0[4:])
        step[:3, :3] = UnitQuaternion.Ad(UnitQuaternion.compose(back, q1[:4]))
        return SE3.log(step)

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return dexp_body^-1(x) v on SE(3)."""
        from mbkit.lie import SE3

        rate: FloatArray = SE3.dexp_body_inv(x) @ v
        return rate

    def neutral(self) -> FloatArray:
        """Return (1, 0, 0, 0, 0, 0, 0)."""
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return no wrench, (6, 0)."""
        return np.zeros((6, 0))

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import free

        return JointKernels(
            motion=free.motion,
            retract=free.retract,
            difference=free.difference,
            dexp_inv=free.dexp_inv,
            constraint_wrenches=free.constraint_wrenches,
        )
