"""Scipy's one-step methods, over one step of an integrator or over parts of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import attrs
import numpy as np

from mbkit.errors import ConvergenceError, UsageError
from mbkit.integrators.classical.python_steps import StepFailed

__all__ = [
    "LEAST_RTOL",
    "METHODS",
    "Chart",
    "AdaptiveSteps",
    "check_method",
    "check_tolerance",
    "one_step",
]

#: The classes of `scipy.integrate` that need one state, and the order with which they go on.
METHODS: Mapping[str, int] = {"RK23": 3, "RK45": 5, "DOP853": 8, "Radau": 5}

#: Those that need states of earlier steps.
MULTISTEP = ("BDF", "LSODA")

#: The least relative tolerance that scipy takes.
LEAST_RTOL = 100 * float(np.finfo(np.float64).eps)

#: Steps between two grid points, and how small they get in units of the last place of the time.
MOST_STEPS = 100_000
LEAST_STEP = 16.0 * float(np.finfo(np.float64).eps)

#: Relative to the state, the error left by Newton's method of Radau in a step of a given size: the
#: first that it reaches in its six iterations. It takes the first correction by the second for its
#: rate, which later ones do not have: the error after two is more than it expects, and rounding
#: after the next one.
NEWTON = (1e-18, 1e-16, 1e-14, 1e-11, 1e-8)

#: So large is the unit of errors where steps are not to be rejected.
NO_CONTROL = 1e30

_ROOT_EPS = math.sqrt(float(np.finfo(np.float64).eps))

Rates = Callable[[float, Any], Any]


class Chart(Protocol):
    """Coordinates that reach only so far from the state they are taken about."""

    def is_left(self, y: Any) -> bool:
        """Return whether a state is too far from where the coordinates are taken."""
        ...

    def is_centre(self, y: Any) -> bool:
        """Return whether they are taken about it."""
        ...

    def moved(self, y: Any) -> Any:
        """Return a state in coordinates about itself, which are those of the rates from now on."""
        ...


def check_method(integrator: Any, why: str) -> None:
    """Raise UsageError unless `method` is the name of one of scipy's one-step methods.

    `why` explains what would happen to the history of multistep methods.
    """
    value, name = integrator.method, type(integrator).__name__
    if isinstance(value, str) and value in METHODS:
        return
    known = " or ".join(map(repr, METHODS))
    if isinstance(value, str) and value in MULTISTEP:
        raise UsageError(
            f"{name}: method {value!r} goes on from the states of several steps, {why}. Use "
            f"{known}; or mbkit.BLieDF, whose backward differences are those of the group."
        )
    raise UsageError(f"{name}: method must be {known}, got {value!r}.")


def check_tolerance(integrator: Any, field: str) -> None:
    """Raise UsageError unless a tolerance is left out, or a number that scipy takes."""
    value = getattr(integrator, field)
    least = LEAST_RTOL if field == "rtol" else 0.0
    if value is None or (isinstance(value, float) and least <= value < math.inf and value > 0.0):
        return
    kind = f"a number from {LEAST_RTOL:.2g} on" if field == "rtol" else "a positive number"
    raise UsageError(
        f"{type(integrator).__name__}: {field} must be {kind}, got {value!r}; leave out rtol and "
        f"atol for steps of one size."
    )


# --------------------------------------------------------------------- steps of a given size


def one_step(method: str, rates: Rates, y: Any, h: float) -> Any:
    """Return the state after exactly one step of size h, whatever its error.

    `method` is one of `METHODS`; ``rates(s, y)``, s from the beginning of the step on.
    ConvergenceError if Newton's method does not solve the equations of a step of Radau's method.

    Examples
    --------
    Of a polynomial of its order the quadrature is exact:

    >>> round(float(one_step("RK45", lambda s, y: np.array([5 * s**4]), np.zeros(1), 2.0)[0]), 12)
    32.0
    """
    if method == "Radau":
        return _implicit_step(rates, y, h)
    solver = _kind(method)(rates, 0.0, y, h, max_step=h, first_step=h, rtol=1.0, atol=np.inf)
    solver.step()
    if solver.t != h:  # an error that is not a number rejects a step
        return np.full(y.size, np.nan)
    return solver.y


def _implicit_step(rates: Rates, y: Any, h: float) -> Any:
    """Return the end of a step of Radau's method, in which Newton's method goes on to rounding.

    In units of errors so large no step is rejected; Newton's tolerance is in the same units.
    """
    start = rates(0.0, y)
    size = np.maximum(1.0, np.maximum(np.abs(y), h * np.abs(start)))
    matrix = derivative(rates, 0.0, y, start)
    for tolerance in NEWTON:
        solver = _kind("Radau")(
            rates, 0.0, y, h, max_step=h, first_step=h, rtol=LEAST_RTOL, atol=NO_CONTROL * size,
            jac=matrix,
        )  # fmt: skip
        solver.newton_tol = tolerance / NO_CONTROL
        solver.step()
        if solver.t == h:
            return solver.y
    raise ConvergenceError(
        f"Radau's method does not solve the equations of a step of h = {h:.9g} s: its Newton "
        f"iteration, with the derivative at the beginning of the step, leaves more than "
        f"{NEWTON[-1]:g} after six times. Use a smaller h, or rtol and atol, for "
        "adaptive steps."
    )


def derivative(rates: Rates, s: float, y: Any, here: Any) -> Any:
    """Return the derivative of the rates by y, (n, n), by differences from those that are here."""
    columns = []
    for j, value in enumerate(y):
        moved = y.copy()
        moved[j] += _ROOT_EPS * max(1.0, abs(value))
        columns.append((rates(s, moved) - here) / (moved[j] - value))
    return np.array(columns).T


def _kind(method: str) -> Any:
    import scipy.integrate

    return getattr(scipy.integrate, method)


# -------------------------------------------------------------------------- adaptive step size


@attrs.frozen
class AdaptiveSteps:
    """Takes as many steps from one grid point to the next as the tolerances require."""

    method: str  # one of `METHODS`
    rtol: float  # relative tolerance
    atol: Any  # (n,): absolute ones; infinite where errors do not count
    chart: Chart | None = None  # coordinates that have to be taken anew on the way

    def go(self, rates: Rates, y: Any, t: float, h: float, widest: float) -> tuple[Any, float]:
        """Return the state after the time h, and the largest step on the way.

        ``rates(s, y)``, s from t on, raises `StepFailed` where it cannot be evaluated, and so does
        this where steps become too small or too many. `widest` is the largest step before; 0 if
        there was none.
        """
        from mbkit.kernels.status import INACCURATE, STEP_TOO_SMALL, TOO_MANY, failure

        tried = _Tried(rates)
        least = LEAST_STEP * max(abs(t), abs(t + h))
        first = min(h, widest if widest > 0.0 else self._first(rates(0.0, y), y))
        solver, largest = self._solver(tried, 0.0, y, h, first_step=first, max_step=h), 0.0
        for _ in range(MOST_STEPS):
            if solver.status != "running":
                return solver.y, largest
            s, before = solver.t, solver.y
            with np.errstate(all="ignore"):  # of values not finite, which are tried again
                solver.step()
            size = solver.t - s
            if solver.status == "failed" or (size < least and solver.status == "running"):
                raise StepFailed(tried.status or failure(STEP_TOO_SMALL, INACCURATE))
            if self.chart is None or not self.chart.is_left(solver.y):
                largest = max(largest, size)
                continue
            if self.chart.is_centre(before):
                size *= 0.5
            else:
                before = self.chart.moved(before)
            first = min(size, h - s)
            solver = self._solver(tried, s, before, h, first_step=first, max_step=size)
        raise StepFailed(failure(STEP_TOO_SMALL, TOO_MANY))

    def _first(self, rate: Any, y: Any) -> float:
        """Return a step in which the state changes by a hundredth of its size.

        Source: Hairer, Norsett, Wanner 1993, section II.4, starting step size, steps a and b.
        """
        scale = self.atol + self.rtol * np.abs(y)
        here, there = (float(np.sqrt(np.mean((x / scale) ** 2))) for x in (y, rate))
        return 1e-6 if here < 1e-5 or there < 1e-5 else 0.01 * here / there

    def _solver(self, rates: _Tried, s: float, y: Any, h: float, **more: Any) -> Any:
        if self.method == "Radau":
            # of no use where it is not a number; the step is then tried smaller
            more["jac"] = lambda s, y: np.nan_to_num(derivative(rates, s, y, rates(s, y)))
        return _kind(self.method)(rates, s, y, h, rtol=self.rtol, atol=self.atol, **more)


class _Tried:
    """Rates that are not numbers where they fail for their numbers: the step is tried smaller."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self.status = 0

    def __call__(self, s: float, y: Any) -> Any:
        try:
            return self._rates(s, y)
        except StepFailed as failed:
            if s == 0.0 or not _is_of_numbers(failed.args[0]):
                raise
            self.status = failed.args[0]
            return np.full(y.size, np.nan)


def _is_of_numbers(state: int) -> bool:
    from mbkit.kernels.status import (
        CONSTRAINT_NOT_FINITE,
        FORCE_NOT_FINITE,
        NOT_CLOSED,
        NOT_FINITE,
        unpack,
    )

    return unpack(state)[0] in (CONSTRAINT_NOT_FINITE, FORCE_NOT_FINITE, NOT_CLOSED, NOT_FINITE)
