"""All poses, in an orientation and a position, with steps in local coordinates."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.joints.absolute.local_coordinates import LocalCoordinates
from mbkit.joints.absolute.orientations import Orientation
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.motion import Motion
from mbkit.joints.motions.quaternion_rates import rotated
from mbkit.kernels.joints.absolute import kinds as absolute_kinds
from mbkit.lie import SE3
from mbkit.spatial.arrays import FloatArray


@final
@attrs.frozen(eq=False)
class AbsoluteMotion(Motion):
    """T = (R(orientation), r); T psi(X), or psi(X) T, is where a step X leads to."""

    orientation: Orientation  # the kind of the first positions
    local: LocalCoordinates  # psi, and the group that its product is of
    left: bool  # whether the step is left-trivialised: T psi(X)
    what: str  # name of the orientation in messages, such as "Joint 'base': orientation"

    num_velocities = 6
    positions_add = False

    @property
    def num_positions(self) -> int:  # type: ignore[override]
        """Those of the orientation, and three."""
        return self.orientation.num_positions + 3

    @property
    def position_units(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of the orientation, then metres."""
        return (self.orientation.unit,) * self.orientation.num_positions + ("m", "m", "m")

    @property
    def constant_subspace(self) -> bool:  # type: ignore[override]
        """Whether v is the body-fixed twist."""
        return self.local.group is SE3 and self.left

    @property
    def quaternions(self) -> tuple[int, ...]:  # type: ignore[override]
        """The first positions, where they are a unit quaternion."""
        return (0,) if self.orientation.num_positions == 4 else ()

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rates of the orientation, and R u of the body-fixed twist (w, u)."""
        n, twist = self.orientation.num_positions, self._twist(q, v)
        rates = self.orientation.rates(q[:n], twist[:3])
        # quaternions as they are: that their length is one may be left to the integrator
        shift = rotated(q[:4], twist[3:]) if n == 4 else self.pose(q)[:3, :3] @ twist[3:]
        return np.concatenate([rates, shift])

    def time_to_lock(self, q: FloatArray, v: FloatArray) -> float:
        """Return how soon the orientation may be where its rates are infinite."""
        positions = q[: self.orientation.num_positions]
        return self.orientation.time_to_lock(positions, self._twist(q, v)[:3])

    def _twist(self, q: FloatArray, v: FloatArray) -> FloatArray:
        return v if self.constant_subspace else self.motion_subspace(q) @ v

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints.absolute import absolute_joint

        return JointKernels.of(absolute_joint)

    def parameters(self) -> FloatArray:
        """Return the numbers that `mbkit.kernels.joints.absolute.kinds` lists."""
        local = self.local
        side = absolute_kinds.LEFT if self.left else absolute_kinds.RIGHT
        numbers = (self.orientation.kind, local.rotation.kind, local.lift, side)
        return np.array([*numbers, *self.orientation.axes], dtype=np.float64)
