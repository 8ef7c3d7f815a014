"""The motion of a joint in one kind of coordinates."""

from __future__ import annotations

import abc
import math

import numpy as np

from mbkit.joints.kernels import JointKernels
from mbkit.joints.nearest import nearest
from mbkit.spatial.arrays import FloatArray

__all__ = ["Motion", "header"]


class Motion(abc.ABC):
    """The methods of a joint, in its canonical frame; what a joint with a choice of them hands on.

    The methods mean what those of `mbkit.Joint` of the same names do. The defaults are those of
    coordinates that add.

    Attributes
    ----------
    num_positions, num_velocities : int
        nq and nv.
    position_units : tuple of str
        A unit for each position.
    constant_subspace : bool
        Whether S is the same at every q, and the bias zero.
    quaternions : tuple of int
        Where in q unit quaternions begin.
    """

    num_positions: int
    num_velocities: int
    position_units: tuple[str, ...]
    constant_subspace: bool = False
    quaternions: tuple[int, ...] = ()

    @abc.abstractmethod
    def pose(self, q: FloatArray) -> FloatArray:
        """Return T(q), (4, 4)."""

    @abc.abstractmethod
    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return S, (6, nv)."""

    @abc.abstractmethod
    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return S-dot v, (6,)."""

    @abc.abstractmethod
    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return a basis of the wrenches that do no work along S, (6, 6 - nv)."""

    @abc.abstractmethod
    def kernels(self) -> JointKernels:
        """Return the compiled forms."""

    @abc.abstractmethod
    def parameters(self) -> FloatArray:
        """Return the numbers that the compiled forms get."""

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return the configuration that a step leads to."""
        return q + dx

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return the step between two configurations."""
        return q1 - q0

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rate of a step."""
        return v

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rate of q as numbers."""
        return v

    def time_to_lock(self, q: FloatArray, v: FloatArray) -> float:
        """Return how soon q may be where its rate is infinite; never unless overridden."""
        return math.inf

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the configuration whose pose is nearest to T; searched for unless overridden."""
        return nearest(self, T)

    def neutral(self) -> FloatArray:
        """Return the configuration where T is the identity."""
        return np.zeros(self.num_positions)

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return how far each row of q (k, nq) is from a singular configuration, shape (k,)."""
        return np.full(len(q), np.inf)


def header(num_velocities: int, wrenches: FloatArray | None) -> FloatArray:
    """Return what parameters begin with; see `mbkit.kernels.joints.header`.

    Parameters
    ----------
    num_velocities : int
        nv.
    wrenches : ndarray, shape (6, 6 - nv), optional
        A constant basis of the wrenches that the joint bears.

    Returns
    -------
    ndarray, shape (1 + 6 (6 - nv),)
        The numbers.
    """
    stored = np.zeros((6, 6 - num_velocities)) if wrenches is None else wrenches
    return np.concatenate([[num_velocities], stored.T.ravel()])
