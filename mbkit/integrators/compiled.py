"""Integrators whose steps are taken by a compiled time loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.integrators.checks import with_room
from mbkit.integrators.integrator import Advance, Problem, Rows
from mbkit.interrupts import HeldInterrupts

__all__ = ["advance_by", "entry_of"]


def entry_of(kernel: Any) -> Callable[..., Any]:
    """Return what calls a compiled kernel without a look at the types of its arguments.

    With records of 30 arrays numba's look takes 5 us, four times as long as the rest of the call.
    For arguments that are made, or were looked at, here.
    """
    if not hasattr(kernel, "overloads"):
        return kernel  # type: ignore[no-any-return]  # nothing is compiled
    with HeldInterrupts():  # numba's table is written in Python, and would raise KeyError instead
        (compiled,) = kernel.overloads.values()
    return compiled.entry_point  # type: ignore[no-any-return]


def advance_by(problem: Problem, loop: Callable[[Any, Any, Any], Any]) -> Advance:
    """Return the function that takes steps of the problem by a compiled time loop.

    Parameters
    ----------
    problem : Problem
        What is integrated.
    loop : callable
        ``loop(grid, state, saved) -> status``, with the records of
        `mbkit.kernels.time_loops.records`: takes the steps of the grid, and counts them.
    """
    from mbkit.kernels.time_loops.records import Grid, Saved, State

    count = np.zeros(2, dtype=np.int64)

    def run(first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        rows = with_room(problem, first, steps, rows)
        grid = Grid(float(problem.t0), float(problem.h), first, steps, problem.save_every)
        state = State(problem.q, problem.v, problem.work)
        status = loop(grid, state, Saved(count, *rows))
        return int(status), int(count[0]), int(count[1])

    return run
