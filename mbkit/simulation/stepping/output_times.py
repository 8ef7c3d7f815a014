"""Output times that are not those of the steps."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.integrator import Problem

__all__ = ["OutputTimes"]

#: Units in the last place of times within which two of them are the same.
SAME = 4.0


@attrs.frozen(eq=False)
class OutputTimes:
    """Times at which rows are written, and the steps in which they lie."""

    times: Any  # (m,): increasing. [s]
    # (m,): the step after whose beginning, and not after whose end, each lies; -1 for the start
    steps: Any

    @classmethod
    def checked(cls, times: Any, span: tuple[float, float], h: float, count: int) -> OutputTimes:
        """Return the output times of a run of `count` steps; UsageError where they are none."""
        try:
            array = np.array(times, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            array = np.zeros((0, 0))
        if array.ndim != 1 or array.size == 0:
            raise UsageError(f"save_at must be a list of times, got {times!r}.")
        t0, end = span[0], max(span[1], span[0] + count * h)
        same = _rounding(t0, end)
        outside = ~((array >= t0 - same) & (array <= end + same))
        if outside.any():
            raise UsageError(
                f"save_at: t = {array[outside][0]:.9g} s is not between the start and the end of "
                f"t_span, ({t0:.9g}, {end:.9g})."
            )
        late = np.flatnonzero(np.diff(array) <= 0.0)
        if late.size:
            raise UsageError(
                f"save_at must increase; {array[late[0] + 1]} s follows {array[late[0]]} s."
            )
        steps = np.ceil((array - t0 - same) / h).astype(np.int64) - 1
        array.setflags(write=False)
        return cls(array, np.clip(steps, -1, count - 1))

    @property
    def at_start(self) -> Any:
        """The times of the initial state: none, or one, or some that rounding does not part."""
        return self.times[: int(np.searchsorted(self.steps, 0))]

    @property
    def most(self) -> int:
        """How many there are in one step, at most."""
        return int(np.unique(self.steps, return_counts=True)[1].max())

    def within(self, step: int) -> Any:
        """Return the times of one step."""
        first, last = np.searchsorted(self.steps, [step, step + 1])
        return self.times[first:last]

    def steps_without(self, step: int, count: int) -> int:
        """Return how many steps from `step` on, up to `count`, have no output in them."""
        following = int(np.searchsorted(self.steps, step))
        if following == self.steps.size:
            return count
        return min(count, int(self.steps[following]) - step)

    def fitting(self, step: int, rows: int) -> int:
        """Return how many steps from `step` on have no more than `rows` outputs in them."""
        following = int(np.searchsorted(self.steps, step)) + rows
        return 2**62 if following >= self.steps.size else int(self.steps[following]) - step

    def left(self, step: int) -> int:
        """Return how many times there are from `step` on."""
        return int(self.steps.size) - int(np.searchsorted(self.steps, step))

    def at_ends(self, problem: Problem) -> bool:
        """Return whether all times are ends of steps, or the start."""
        later = self.steps >= 0
        ends = problem.t0 + (self.steps[later] + 1) * problem.h
        same = [_rounding(problem.t0, end) for end in ends.tolist()]
        return bool((self.times[later] >= ends - same).all())

    def parts(self, problem: Problem) -> tuple[Any, Any]:
        """Return after how many steps each time but those of the start comes, and how long after.

        That is nothing at ends of steps, else part of the next one. [s]
        """
        later = self.steps >= 0
        steps, times = self.steps[later], self.times[later]
        pairs = zip(times.tolist(), steps.tolist(), strict=True)
        ends = np.array([self.is_end(t, problem, step) for t, step in pairs], dtype=bool)
        parts = np.maximum(times - (problem.t0 + steps * problem.h), 0.0)
        return steps + ends, np.where(ends, 0.0, parts)

    @staticmethod
    def is_end(time: float, problem: Problem, step: int) -> bool:
        """Return whether a time is that at which a step ends, or after it by rounding."""
        end = problem.t0 + (step + 1) * problem.h
        return time >= end - _rounding(problem.t0, end)


def _rounding(t0: float, end: float) -> float:
    return SAME * max(math.ulp(t0), math.ulp(end))
