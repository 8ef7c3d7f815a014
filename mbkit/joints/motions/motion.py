"""The motion of a joint in one kind of coordinates."""

from __future__ import annotations

import abc
import functools
import math
from typing import Any

import numpy as np

from mbkit.errors import ConfigurationError, JointError
from mbkit.joints.defaults.configuration_from_pose import nearest
from mbkit.joints.kernels import JointKernels
from mbkit.joints.motions.calls import call, entries
from mbkit.lie.arrays import pose
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import unit_rotation


class Motion(abc.ABC):
    """The methods of a joint, in its canonical frame, for joints with a choice of them.

    They are those of `mbkit.Joint` of the same names, and call the compiled forms, which
    define a motion.

    Attributes
    ----------
    num_positions, num_velocities : int
        nq and nv.
    position_units : tuple of str
        A unit for each position.
    positions_add : bool
        Whether retract(q, dx) is q + dx.
    constant_subspace : bool
        Whether S is the same at every q, and the bias zero.
    quaternions : tuple of int
        Where in q unit quaternions begin.
    what : str
        Name of a quaternion in messages, such as "Joint 'ball': position".
    """

    num_positions: int
    num_velocities: int
    position_units: tuple[str, ...]
    positions_add: bool = True
    constant_subspace: bool = False
    quaternions: tuple[int, ...] = ()
    what: str = "q"

    @abc.abstractmethod
    def kernels(self) -> JointKernels:
        """Return the compiled forms."""

    def parameters(self) -> FloatArray:
        """Return the numbers that the compiled forms get; none unless overridden."""
        return np.zeros(0)

    @functools.cached_property
    def compiled(self) -> tuple[JointKernels, FloatArray]:
        """The compiled forms and their parameters."""
        return self.kernels(), self.parameters()

    def _written(self, operation: str, arguments: dict[str, tuple[Any, int]], *sizes: int) -> Any:
        """Return the result of a compiled form, for arguments with their lengths."""
        kernels, parameters = self.compiled
        given = [entries(value, count, name) for name, (value, count) in arguments.items()]
        status, written = call(getattr(kernels, operation), [parameters, *given], sizes)
        if status != 0:
            for name, value in zip(arguments, given, strict=True):
                for first in self.quaternions if name.startswith("q") else ():
                    unit_rotation(value[first : first + 4], self.what, ConfigurationError)
            raise JointError(f"The compiled form of {operation} reported a failure.")
        return written

    def _motion(self, q: FloatArray, v: FloatArray | None = None) -> tuple[Any, Any, Any]:
        """Return T(q) (4, 4), S(q) (6, nv) and S-dot v (6,)."""
        nv = self.num_velocities
        velocities = np.zeros(nv) if v is None else v
        arguments = {"q": (q, self.num_positions), "v": (velocities, nv)}
        R, p, S, bias = self._written("motion", arguments, 9, 3, 6 * nv, 6)
        return pose(R.reshape(3, 3), p), S.reshape(nv, 6).T, bias

    def pose(self, q: FloatArray) -> FloatArray:
        """Return T(q), (4, 4)."""
        T: FloatArray = self._motion(q)[0]
        return T

    def motion_subspace(self, q: FloatArray) -> FloatArray:
        """Return S, (6, nv)."""
        S: FloatArray = self._motion(q)[1]
        return S

    def bias(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return S-dot v, (6,)."""
        bias: FloatArray = self._motion(q, v)[2]
        return bias

    def constraint_wrenches(self, q: FloatArray) -> FloatArray:
        """Return a basis of the wrenches that do no work along S, (6, 6 - nv)."""
        count = 6 - self.num_velocities
        arguments = {"q": (q, self.num_positions)}
        (W,) = self._written("constraint_wrenches", arguments, 6 * count)
        columns: FloatArray = W.reshape(count, 6).T
        return columns

    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray:
        """Return the configuration that a step leads to."""
        if self.positions_add:
            return q + dx
        nq, nv = self.num_positions, self.num_velocities
        (moved,) = self._written("retract", {"q": (q, nq), "dx": (dx, nv)}, nq)
        return moved  # type: ignore[no-any-return]

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Return the step between two configurations."""
        if self.positions_add:
            return q1 - q0
        nq, nv = self.num_positions, self.num_velocities
        (step,) = self._written("difference", {"q0": (q0, nq), "q1": (q1, nq)}, nv)
        return step  # type: ignore[no-any-return]

    def dexp_inv(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rate of a step."""
        if self.positions_add:
            return v
        nv = self.num_velocities
        (rate,) = self._written("dexp_inv", {"x": (x, nv), "v": (v, nv)}, nv)
        return rate  # type: ignore[no-any-return]

    def position_rates(self, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the rate of q as numbers; v unless overridden."""
        return v

    def time_to_lock(self, q: FloatArray, v: FloatArray) -> float:
        """Return how soon q may be where its rate is infinite; never unless overridden."""
        return math.inf

    def configuration_from_pose(self, T: FloatArray) -> FloatArray:
        """Return the configuration whose pose is nearest to T; searched for without such a form."""
        if self.compiled[0].configuration_from_pose is None:
            return nearest(self, T)
        numbers = np.concatenate([np.ravel(T[:3, :3]), T[:3, 3]])
        (q,) = self._written("configuration_from_pose", {"T": (numbers, 12)}, self.num_positions)
        return q  # type: ignore[no-any-return]

    def neutral(self) -> FloatArray:
        """Return the configuration where T is the identity."""
        q = np.zeros(self.num_positions)
        q[list(self.quaternions)] = 1.0
        return q

    def singularities(self, q: FloatArray) -> FloatArray:
        """Return how far each row of q (k, nq) is from a singular configuration, shape (k,)."""
        return np.full(len(q), np.inf)


def chart_form(name: str | None) -> Any:
    """Return a function of `mbkit.kernels.joints.charts` by its name, None for none."""
    from mbkit.kernels.joints import charts

    return None if name is None else getattr(charts, name)


def wrenches_form(wrenches: FloatArray | str | None) -> Any:
    """Return the compiled form that gives wrenches, None for none.

    For a constant basis, which stands in the header of the parameters, or the name of a function of
    `mbkit.kernels.joints.crossed_axes`.
    """
    from mbkit.kernels.joints import crossed_axes
    from mbkit.kernels.joints import parameter_header as stored

    if isinstance(wrenches, str):
        return getattr(crossed_axes, wrenches)
    return None if wrenches is None else stored.stored_wrenches


def header(num_velocities: int, wrenches: FloatArray | str | None) -> FloatArray:
    """Return the first entries of parameters, (1 + 6 (6 - nv),).

    See `mbkit.kernels.joints.parameter_header`:
    nv, and a constant basis (6, 6 - nv) of the wrenches that the joint bears; zeros stand for none.
    """
    named = wrenches is None or isinstance(wrenches, str)
    stored = np.zeros((6, 6 - num_velocities)) if named else np.asarray(wrenches)
    return np.concatenate([[num_velocities], stored.T.ravel()])
