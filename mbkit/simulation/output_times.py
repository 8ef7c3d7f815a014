"""Output times that are not those of the steps."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.integrator import Problem

__all__ = ["OutputTimes"]

#: Share of a step within which a time is that of its end.
SAME = 1e-9


@attrs.frozen(eq=False)
class OutputTimes:
    """Times at which rows are written, and the steps in which they lie.

    Attributes
    ----------
    times : ndarray, shape (m,)
        Increasing. [s]
    steps : ndarray of int, shape (m,)
        The step after whose beginning, and not after whose end, each lies; -1 for the start.
    """

    times: Any
    steps: Any

    @classmethod
    def checked(cls, times: Any, t0: float, h: float, count: int) -> OutputTimes:
        """Return the output times of a run of `count` steps; UsageError where they are none."""
        try:
            array = np.array(times, dtype=np.float64)
        except (TypeError, ValueError):
            array = np.zeros((0, 0))
        if array.ndim != 1 or array.size == 0:
            raise UsageError(f"save_at must be a list of times, got {times!r}.")
        places = (array - t0) / h
        outside = ~((places >= -SAME) & (places <= count + SAME))
        if outside.any():
            raise UsageError(
                f"save_at: t = {array[outside][0]:.9g} s is not between the start and the end of "
                f"t_span, ({t0:g}, {t0 + count * h:g})."
            )
        late = np.flatnonzero(np.diff(array) <= 0.0)
        if late.size:
            raise UsageError(
                f"save_at must increase; {array[late[0] + 1]!r} follows {array[late[0]]!r}."
            )
        steps = np.minimum(np.ceil(places - SAME).astype(np.int64) - 1, count - 1)
        array.setflags(write=False)
        return cls(array, steps)

    @property
    def with_start(self) -> bool:
        """Whether the initial state is a row."""
        return bool(self.steps[0] < 0)

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

    @staticmethod
    def is_end(time: float, problem: Problem, step: int) -> bool:
        """Return whether a time is that at which a step ends."""
        return abs(time - (problem.t0 + (step + 1) * problem.h)) <= SAME * problem.h
