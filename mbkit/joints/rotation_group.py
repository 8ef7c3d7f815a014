"""Rotation about the origin as a group, in unit quaternions."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.errors import ConfigurationError
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motion import Motion
from mbkit.joints.quaternion_rates import quaternion_rate
from mbkit.lie import SO3, UnitQuaternion
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import unit_rotation

__all__ = ["RotationGroup"]


@final
@attrs.frozen(eq=False)
class RotationGroup(Motion):
    """T = (R(q), 0), q a unit quaternion (w, x, y, z); v the angular velocity in the successor.

    Attributes
    ----------
    what : str
        How messages call the quaternion, such as "Joint 'ball': position".
    """

    what: str

    num_positions = 4
    num_velocities = 3
    position_units = ("", "", "", "")
    constant_subspace = True
    quaternions = (0,)

    def pose(self, q: FloatArray) -> FloatArray:
        """Return (R(q), 0)."""
        T = np.eye(4)
        T[:3, :3] = unit_rotation(q, self.what, ConfigurationError)
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return (I; 0)."""
        return np.eye(6)[:, :3]

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return zero: S is constant."""
        return np.zeros(6)

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return q exp(dx), dx a rotation vector in the successor."""
        moved = UnitQuaternion.compose(q, UnitQuaternion.exp(dx))
        unit: FloatArray = moved / np.linalg.norm(moved)  # or rounding would add up, step by step
        return unit

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return log(q0^-1 q1), at most pi long: the same for q1 and -q1."""
        return UnitQuaternion.log(UnitQuaternion.compose(UnitQuaternion.inverse(q0), q1))

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return dexp_body^-1(x) v on SO(3)."""
        rate: FloatArray = SO3.dexp_body_inv(x) @ v
        return rate

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return q (0, v) / 2."""
        return quaternion_rate(q, v)

    def neutral(self) -> FloatArray:
        """Return (1, 0, 0, 0)."""
        return np.array([1.0, 0.0, 0.0, 0.0])

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return the forces through the origin, (0; I)."""
        return np.eye(6)[:, 3:]

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the quaternion, its first entry not negative."""
        return UnitQuaternion.from_rotation(T[:3, :3])

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import spherical

        return JointKernels(
            motion=spherical.motion,
            retract=spherical.retract,
            difference=spherical.difference,
            dexp_inv=spherical.dexp_inv,
            constraint_wrenches=spherical.constraint_wrenches,
            configuration_from_pose=spherical.configuration_from_pose,
        )

    def parameters(self) -> FloatArray:
        """Return none."""
        return np.zeros(0)
