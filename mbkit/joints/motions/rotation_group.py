"""Rotation about the origin as a group, in unit quaternions."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.quaternion_rates import quaternion_rate
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen(eq=False)
class RotationGroup(Motion):
    """T = (R(q), 0), q a unit quaternion (w, x, y, z); v the angular velocity in the successor."""

    what: str

    num_positions = 4
    num_velocities = 3
    position_units = ("", "", "", "")
    constant_subspace = True
    quaternions = (0,)
    positions_add = False

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return S, the axes of the successor: v is the angular velocity in them."""
        return np.eye(6)[:, :3]

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return q (0, v) / 2."""
        return quaternion_rate(q, v)

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import spherical

        return JointKernels.of(spherical)
