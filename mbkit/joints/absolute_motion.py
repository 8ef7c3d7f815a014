"""All poses, in an orientation and a position, with steps in local coordinates."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from mbkit.errors import ConfigurationError
from mbkit.joints.kernels import JointKernels
from mbkit.joints.local_coordinates import LocalCoordinates
from mbkit.joints.motion import Motion
from mbkit.joints.orientations import Orientation
from mbkit.joints.quaternion_rates import rotated
from mbkit.kernels.joints import kinds
from mbkit.lie import SE3
from mbkit.lie import UnitQuaternion as Group
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import unit_rotation

__all__ = ["AbsoluteMotion"]


@final
@attrs.frozen(eq=False)
class AbsoluteMotion(Motion):
    """T = (R(orientation), r); T psi(X), or psi(X) T, is where a step X leads to.

    Attributes
    ----------
    orientation : Orientation
        What the first positions are.
    local : LocalCoordinates
        psi, and the group that its product is of.
    left : bool
        Whether the step is left-trivialised: T psi(X).
    what : str
        How messages call the orientation, such as "Joint 'base': orientation".
    """

    orientation: Orientation
    local: LocalCoordinates
    left: bool
    what: str

    num_velocities = 6

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
        return self.on_se3 and self.left

    @property
    def on_se3(self) -> bool:
        """Whether the group is SE(3), else SO(3) x R^3."""
        return self.local.group is SE3

    def parts(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the orientation as a quaternion (4,), and the position (3,)."""
        n = self.orientation.num_positions
        return self.orientation.quaternion(q[:n]), q[n:]

    def joined(self, Q: FloatArray, r: FloatArray) -> FloatArray:
        """Return the positions of a quaternion, made of length one again, and a position."""
        return np.concatenate([self.orientation.positions(Q / np.linalg.norm(Q)), r])

    def pose(self, q: FloatArray) -> FloatArray:
        """Return (R, r)."""
        Q, r = self.parts(q)
        T = np.eye(4)
        T[:3, :3] = unit_rotation(Q, self.what, ConfigurationError)
        T[:3, 3] = r
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return the map from v to the body-fixed twist.

        I, diag(I, R^T), Ad_T^-1, diag(R^T, R^T) of body-fixed, mixed, spatial and hybrid twists.
        """
        if self.constant_subspace:
            return np.eye(6)
        T = self.pose(q)
        back = T[:3, :3].T
        if self.on_se3:
            return SE3.Ad(SE3.inverse(T))
        S = np.zeros((6, 6))
        S[:3, :3] = np.eye(3) if self.left else back
        S[3:, 3:] = back
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return S-dot v: (0, -w x R^T rdot) on SO(3) x R^3, w in the body; nothing on SE(3).

        Of spatial twists, S-dot v = -ad_V S v with V = S v the body-fixed twist itself.
        """
        bias = np.zeros(6)
        if not self.on_se3:
            twist = self.motion_subspace(q) @ v
            bias[3:] = -np.cross(twist[:3], twist[3:])
        return bias

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return T psi(dx), or psi(dx) T, the product being that of the group."""
        Q, r = self.parts(q)
        dQ, t = self.local.increment(dx)
        if self.left:
            shift = Group.Ad(Q) @ t if self.on_se3 else t
            return self.joined(Group.compose(Q, dQ), r + shift)
        carried = Group.Ad(dQ) @ r if self.on_se3 else r
        return self.joined(Group.compose(dQ, Q), carried + t)

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return psi^-1 of T0^-1 T1, or of T1 T0^-1; not finite where psi does not reach it."""
        (Q0, r0), (Q1, r1) = self.parts(q0), self.parts(q1)
        back = Group.inverse(Q0)
        if self.left:
            dQ = Group.compose(back, Q1)
            t = Group.Ad(back) @ (r1 - r0) if self.on_se3 else r1 - r0
        else:
            dQ = Group.compose(Q1, back)
            t = r1 - Group.Ad(dQ) @ r0 if self.on_se3 else r1 - r0
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.local.coordinates(dQ, t)

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return dpsi_-x^-1 v, or dpsi_x^-1 v."""
        rate: FloatArray = self.local.differential_inv(-x if self.left else x) @ v
        return rate

    @property
    def quaternions(self) -> tuple[int, ...]:  # type: ignore[override]
        """The first positions, where they are a unit quaternion."""
        return (0,) if self.orientation.num_positions == 4 else ()

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rates of the orientation, and R u of the body-fixed twist (w, u)."""
        Q, _ = self.parts(q)
        twist = self.motion_subspace(q) @ v
        rates = self.orientation.rates(q[: self.orientation.num_positions], twist[:3])
        return np.concatenate([rates, rotated(Q, twist[3:])])

    def time_to_lock(self, q: FloatArray, v: FloatArray) -> float:
        """Return how soon the orientation may be where its rates are infinite."""
        w = (self.motion_subspace(q) @ v)[:3]
        return self.orientation.time_to_lock(q[: self.orientation.num_positions], w)

    def neutral(self) -> FloatArray:
        """Return the positions of the identity."""
        return self.joined(np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return no wrench, (6, 0)."""
        return np.zeros((6, 0))

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the positions of R, its quaternion's first entry not negative, and r."""
        return self.joined(Group.from_rotation(T[:3, :3]), T[:3, 3])

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        from mbkit.kernels.joints import absolute

        return JointKernels(
            motion=absolute.motion,
            retract=absolute.retract,
            difference=absolute.difference,
            dexp_inv=absolute.dexp_inv,
            constraint_wrenches=absolute.constraint_wrenches,
            configuration_from_pose=absolute.configuration_from_pose,
        )

    def parameters(self) -> FloatArray:
        """Return the numbers that `mbkit.kernels.joints.kinds` lists."""
        local = self.local
        side = kinds.LEFT if self.left else kinds.RIGHT
        numbers = (self.orientation.kind, local.rotation.kind, local.lift, side)
        return np.array([*numbers, *self.orientation.axes], dtype=np.float64)
