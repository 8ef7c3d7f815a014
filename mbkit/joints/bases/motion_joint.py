"""Joints that hand their methods on to a motion in one kind of coordinates."""

from __future__ import annotations

import abc

import numpy as np

from mbkit.joints.joint import Joint
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.motion import Motion
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse


class MotionJoint(Joint):
    """T = K T' K^-1 with a motion T' in the canonical frame K; subclasses define both."""

    zero_reference = True

    #: Axes of the canonical frame along which its origin may be moved: the motion is the same.
    same_along: tuple[int, ...] = ()

    @property
    @abc.abstractmethod
    def motion(self) -> Motion:
        """The motion, in the canonical frame."""

    @property
    def num_positions(self) -> int:  # type: ignore[override]
        """Number of positions; it depends on the coordinates."""
        return self.motion.num_positions

    @property
    def num_velocities(self) -> int:  # type: ignore[override]
        """Number of velocities."""
        return self.motion.num_velocities

    @property
    def positions_add(self) -> bool:
        """Whether retract(q, dx) is q + dx, so that v is the rate of q."""
        return self.motion.positions_add

    @property
    def constant_subspace(self) -> bool:  # type: ignore[override]
        """Whether S is the same at every configuration."""
        return self.motion.constant_subspace

    @property
    def position_units(self) -> tuple[str, ...]:
        """Unit of each position."""
        return self.motion.position_units

    def pose(self, q: FloatArray) -> FloatArray:
        """Return T(q); see `Joint.pose`."""
        K = self.canonical_frame
        T: FloatArray = K @ self.motion.pose(q) @ inverse(K)
        T[3] = 0.0, 0.0, 0.0, 1.0
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return S (6, nv); see `Joint.motion_subspace`."""
        return carried(self.canonical_frame, self.motion.motion_subspace(q))

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return Sdot v; see `Joint.bias`."""
        return carried(self.canonical_frame, self.motion.bias(q, v))

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return the wrenches that do no work along S; see `Joint.constraint_wrenches`."""
        K, W = self.canonical_frame, self.motion.constraint_wrenches(q)
        # Ad_K^-T (t, f) = (R t + p x R f, R f)
        forces = K[:3, :3] @ W[3:]
        return np.vstack([K[:3, :3] @ W[:3] + np.cross(K[:3, 3], forces.T).T, forces])

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return the configuration that the step dx leads to; see `Joint.retract`."""
        return self.motion.retract(q, dx)

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return the step that leads from q0 to q1; see `Joint.difference`."""
        return self.motion.difference(q0, q1)

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rate of the step x; see `Joint.dexp_inv`."""
        return self.motion.dexp_inv(x, v)

    def position_rates(self, q: FloatArray, w: FloatArray) -> FloatArray:
        """Return the rate of q as numbers; see `Joint.position_rates`."""
        return self.motion.position_rates(q, w)

    def time_to_lock(self, q: FloatArray, w: FloatArray) -> float:
        """Return how soon the rate of q may be infinite; see `Joint.time_to_lock`."""
        return self.motion.time_to_lock(q, w)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where in q unit quaternions begin."""
        return self.motion.quaternions

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the one whose pose is nearest to T; see `Joint.configuration_from_pose`."""
        if not np.isfinite(T).all():
            return np.full(self.num_positions, np.nan)
        K = self.canonical_frame
        return self.motion.configuration_from_pose(inverse(K) @ T @ K)

    def neutral(self) -> FloatArray:
        """Return the configuration where T is the identity."""
        return self.motion.neutral()

    def random(self, rng: np.random.Generator) -> FloatArray:
        """Return a random configuration: orientations in quaternions are uniform."""
        if not self.quaternions:
            return super().random(rng)
        q = rng.normal(size=self.num_positions)
        for first in self.quaternions:
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        return q

    def singularity(self, q: FloatArray) -> float:
        """Return how far q is from a singular configuration; see `Joint.singularity`."""
        return float(self.singularities(np.atleast_2d(q))[0])

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return how far each row of q is from one; see `Joint.singularities`."""
        return self.motion.singularities(q)

    def kernels(self) -> JointKernels:
        """Return the compiled forms."""
        return self.motion.kernels()

    def parameters(self) -> FloatArray:
        """Return the numbers that the compiled forms get."""
        return self.motion.parameters()


def carried(K: FloatArray, V: FloatArray) -> FloatArray:
    """Return twists (6,) or (6, n) in the joint frame, Ad_K V = (R w, R u + p x R w)."""
    w = K[:3, :3] @ V[:3]
    return np.concatenate([w, K[:3, :3] @ V[3:] + np.cross(K[:3, 3], w.T).T])
