"""Several runs that take the steps of one method side by side, each in a lane of the registers.

The step itself is the one of a single run, compiled for lanes: a function of the form `STEP`, which
its module has besides its loop. What it works on is as in `memory_in_lanes`.
"""

from typing import NamedTuple

from mbkit.kernels.compile import (
    call_address,
    floats,
    floats_at,
    helper,
    int64,
    integers,
    kernel,
    pointer_at,
    stack,
    typed,
)
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.records import Grid
from mbkit.kernels.time_loops.step_times import instant, step_of

#: ``step(space, method, t, h, end, memory)`` with the address of a record of the method: it leaves
#: the end of the step in the place of the state, and returns a status of all runs together.
STEP = "sidddp"

#: Entries of the counts of `Kept`.
TAKEN = 0
ROWS = 1
SAMPLES = 2


class Together(NamedTuple):
    """Runs side by side, by address: their SPACE, their step, its method, their memory.

    And where a step leaves multipliers, of a method that gives them.
    """

    space: int64
    step: int64
    method: int64
    memory: int64
    multipliers: int64
    width: int64
    aside: int64  # as many numbers as the states are


class Kept(NamedTuple):
    """States that are kept: after how many steps, in ascending order, and where, by run and row.

    And how long after these steps: 0, or the size of a part of the next one. [s]
    """

    steps: integers
    parts: floats
    first: int64  # rows before these
    q: stack
    v: stack
    work: stack
    multipliers: stack  # of no columns where they are not kept


@helper
def write_state(together, lane, kept, run, row):
    """Write the state that a lane has as a row of a run."""
    width = together.width
    q = kept.q[run, row]
    v = kept.v[run, row]
    work = kept.work[run, row]
    nq = q.shape[0]
    nv = v.shape[0]
    memory = floats_at(together.memory, (nq + nv + NUM_POWERS) * width)
    for k in range(nq):
        q[k] = memory[k * width + lane]
    for k in range(nv):
        v[k] = memory[(nq + k) * width + lane]
    for k in range(NUM_POWERS):
        work[k] = memory[(nq + nv + k) * width + lane]
    multipliers = kept.multipliers[run, row]
    found = floats_at(together.multipliers, multipliers.shape[0] * width)
    for r in range(multipliers.shape[0]):
        multipliers[r] = found[r * width + lane]


@helper
def keep_states(together, reached, kept, counts, which):
    """Write the state of each run as its next row, if one is to be kept after so many steps."""
    while next_part(reached, kept, counts, which) == 0.0:
        keep_state(together, kept, counts, which)


@helper
def keep_state(together, kept, counts, which):
    """Write the state of each run as its next row."""
    for run in range(kept.q.shape[0]):
        write_state(together, run, kept, run, kept.first + counts[which])
    counts[which] += 1


@helper
def next_part(reached, kept, counts, which):
    """How long after so many steps the next state is to be kept; -1 where more come before."""
    if counts[which] == kept.steps.shape[0] or kept.steps[counts[which]] != reached:
        return -1.0
    return kept.parts[counts[which]]


@helper
def keep_within(together, t, reached, kept, counts):
    """Write the states of each run within the next step that are kept, then put it back.

    Each is the end of a step of another size, as where one run has no dense output.
    """
    size = (kept.q.shape[2] + kept.v.shape[2] + NUM_POWERS) * together.width
    now = floats_at(together.memory, size)
    before = floats_at(together.aside, size)
    while next_part(reached, kept, counts, ROWS) > 0.0:
        h = kept.parts[counts[ROWS]]
        for k in range(size):
            before[k] = now[k]
        status = call_address(
            together.step,
            (
                together.space, together.method, t, h, instant(t, h, 1),
                pointer_at(together.memory),
            ),
        )  # fmt: skip
        if status != OK:
            return status
        keep_state(together, kept, counts, ROWS)
        for k in range(size):
            now[k] = before[k]
    return OK


@kernel(int64(typed(Together), typed(Grid), typed(Kept), typed(Kept), integers), nogil=True)
def advance(together, grid, rows, samples, counts):
    """Take the steps of the grid; t = t0 + k h, whatever the chunk.

    Writes  rows, samples; counts (3,): steps taken so far, rows and samples kept so far.
    Returns OK, or the status of what failed in one of the runs, or in several.
    """
    memory = pointer_at(together.memory)
    for k in range(grid.first, grid.first + grid.steps):
        step = step_of(grid, k)
        status = keep_within(together, step.t, k, rows, counts)
        if status == OK:
            status = call_address(
                together.step,
                (together.space, together.method, step.t, step.h, step.end, memory),
            )
        if status != OK:
            return status
        counts[TAKEN] += 1
        keep_states(together, k + 1, rows, counts, ROWS)
        keep_states(together, k + 1, samples, counts, SAMPLES)
    return OK
