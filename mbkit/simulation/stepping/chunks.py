"""The loop around compiled steps: chunks, with a look at Ctrl-C and progress between them."""

from __future__ import annotations

import time
from typing import Any

from mbkit.integrators.integrator import FAILED, Advance, Problem, Rows
from mbkit.interrupts import Interrupts
from mbkit.simulation.progress import ProgressDisplay

__all__ = ["FAILED", "INTERRUPTED", "TERMINAL", "next_chunk", "run_chunks"]

#: The user has pressed Ctrl-C.
INTERRUPTED = -1

#: An event has ended the run.
TERMINAL = -2


#: Seconds of compiled steps between two looks at signals and progress.
CHUNK = 0.1


def next_chunk(chunk: int, size: int, spent: float) -> int:
    """Return how many steps take CHUNK seconds, as `size` have taken `spent`; 4 chunks at most."""
    return max(1, min(4 * chunk, int(size * CHUNK / max(spent, 1e-9))))


def _copies(problem: Problem) -> dict[str, Any]:
    return {name: value.copy() for name, value in problem.state.items()}


def run_chunks(
    problem: Problem,
    advance: Advance,
    steps: int,
    rows: Rows,
    written: int,
    display: ProgressDisplay,
) -> tuple[int, int, int]:
    """Take all steps in chunks of about CHUNK seconds; stop at Ctrl-C or a failure.

    `advance` is a `Course`, or made by `Integrator.prepare`; `written` rows are there already.
    Returns the steps taken, the rows written, and the status: 0, INTERRUPTED or that of `advance`.
    """
    # The progress is replaced as a whole: Ctrl-C may come between any two statements, when the
    # state has moved on and the counts have not, and must find matching values.
    reached = (0, written, _copies(problem))
    status, chunk = 0, 1
    interrupts = Interrupts()
    try:
        with interrupts:
            while reached[0] < steps:
                taken, written, _ = reached
                began = time.perf_counter()
                rest = Rows(*(part[written:] for part in rows))
                size = min(chunk, steps - taken)
                status, done, saved = advance(taken, size, rest)
                reached = (taken + done, written + saved, _copies(problem))
                if status != 0 or interrupts.noted:
                    break
                spent = time.perf_counter() - began
                chunk = next_chunk(chunk, size, spent)
                display.update(problem.t0 + reached[0] * problem.h)
    except KeyboardInterrupt:
        for name, value in reached[2].items():
            problem.state[name][:] = value
        return *reached[:2], INTERRUPTED
    return *reached[:2], status or (INTERRUPTED if interrupts.noted else 0)
