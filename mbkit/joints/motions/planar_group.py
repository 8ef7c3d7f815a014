"""Turning about z and shifting in the plane as a group."""

from __future__ import annotations

import math
from typing import final

import attrs
import numpy as np

from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.motion import Motion, header
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen(eq=False)
class PlanarGroup(Motion):
    """T = (Rz(angle), (x, y, pitch angle + z)), q = (angle, x, y) or (angle, x, y, z).

    v = (rate of the angle, velocity in the axes of the successor); S is constant. A step (a, d)
    turns by a/2, shifts by d, and turns by a/2 again: it leads to (angle + a, p + Rz(angle + a/2)
    d). Its inverse has no singularity and counts turns; it agrees with the exponential on SE(2) to
    second order.
    """

    wrenches: FloatArray  # (6, 6 - nv): a basis of the wrenches that do no work along S
    pitch: float = 0.0  # shift along z that comes with the angle. [m/rad]

    constant_subspace = True
    positions_add = False

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

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return (adot, Rz(angle) u) of v = (adot, u)."""
        rate = np.array(v, dtype=np.float64)
        rate[1:3] = _turn(q[0]) @ v[1:3]
        return rate

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import parameter_header, planar

        return JointKernels.of(planar, constraint_wrenches=parameter_header.stored_wrenches)

    def parameters(self) -> FloatArray:
        """Return the header and the pitch."""
        return np.append(header(self.num_velocities, self.wrenches), self.pitch)


def _turn(angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])
