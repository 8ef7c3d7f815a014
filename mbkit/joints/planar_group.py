"""Turning about z and shifting in the plane as a group."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from mbkit.joints.charts import locate_screw
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motion import Motion, header
from mbkit.spatial.arrays import FloatArray

__all__ = ["PlanarGroup"]


@final
@attrs.frozen(eq=False)
class PlanarGroup(Motion):
    """T = (Rz(angle), (x, y, pitch angle + z)), q = (angle, x, y) or (angle, x, y, z).

    v = (rate of the angle, velocity in the axes of the successor); S is constant. A step (a, d)
    turns by a/2, shifts by d, and turns by a/2 again: it leads to (angle + a, p + Rz(angle + a/2)
    d). Its inverse has no singularity and counts turns; it agrees with the exponential on SE(2) to
    second order.

    Attributes
    ----------
    wrenches : ndarray, shape (6, 6 - nv)
        A basis of the wrenches that do no work along S.
    pitch : float
        Shift along z that comes with the angle. [m/rad]
    """

    wrenches: FloatArray
    pitch: float = 0.0

    constant_subspace = True

    @property
    def num_positions(self) -> int:  # type: ignore[override]
        """Three, or four."""
        return 6 - int(self.wrenches.shape[1])

    @property
    def num_velocities(self) -> int:  # type: ignore[override]
        """Three, or four."""
        return 6 - int(self.wrenches.shape[1])

    @property
    def position_units(self) -> tuple[str, ...]:  # type: ignore[override]
        """Radians, then metres."""
        return ("rad", "m", "m", "m")[: self.num_positions]

    def pose(self, q: FloatArray) -> FloatArray:
        """Return (Rz(angle), p)."""
        T = np.eye(4)
        T[:2, :2] = _turn(q[0])
        T[:3, 3] = q[1], q[2], self.pitch * q[0] + (q[3] if len(q) == 4 else 0.0)
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return (z, pitch z), (0, x), (0, y), and (0, z) where there are four."""
        S = np.eye(6)[:, 2 : 2 + self.num_velocities]
        S[5, 0] = self.pitch
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return zero: S is constant."""
        return np.zeros(6)

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return the constant basis."""
        return self.wrenches

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return half of the turn, the shift, and the other half."""
        moved = q + dx
        moved[1:3] = q[1:3] + _turn(q[0] + 0.5 * dx[0]) @ dx[1:3]
        return moved

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return the turn, and the shift seen from half of it."""
        dx = q1 - q0
        dx[1:3] = _turn(-0.5 * (q0[0] + q1[0])) @ (q1[1:3] - q0[1:3])
        return dx

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return (adot, Rz(a/2) u - adot/2 z x d) of x = (a, d) and v = (adot, u)."""
        rate = np.array(v, dtype=np.float64)
        rate[1:3] = _turn(0.5 * x[0]) @ v[1:3] + 0.5 * v[0] * np.array([x[2], -x[1]])
        return rate

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return (adot, Rz(angle) u) of v = (adot, u)."""
        rate = np.array(v, dtype=np.float64)
        rate[1:3] = _turn(q[0]) @ v[1:3]
        return rate

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the angle of the nearest rotation about z, turns told by the pitch, and p."""
        return np.array([locate_screw(1.0, self.pitch, T), *T[: self.num_positions - 1, 3]])

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import header, planar

        return JointKernels(
            motion=planar.motion,
            retract=planar.retract,
            difference=planar.difference,
            dexp_inv=planar.dexp_inv,
            constraint_wrenches=header.stored_wrenches,
            configuration_from_pose=planar.configuration_from_pose,
        )

    def parameters(self) -> FloatArray:
        """Return the header and the pitch."""
        return np.append(header(self.num_velocities, self.wrenches), self.pitch)


def _turn(angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])
