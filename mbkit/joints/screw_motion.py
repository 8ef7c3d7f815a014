"""The motion of all joints with one degree of freedom that is a screw."""

from __future__ import annotations

import abc
import functools
import math

import numpy as np

from mbkit.joints.axes import cross, frame_along
from mbkit.joints.charts import locate_screw
from mbkit.joints.joint import Joint
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse

__all__ = ["ScrewMotion"]


class ScrewMotion(Joint):
    """T(q) = exp(X q) with a constant screw X = (w, v); the named joints say what X is.

    In a frame K whose z axis lies on the screw's axis, X is (0, 0, rate, 0, 0, lead), and
    T = K (rotation by rate q about z, translation by lead q along z) K^-1.
    """

    num_positions = 1
    num_velocities = 1
    zero_reference = True

    @property
    @abc.abstractmethod
    def screw(self) -> FloatArray:
        """Screw X (6,) of a unit of q, in the joint frame: (w, v), angular first."""

    @property
    @abc.abstractmethod
    def rate(self) -> float:
        """Rotation about the axis by unit of q, zero or positive. [rad]."""

    @property
    @abc.abstractmethod
    def lead(self) -> float:
        """Translation along the axis by unit of q; positive where the rate is zero. [m]."""

    @property
    def position_units(self) -> tuple[str, ...]:
        """Radians where the joint turns, metres where it only slides."""
        return ("rad",) if self.rate > 0.0 else ("m",)

    @property
    def direction(self) -> FloatArray:
        """Direction of the axis, of length one, or of the translation."""
        w, v = self.screw[:3], self.screw[3:]
        e: FloatArray = w / self.rate if self.rate > 0.0 else v / self.lead
        return e

    def velocity_of(self, point: FloatArray) -> FloatArray:
        """Return how fast a point (3,) of the successor moves by unit of q, in the joint frame."""
        v: FloatArray = self.screw[3:] + cross(self.screw[:3], point)
        return v

    @property
    def canonical_frame(self) -> FloatArray:
        """Frame K (4, 4), in the joint frame, with its z axis on the screw's axis.

        Its origin is the axis' point next to the origin of the joint frame, w x v / |w|^2; the
        origin itself for a translation.
        """
        return self._frames[0]

    @functools.cached_property
    def _frames(self) -> tuple[FloatArray, FloatArray]:
        """K and its inverse."""
        K = np.eye(4)
        K[:3, :3] = frame_along(self.direction)
        if self.rate > 0.0:
            K[:3, 3] = np.cross(self.direction, self.screw[3:] / self.rate)
        K_inverse = inverse(K)
        K.flags.writeable = K_inverse.flags.writeable = False
        return K, K_inverse

    def pose(self, q: FloatArray) -> FloatArray:
        """Return exp(X q); see `Joint.pose`.

        With e for the axis and u for the part of v across it, a shift by
        lead q e + sin(rate q) u / rate + (1 - cos(rate q)) e x u / rate: exact wherever the axis
        is, even beyond all numbers.
        """
        e, v = self.direction, self.screw[3:]
        x = self.rate * q[0]
        T = np.eye(4)
        T[:3, 3] = self.lead * q[0] * e
        if self.rate > 0.0:
            s, half = math.sin(x), math.sin(0.5 * x)
            d = 2.0 * half * half  # 1 - cos x without cancellation
            turn = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
            T[:3, :3] += s * turn + d * (turn @ turn)
            across = v - (e @ v) * e
            T[:3, 3] += (s / self.rate) * across + (d / self.rate) * np.cross(e, across)
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return X as a column: exp(X q) leaves its own screw where it is."""
        S: FloatArray = self.screw.reshape(6, 1)
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return zero: S is constant."""
        return np.zeros(6)

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the position whose pose is nearest to T; see `Joint.configuration_from_pose`.

        Where the screw does not advance, between half a turn and its negative.
        """
        K, K_inverse = self._frames
        return np.array([locate_screw(self.rate, self.lead, K_inverse @ T @ K)])

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return the five wrenches reciprocal to X, along the axes of the canonical frame.

        About z it is the wrench (0, 0, -lead, 0, 0, rate), divided by its length.
        """
        W = np.zeros((6, 5))
        W[[0, 1, 3, 4], [0, 1, 2, 3]] = 1.0
        size = math.hypot(self.rate, self.lead)
        W[2, 4], W[5, 4] = -self.lead / size, self.rate / size
        R, p = self._frames[0][:3, :3], self._frames[0][:3, 3]
        # Ad_K^-T (t, f) = (R t + p x R f, R f)
        forces = R @ W[3:]
        return np.vstack([R @ W[:3] + np.cross(p, forces.T).T, forces])

    def screw_form(self) -> tuple[float, float] | None:
        """Return (rate, lead); see `Joint.screw_form`."""
        return self.rate, self.lead
