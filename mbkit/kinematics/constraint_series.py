"""Constraints along a motion of a closed mechanism, as series in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.differentiation.rules import differentiate
from mbkit.differentiation.taylor import evaluate
from mbkit.errors import UsageError
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.constraint_checks import largest_terms
from mbkit.tracing.branches import substituted
from mbkit.tracing.trace import Trace

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["ConstraintSeries"]

#: How far the series may be from what the kernels say, by the largest term of the constraints.
_NEAR = 1e-9


class ConstraintSeries:
    """The velocity constraints A(q) v + g_t(q, t) of a system along a motion.

    Kernels of constraints and of joints run once on traced numbers; what is on the tape is
    evaluated with series, exact but for rounding. Tracing takes 20 to 300 ms.

    Parameters
    ----------
    system : System
        A system with constraints.
    what : str
        For messages.

    Raises
    ------
    UsageError
        If a joint moves as it is prescribed, or a joint or a constraint cannot be traced.
    """

    def __init__(self, system: System, what: str) -> None:
        self._system, self._what = system, what
        self._trace(system.reference_configuration())

    def _trace(self, q: FloatArray) -> None:
        from mbkit.kernels.configuration import rates, retract
        from mbkit.kernels.constraints.evaluate import constraint_state

        system = self._system
        trace = Trace(self._what, system, (), smooth=True, q=q)
        rest = np.zeros(system.nv + 1, dtype=object)
        rest[-1] = trace.t
        start, end = system.num_position_constraints, system.num_velocity_constraints
        rows = trace.call(constraint_state, start + 2 * end, trace.v, rest)[start : start + end]
        step = trace.tape.inputs("step", [0.0] * system.ndx)
        along = trace.call(rates, system.ndx, trace.v)
        moved = trace.call(retract, system.nq, step)
        slopes = differentiate([*moved], dict(zip(step, along, strict=True)))
        self._tape, self._rows = trace.tape, [*rows]
        self._slopes = substituted(slopes, dict.fromkeys(step, 0.0))

    def start(self, q: FloatArray, v: FloatArray, t: float) -> Motion:
        """Return the motion that begins with a configuration and a velocity."""
        if not self._is_right(q, v, t):
            self._trace(q)
            if not self._is_right(q, v, t):
                raise UsageError(
                    f"{self._what}: constraints of system '{self._system.name}' cannot be "
                    f"differentiated at this configuration; use dependent_velocity, "
                    f"dependent_acceleration and dependent_jerk."
                )
        return Motion(self, q, t)

    def _is_right(self, q: FloatArray, v: FloatArray, t: float) -> bool:
        """Whether constraints and their rates are what the kernels say at a state."""
        system = self._system
        motion = Motion(self, q, t)
        velocity = motion.constraints(v)
        motion.go_on(v)
        rate = motion.constraints(np.zeros(system.nv))
        terms = largest_terms(system.constraint_jacobian(q, t), v)
        length = system.arrays.closure.length
        expected = system.constraint_velocity(q, v, t)
        second = system.constraint_acceleration(q, v, np.zeros(system.nv), t)
        small = _NEAR * (np.abs(expected).max(initial=0.0) + terms)
        less = _NEAR * (np.abs(second).max(initial=0.0) + terms**2 / length)
        return bool(
            np.abs(velocity - expected).max(initial=0.0) <= small
            and np.abs(rate - second).max(initial=0.0) <= less
        )

    def evaluate(self, outputs: list[Any], q: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """Return outputs as series (outputs, count) for those of q and v, (count, n) each."""
        count = len(v)
        time = np.zeros(count)
        time[:2] = (t, 1.0)[:count]
        inputs = {f"{name}[{k}]": x for name, X in (("q", q), ("v", v)) for k, x in enumerate(X.T)}
        found: Any = evaluate(self._tape, outputs, inputs | {"t": time}, count)
        return np.asarray(found)

    def rows(self, q: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """Return A v + g_t as series."""
        return self.evaluate(self._rows, q, v, t)

    def slopes(self, q: FloatArray, v: FloatArray, t: float) -> FloatArray:
        """Return dq/dt as series."""
        return self.evaluate(self._slopes, q, v, t)


class Motion:
    """A motion whose velocities are found one order after another."""

    def __init__(self, series: ConstraintSeries, q: FloatArray, t: float) -> None:
        self._series, self._t = series, t
        self._q = np.asarray(q, dtype=np.float64)[None]
        self._v = np.zeros((0, series._system.nv))

    def constraints(self, v: FloatArray) -> FloatArray:
        """Return the derivative of A v + g_t of the next order, if that of v is the one given."""
        order, own = len(self._v), self._with(v)
        found = self._series.rows(self._q, own, self._t)[:, order]
        return np.asarray(found * _factorial(order))

    def go_on(self, v: FloatArray) -> None:
        """Take a derivative of v as the one of the next order."""
        order = len(self._v)
        self._v = self._with(v)
        slope = self._series.slopes(self._q, self._v, self._t)[:, order]
        self._q = np.concatenate([self._q, slope[None] / (order + 1)])

    def _with(self, v: FloatArray) -> FloatArray:
        return np.concatenate([self._v, v[None] / _factorial(len(self._v))])


def _factorial(n: int) -> float:
    return float(np.prod(np.arange(1, n + 1), dtype=np.float64))
