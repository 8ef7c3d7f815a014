"""Constraints along a motion of a closed mechanism: as series in time, and by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.autodiff.rules import differentiate
from mbkit.autodiff.taylor import evaluate
from mbkit.errors import UsageError
from mbkit.joints.defaults.differences import central_differences
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_scales
from mbkit.systems.constraint_checks import largest_terms
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.prescribed_jerks import prescribed_jerks
from mbkit.tracing.branches import substituted
from mbkit.tracing.trace import Trace

if TYPE_CHECKING:
    from mbkit.systems import System

#: How far the series may be from the kernels' results, by the largest term of the constraints.
_NEAR = 1e-9


class ConstraintSeries:
    """The velocity constraints A(q) v + g_t(q, t) of a system along a motion.

    Kernels of constraints and of joints run once on traced numbers; the tape is
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
        """Whether constraints and their rates agree with the kernels for some velocity."""
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


#: Steps in parts of a time, and their weights.
_STEPS, _WEIGHTS = central_differences(6, 1.0)

#: How far such a step moves the fastest joint, in radians or lengths of the system: errors by
#: truncation and by rounding are both about 1e-13.
_STEP = 1e-2


def constraint_jerk(
    system: System, q: Any, v: Any, vdot: Any, vddot: Any, t: Any, *, on_error: str = "raise"
) -> FloatArray:
    """Return the rate (..., rows) of `System.constraint_acceleration` along a motion.

    All arguments have the same leading axes. Exact where constraints are compiled for dual numbers,
    else by differences of sixth order.
    """
    along = system.rates(q, v, on_error=on_error)
    exact = _exact_rate(system, q, (along, v, vdot), t)
    if exact is not None:
        A = system.constraint_jacobian(q, t, on_error=on_error)
        return np.asarray(exact + (A @ vddot[..., None])[..., 0])

    def constraint(s: FloatArray) -> FloatArray:
        step = s[..., None]
        at = system.retract(q, step * along, on_error=on_error)
        motion = at, v + step * vdot, vdot + step * vddot, t + s
        return system.constraint_acceleration(*motion, on_error=on_error)

    return _differentiated(constraint, _time_step(system, v, vdot))


def _exact_rate(
    system: System, q: Any, motion: tuple[FloatArray, Any, Any], t: Any
) -> FloatArray | None:
    """Return the rate of A vdot + A-dot v + ... at fixed vdot, (..., rows), if it is exact.

    `motion` is the rate of steps of q, v, and vdot.
    """
    exact = system._exact_constraints
    if exact is None:
        return None
    along, v, vdot = motion
    leading, m = np.shape(v)[:-1], system.num_velocity_constraints
    given = np.concatenate([vdot, np.zeros((*leading, m))], axis=-1)
    flat_q, flat_v, flat = (np.reshape(x, (-1, x.shape[-1])) for x in (q, v, given))
    states, entries = TimedStates(flat_q, flat_v, np.reshape(t, -1)), system.ndx + system.nv
    by_state = exact.by_entries(range(entries), states, flat).acceleration
    by_time = exact.by_time(states, flat).acceleration[..., 0]
    moves = np.concatenate([along, vdot], axis=-1).reshape((-1, entries, 1))
    found = (by_state @ moves)[..., 0] + by_time
    return found.reshape((*leading, m)) if np.isfinite(found).all() else None


def prescribed_jerk(system: System, t: Any) -> FloatArray:
    """Return `prescribed_jerks` at times (...), (..., nv)."""
    times = np.asarray(t, dtype=np.float64)
    return prescribed_jerks(system, times.reshape(-1)).reshape((*times.shape, system.nv))


def _time_step(system: System, v: Any, vdot: Any) -> FloatArray:
    """Return the time (...) in which the fastest joint moves by `_STEP`; 1 s at rest."""
    scales = velocity_scales(system)
    rate = np.abs(v / scales).max(axis=-1, initial=0.0)
    gain = np.abs(vdot / scales).max(axis=-1, initial=0.0)
    fastest = np.maximum(rate, np.sqrt(gain))
    return np.asarray(np.where(fastest > 0.0, _STEP / np.where(fastest > 0.0, fastest, 1.0), 1.0))


def _differentiated(function: Callable[[FloatArray], FloatArray], h: FloatArray) -> FloatArray:
    """Return the derivative (..., n) of a function of time at 0, by steps h (...)."""
    values = function(np.multiply.outer(_STEPS, h))
    return np.asarray(np.tensordot(_WEIGHTS, values, 1) / h[..., None])
