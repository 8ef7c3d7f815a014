"""All poses as a group, in a unit quaternion and a position."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.errors import ConfigurationError
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motion import Motion
from mbkit.joints.quaternion_rates import quaternion_rate, rotated
from mbkit.lie import SE3, UnitQuaternion
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import unit_rotation

__all__ = ["PoseGroup"]


@final
@attrs.frozen(eq=False)
class PoseGroup(Motion):
    """T = (R(q[:4]), q[4:]), v the body-fixed twist of the successor.

    Attributes
    ----------
    what : str
        How messages call the quaternion, such as "Joint 'base': orientation".
    """

    what: str

    num_positions = 7
    num_velocities = 6
    position_units = ("", "", "", "", "m", "m", "m")
    constant_subspace = True
    quaternions = (0,)

    def pose(self, q: FloatArray) -> FloatArray:
        """Return (R(q[:4]), q[4:])."""
        T = np.eye(4)
        T[:3, :3] = unit_rotation(q[:4], self.what, ConfigurationError)
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
        moved = UnitQuaternion.compose(q[:4], UnitQuaternion.exp(dx[:3]))
        position = q[4:] + UnitQuaternion.Ad(q[:4]) @ SE3.exp(dx)[:3, 3]
        return np.concatenate([moved / np.linalg.norm(moved), position])

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return log(T(q0)^-1 T(q1)) on SE(3)."""
        back = UnitQuaternion.inverse(q0[:4])
        step = np.eye(4)
        step[:3, 3] = UnitQuaternion.Ad(back) @ (q1[4:] - q0[4:])
        step[:3, :3] = UnitQuaternion.Ad(UnitQuaternion.compose(back, q1[:4]))
        return SE3.log(step)

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return dexp_body^-1(x) v on SE(3)."""
        rate: FloatArray = SE3.dexp_body_inv(x) @ v
        return rate

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return q[:4] (0, w) / 2 and R(q[:4]) u, v = (w, u)."""
        return np.concatenate([quaternion_rate(q[:4], v[:3]), rotated(q[:4], v[3:])])

    def neutral(self) -> FloatArray:
        """Return (1, 0, 0, 0, 0, 0, 0)."""
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return no wrench, (6, 0)."""
        return np.zeros((6, 0))

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the quaternion, its first entry not negative, and the position."""
        return np.concatenate([UnitQuaternion.from_rotation(T[:3, :3]), T[:3, 3]])

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import free

        return JointKernels(
            motion=free.motion,
            retract=free.retract,
            difference=free.difference,
            dexp_inv=free.dexp_inv,
            constraint_wrenches=free.constraint_wrenches,
            configuration_from_pose=free.configuration_from_pose,
        )

    def parameters(self) -> FloatArray:
        """Return none."""
        return np.zeros(0)
