"""The motion of all joints with one degree of freedom that is a screw."""

from __future__ import annotations

import abc
import functools
import math

import numpy as np

from mbkit.joints.bases.axes import cross, frame_along
from mbkit.joints.bases.motion_joint import MotionJoint
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.spatial.arrays import FloatArray


class ScrewMotion(MotionJoint):
    """T(q) = exp(X q) with a constant screw X = (w, v), which the named joints define.

    In a frame K whose z axis lies on the screw's axis, X is (0, 0, rate, 0, 0, lead), and
    T = K (rotation by rate q about z, translation by lead q along z) K^-1.
    """

    num_positions = 1
    num_velocities = 1

    #: Whether no frame is put on the axis: the canonical frame is then the joint's own.
    is_far: bool = False

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

    @functools.cached_property
    def canonical_frame(self) -> FloatArray:
        """Frame K (4, 4), in the joint frame, with its z axis on the screw's axis.

        Its origin is the axis' point next to the origin of the joint frame, w x v / |w|^2; the
        origin itself for a translation. Of a far axis the identity.
        """
        K = np.eye(4)
        if not self.is_far:
            K[:3, :3] = frame_along(self.direction)
        if self.rate > 0.0 and not self.is_far:
            K[:3, 3] = np.cross(self.direction, self.screw[3:] / self.rate)
        K.flags.writeable = False
        return K

    @functools.cached_property
    def motion(self) -> ScrewProduct:
        """The screw in the canonical frame, with the five wrenches reciprocal to it.

        About z it is the wrench (0, 0, -lead, 0, 0, rate), divided by its length.
        """
        if self.is_far:
            return self.in_joint_frame
        rate, lead = self.rate, self.lead
        W = np.eye(6)[:, [0, 1, 3, 4, 5]]
        W[[2, 5], 4] = np.array([-lead, rate]) / math.hypot(rate, lead)
        X = np.array([[0.0, 0.0, rate, 0.0, 0.0, lead]])
        return ScrewProduct(X, self.position_units, W, chart="screw")

    @functools.cached_property
    def in_joint_frame(self) -> ScrewProduct:
        """The same in the joint's own frame: exact wherever the axis is, beyond all numbers."""
        return ScrewProduct(self.screw.reshape(1, 6), self.position_units)

    def pose(self, q: FloatArray) -> FloatArray:
        """Return exp(X q); see `Joint.pose`."""
        return self.in_joint_frame.pose(q)

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return X as a column: exp(X q) leaves its own screw where it is."""
        S: FloatArray = self.screw.reshape(6, 1)
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return zero: S is constant."""
        return np.zeros(6)

    def kernels(self) -> JointKernels | None:  # type: ignore[override]
        """Return those of a far axis; other screws the recursions compute in place."""
        return self.motion.kernels() if self.is_far else None

    def parameters(self) -> FloatArray:
        """Return the numbers of the compiled forms."""
        return self.motion.parameters() if self.is_far else np.zeros(0)

    def screw_form(self) -> tuple[float, float] | None:
        """Return (rate, lead), None where the axis is far; see `Joint.screw_form`."""
        return None if self.is_far else (self.rate, self.lead)
