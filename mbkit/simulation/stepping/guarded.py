"""Guards around integrators: checks of their preparation, and of each call."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.errors import IntegratorError
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import FAILED, Advance, Problem, Rows

if TYPE_CHECKING:
    from mbkit.kernels.time_loops.records import KeptSamples

__all__ = ["Guarded", "guarded"]

#: The fields of a state beside an integrator's memory.
STATE = ("q", "v", "work")

#: How far the time of a row may be from the end of its step, in steps: times that were summed up
#: have rounding, and those of another step are one off.
ROW_TIME = 0.5


def guarded(integrator: Integrator, problem: Problem) -> Guarded:
    """Prepare an integrator, and return an object that takes its steps and checks the results.

    IntegratorError if `prepare` returns no function, or leaves the problem so that a run cannot go
    on from. It costs about a microsecond a call, of which there is one for many steps.
    """
    advance = integrator.prepare(problem)
    name = type(integrator).__name__
    if not callable(advance):
        raise IntegratorError(
            f"{name}.prepare must return the function advance(first, steps, rows), which takes "
            f"steps, got {advance!r}; let it end with 'return advance'."
        )
    _check_memory(name, problem.memory)
    if not (problem.interpolate is None or callable(problem.interpolate)):
        raise IntegratorError(
            f"{name}.prepare: problem.interpolate must be a function interpolate(t, q, v, work), "
            f"or None, got {problem.interpolate!r}; leave it as it is without dense output."
        )
    return Guarded(name, problem, advance)


def _check_memory(name: str, memory: Any) -> None:
    """Raise IntegratorError unless the memory can be copied, saved and put back."""
    if not isinstance(memory, dict):
        raise IntegratorError(
            f"{name}.prepare: problem.memory must stay a dict of arrays by name, got {memory!r}; "
            f"put arrays into it: problem.memory['name'] = array."
        )
    for key, value in memory.items():
        if not isinstance(key, str) or key in STATE:
            raise IntegratorError(
                f"{name}.prepare: names in problem.memory must be texts other than 'q', 'v' and "
                f"'work', which the state has already, got {key!r}; use another name."
            )
        if not (isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim > 0):
            found = repr(value)
            if isinstance(value, np.ndarray):
                found = f"an array of {value.dtype} of shape {value.shape}"
            raise IntegratorError(
                f"{name}.prepare: problem.memory[{key!r}] must be an array of float64 of one "
                f"dimension or more, which steps write to in place, got {found}; put "
                f"np.array([...], dtype=float) into it."
            )


@attrs.frozen
class Guarded:
    """Takes steps, and raises IntegratorError unless the returned counts are right."""

    name: str
    problem: Problem
    advance: Advance

    @property
    def is_compiled(self) -> bool:
        """Whether a compiled loop takes the steps; see `mbkit.integrators.compiled`."""
        return hasattr(self.advance, "records")

    @property
    def in_lanes(self) -> Any:
        """How several runs take the steps side by side, a `StepInLanes`; None if they do not."""
        made = getattr(self.advance, "in_lanes", None)
        return None if made is None else made()

    def __call__(
        self, first: int, steps: int, rows: Rows, *sampled: KeptSamples
    ) -> tuple[int, int, int]:
        """Take steps as `Advance` does; a compiled loop can keep samples beside the rows."""
        returned = self.advance(first, steps, rows, *sampled)
        try:
            status, taken, saved = map(operator.index, returned)
        except (TypeError, ValueError):
            raise self._fault(
                first,
                "must return three whole numbers, status, steps taken and rows written, got "
                f"{returned!r}; return for example 0, steps, saved",
            ) from self.problem.error
        if status != 0:
            self._check_status(first, status)
        least = 1 if status == 0 else 0
        if not least <= taken <= steps:
            raise self._fault(
                first,
                f"must take {least} to {steps} steps where it is asked for {steps} and its status "
                f"is {status}, got {taken} steps; return the number of complete steps, and a "
                "status that is not 0 where one fails",
            )
        every = self.problem.save_every
        due = (first + taken) // every - first // every
        if saved != due:
            raise self._fault(
                first,
                f"must write a row after each step k with (k + 1) % save_every == 0, {due} of them "
                f"in the {taken} steps from step {first} on with save_every={every}; got {saved} "
                "rows written",
            )
        if saved:
            self._check_time(first, taken, float(rows.t[saved - 1]))
        return status, taken, saved

    def _check_status(self, first: int, status: int) -> None:
        """Look whether there is an explanation for a status."""
        from mbkit.kernels.status import NOT_CONVERGED, SINGULAR_STEP, unpack

        if status == FAILED and self.problem.error is None:
            raise self._fault(
                first,
                f"returned status {FAILED} for an exception, and there is none; return "
                "problem.failed(error), which keeps it",
            )
        if status < 0 and status != FAILED:
            raise self._fault(
                first,
                "must return a status that it was given by what it called, or "
                f"problem.failed(error), got {status}",
            )
        of_newton = status > 0 and unpack(status)[0] in (NOT_CONVERGED, SINGULAR_STEP)
        if of_newton and self.problem.newton is None:
            raise self._fault(
                first,
                f"returned status {status} of Newton's method, and problem.newton is None; let "
                "prepare set it, or return problem.failed(error)",
            )

    def _check_time(self, first: int, taken: int, t: float) -> None:
        problem = self.problem
        step = (first + taken) // problem.save_every * problem.save_every
        end = problem.t0 + step * problem.h
        if not abs(t - end) <= ROW_TIME * problem.h:
            raise self._fault(
                first,
                "must write the end of each saved step to rows.t, which is "
                f"t = {end:.9g} s for the last one, got {t:.9g}; begin with row 0 in each call",
            )

    def _fault(self, first: int, what: str) -> IntegratorError:
        t = self.problem.t0 + first * self.problem.h
        error = IntegratorError(
            f"{self.name}: advance {what}. Called for the steps from t = {t:.9g} s on."
        )
        error.__cause__ = self.problem.error  # of a step that failed, and was counted wrongly
        return error
