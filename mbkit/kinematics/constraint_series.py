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

__all__ = ["ConstraintSeries", "Motion"]

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

    def start(self, q: FloatArray, t: float) -> Motion:
        """Return the motion that begins at a configuration, of which no rate is known yet."""
        if not self._is_right(q, t):
            self._trace(q)  # comparisons come out otherwise here
            if not self._is_right(q, t):
                raise UsageError(
                    f"{self._what}: constraints of system '{self._system.name}' cannot be "
                    f"differentiated at this configuration; up to jerks there are others: "
                    f"dependent_velocity, dependent_acceleration, dependent_jerk; fit_rates, "
                    f"fit_accelerations, fit_jerks."
                )
        return Motion(self, self._system, q, t)

    def _is_right(self, q: FloatArray, t: float) -> bool:
        """Whether constraints and their rates are what the kernels say for some velocity."""
        system = self._system
        v, zero = np.linspace(0.5, 1.0, system.nv), np.zeros(system.nv)
        motion = Motion(self, system, q, t)
        terms = _NEAR * motion.scale(v)
        velocity = motion.constraints(v) - system.constraint_velocity(q, v, t)
        motion.go_on(v)
        rate = motion.constraints(zero) - system.constraint_acceleration(q, v, zero, t)
        length = system.arrays.closure.length
        return bool(
            np.abs(velocity).max(initial=0.0) <= terms * length
            and np.abs(rate).max(initial=0.0) <= terms * motion.scale(v) * length
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
    """A motion whose rates are found one order after another."""

    def __init__(self, series: ConstraintSeries, system: System, q: FloatArray, t: float) -> None:
        self._series, self._t = series, t
        self._A, self._length = system.constraint_jacobian(q, t), system.arrays.closure.length
        self._q = np.asarray(q, dtype=np.float64)[None]
        self._v = np.zeros((0, system.nv))
        self._fastest = 0.0

    @property
    def order(self) -> int:
        """How many rates are known."""
        return len(self._v)

    @property
    def terms(self) -> float:
        """Size of the terms that cancel in the constraints of the next order."""
        with np.errstate(over="ignore"):  # as large as anything
            return float(self._length * np.float_power(self._fastest, self.order + 1))

    def scale(self, v: FloatArray) -> float:
        """Return how fast, [1/s], constraints change by a rate of the next order."""
        size = float(largest_terms(self._A, v)) / self._length
        return float(size ** (1.0 / (self.order + 1)))

    def constraints(self, v: FloatArray) -> FloatArray:
        """Return the derivative of A v + g_t of the next order, if that of v is the one given."""
        found = self._series.rows(self._q, self._with(v), self._t)[:, self.order]
        return np.asarray(found * _factorial(self.order))

    def go_on(self, v: FloatArray) -> None:
        """Take a derivative of v as the one of the next order."""
        self._fastest = max(self._fastest, self.scale(v))
        self._v = self._with(v)
        slope = self._series.slopes(self._q, self._v, self._t)[:, self.order - 1]
        self._q = np.concatenate([self._q, slope[None] / self.order])

    def _with(self, v: FloatArray) -> FloatArray:
        return np.concatenate([self._v, v[None] / _factorial(self.order)])


def _factorial(n: int) -> float:
    return float(np.prod(np.arange(1, n + 1), dtype=np.float64))
