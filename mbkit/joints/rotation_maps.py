"""Maps from vectors to rotations, scaled so that a small vector is the rotation vector itself.

Each has psi(-x) = psi(x)^-1, and dpsi_x is right-trivialised: w^s = dpsi_x xdot. Their compiled
forms are in `mbkit.kernels.joints.rotation_maps`.
"""

from __future__ import annotations

import abc
import math

import numpy as np

from mbkit.kernels.joints import kinds
from mbkit.lie import SE3, SO3, UnitQuaternion
from mbkit.lie.arrays import hat
from mbkit.spatial.arrays import FloatArray

__all__ = ["CAYLEY", "CAYLEY2", "EXPONENTIAL", "RotationMap"]


class RotationMap(abc.ABC):
    """psi and its differential; all vectors have shape (3,), matrices (3, 3).

    Attributes
    ----------
    kind : int
        Its number in `mbkit.kernels.joints.kinds`.
    range : float
        Angle of the turn at which x, or its differential, ends. [rad]
    """

    kind: int
    range: float

    @abc.abstractmethod
    def quaternion(self, x: FloatArray) -> FloatArray:
        """Return psi(x) as a unit quaternion (4,), scalar first."""

    @abc.abstractmethod
    def vector(self, Q: FloatArray) -> FloatArray:
        """Return the x of a unit quaternion (4,), the same for Q and -Q."""

    @abc.abstractmethod
    def differential(self, x: FloatArray) -> FloatArray:
        """Return dpsi_x."""

    @abc.abstractmethod
    def differential_inv(self, x: FloatArray) -> FloatArray:
        """Return dpsi_x^-1."""

    @abc.abstractmethod
    def differential_inv_change(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return the derivative of dpsi_x^-1 along y."""


class _Exponential(RotationMap):
    """x is the rotation vector. Mueller (36), (38), (39), (61)."""

    kind = kinds.EXPONENTIAL
    range = 2.0 * math.pi

    def quaternion(self, x: FloatArray) -> FloatArray:
        return UnitQuaternion.exp(x)

    def vector(self, Q: FloatArray) -> FloatArray:
        return UnitQuaternion.log(Q)

    def differential(self, x: FloatArray) -> FloatArray:
        return SO3.dexp_spatial(x)

    def differential_inv(self, x: FloatArray) -> FloatArray:
        return SO3.dexp_spatial_inv(x)

    def differential_inv_change(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return SE3.dexp_spatial_inv(np.concatenate([x, y]))[3:, :3]


class _Cayley(RotationMap):
    """x = 2 c, c = n tan(angle / 2): Rodrigues parameters. Mueller (41)-(43), (47)."""

    kind = kinds.CAYLEY
    range = math.pi

    def quaternion(self, x: FloatArray) -> FloatArray:
        c = 0.5 * x
        Q: FloatArray = np.concatenate([[1.0], c]) / np.sqrt(1.0 + c @ c)
        return Q

    def vector(self, Q: FloatArray) -> FloatArray:
        x: FloatArray = 2.0 * Q[1:] / Q[0]
        return x

    def differential(self, x: FloatArray) -> FloatArray:
        c = 0.5 * x
        D: FloatArray = (np.eye(3) + hat(c)) / (1.0 + c @ c)
        return D

    def differential_inv(self, x: FloatArray) -> FloatArray:
        c = 0.5 * x
        D: FloatArray = np.eye(3) - hat(c) + np.outer(c, c)
        return D

    def differential_inv_change(self, x: FloatArray, y: FloatArray) -> FloatArray:
        c, d = 0.5 * x, 0.5 * y
        change: FloatArray = np.outer(c, d) + np.outer(d, c) - hat(d)
        return change


class _SecondOrderCayley(RotationMap):
    """x = 4 w, w = n tan(angle / 4): Wiener-Milenkovic parameters.

    psi(x) = cay(w)^2. Beyond |w| = 1 the same rotation has the shadow -w / w.w, of less than half a
    turn, which `vector` returns.
    """

    kind = kinds.CAYLEY2
    range = 2.0 * math.pi

    def quaternion(self, x: FloatArray) -> FloatArray:
        w = 0.25 * x
        m = w @ w
        Q: FloatArray = np.concatenate([[1.0 - m], 2.0 * w]) / (1.0 + m)
        return Q

    def vector(self, Q: FloatArray) -> FloatArray:
        positive = -Q if Q[0] < 0.0 else Q
        x: FloatArray = 4.0 * positive[1:] / (1.0 + positive[0])
        return x

    def differential(self, x: FloatArray) -> FloatArray:
        w = 0.25 * x
        m = w @ w
        D: FloatArray = (1.0 - m) * np.eye(3) + 2.0 * hat(w) + 2.0 * np.outer(w, w)
        return D / (1.0 + m) ** 2

    def differential_inv(self, x: FloatArray) -> FloatArray:
        w = 0.25 * x
        D: FloatArray = (1.0 - w @ w) * np.eye(3) - 2.0 * hat(w) + 2.0 * np.outer(w, w)
        return D

    def differential_inv_change(self, x: FloatArray, y: FloatArray) -> FloatArray:
        w, u = 0.25 * x, 0.25 * y
        symmetric = np.outer(w, u) + np.outer(u, w)
        change: FloatArray = 2.0 * (symmetric - hat(u) - (w @ u) * np.eye(3))
        return change


EXPONENTIAL = _Exponential()
CAYLEY = _Cayley()
CAYLEY2 = _SecondOrderCayley()
