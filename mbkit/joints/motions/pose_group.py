"""All poses as a group, in a unit quaternion and a position."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.quaternion_rates import quaternion_rate, rotated
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen(eq=False)
class PoseGroup(Motion):
    """T = (R(q[:4]), q[4:]), v the body-fixed twist of the successor."""

    what: str

    num_positions = 7
    num_velocities = 6
    position_units = ("", "", "", "", "m", "m", "m")
    constant_subspace = True
    quaternions = (0,)
    positions_add = False

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return S, the identity: v is the body-fixed twist."""
        return np.eye(6)

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return q[:4] (0, w) / 2 and R(q[:4]) u, v = (w, u)."""
        return np.concatenate([quaternion_rate(q[:4], v[:3]), rotated(q[:4], v[3:])])

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import free

        return JointKernels.of(free)
