"""Integrators whose steps are taken by a compiled time loop; to be imported in `prepare`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from mbkit.integrators.checks import check_rows
from mbkit.integrators.integrator import EVALUATIONS, Advance, Problem, Rows
from mbkit.integrators.step_memory import Record
from mbkit.interrupts import HeldInterrupts
from mbkit.kernels.time_loops.records import Grid, KeptSamples, Saved
from mbkit.kernels.time_loops.saving import NUM_COUNTS


@functools.cache
def entry_point_of(kernel: Any) -> Callable[..., Any]:
    """Return a function that calls a compiled kernel without checking the types of arguments.

    With records of 30 arrays numba's look takes 5 us, four times as long as the rest of the call.
    For arguments that are made, or were looked at, here.
    """
    if not hasattr(kernel, "overloads"):
        return kernel  # type: ignore[no-any-return]  # nothing is compiled
    with HeldInterrupts():  # numba's table is written in Python, and would raise KeyError instead
        (compiled,) = kernel.overloads.values()
    return compiled.entry_point  # type: ignore[no-any-return]


@attrs.frozen(eq=False)
class StepInLanes:
    """How several runs take the steps of a method side by side; `time_loops.fixed_steps_in_lanes`.

    Attributes
    ----------
    function : callable
        One step, of the form `STEP`, or an attempt at one, `ATTEMPT`, which is compiled for lanes
        when such runs are there.
    method : Record
        The record of the method.
    num_numbers : int
        How many numbers of a run it needs, those of the state and of the stages included.
    evaluations : int
        Of the equations of motion in a step; 0 where attempts count them.
    adaptive : bool
        Whether each run chooses its steps: see `kernels.time_loops.adaptive_in_lanes`.
    remembered : ndarray, optional
        Numbers that steps write beside that memory, zero at the start.
    progress : tuple of slice
        Rows of the numbers of a run that chooses its steps: its progress, and its counts.
    """

    function: Callable[..., Any]
    method: Record
    num_numbers: int
    evaluations: int
    remembered: Any = None
    adaptive: bool = False
    progress: tuple[slice, ...] = ()

    form = ""  # `STEP`, or `ATTEMPT`
    linearises = False  # whether steps need derivatives of the equations of motion

    @property
    def forgets(self) -> bool:
        """Whether a step of another size may be taken between two."""
        return self.remembered is None and not self.adaptive

    def called(self, *, forces: bool) -> dict[str, tuple[Callable[..., Any], str]]:
        """Return further functions compiled for lanes, by name, and forms; `forces`: if any act."""
        return {}

    def in_memory(self, _workspace: Any, _numbers: Any, _functions: Any) -> Record:
        """Return the record of the method for steps, with its numbers in an array."""
        return self.method

    def multipliers_in(self, numbers: Any) -> Any:
        """Return the rows in which steps leave multipliers: these give none."""
        return numbers[:0]

    def progress_in(self, numbers: Any) -> tuple[Any, Any]:
        """Return the rows of the progress of the runs, and those of their counts."""
        come, counted = self.progress
        return numbers[come], numbers[counted]

    def begin(self) -> None:
        """Forget earlier steps."""
        if self.remembered is not None:
            self.remembered[:] = 0.0

    def counts(self, _numbers: Any, _lane: int, taken: int, counted: Any) -> dict[str, int]:
        """Return the counts of a run, with evaluations and rejections `counted` apart."""
        evaluations, rejected = map(int, counted)
        return {"evaluations": evaluations + taken * self.evaluations, "rejected_steps": rejected}


def advance_by(
    problem: Problem,
    kernel: Any,
    *records: Any,
    evaluations: int = 0,
    in_lanes: Callable[[], Any] | None = None,
) -> Advance:
    """Return the function that takes steps of the problem by a compiled time loop.

    ``kernel(space, *records, grid, saved) -> status`` takes the steps of the grid, and counts them
    (`mbkit.kernels.time_loops.records`); the records are the same in each call.
    `evaluations` of the equations of motion are made in each step; 0 where the loop counts them.
    `in_lanes` returns how several runs take these steps side by side, a `StepInLanes`, or None.
    The function also takes `KeptSamples`: the states that are kept beside the rows.
    """
    given = [each.address if isinstance(each, Record) else each for each in records]
    loop = functools.partial(entry_point_of(kernel), problem.space, *given)
    count = np.zeros(NUM_COUNTS, dtype=np.int64)
    none = np.zeros((0, 0))
    nowhere = KeptSamples(np.zeros(0, dtype=np.int64), none, none, none)

    def run(
        first: int, steps: int, rows: Rows, sampled: KeptSamples = nowhere
    ) -> tuple[int, int, int]:
        check_rows(problem, first, steps, rows)
        grid = Grid(problem.t0, problem.h, first, steps, problem.save_every)
        status = loop(grid, Saved(count, *rows, sampled))
        taken, written, _ = count.tolist()
        problem.counts[EVALUATIONS] += taken * evaluations
        return int(status), taken, written

    run.in_lanes = in_lanes  # type: ignore[attr-defined]
    run.records = records  # type: ignore[attr-defined]  # the loop has some by address alone
    return run
