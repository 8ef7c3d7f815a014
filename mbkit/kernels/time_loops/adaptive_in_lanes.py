"""Several runs of an embedded pair in lanes, each with its own time and adaptive step size.

All of them try a step at once; those whose error is small enough accept it. A run that reaches a
grid point goes on at once, without waiting for the others. The loop is that of implicit methods,
too, which have attempts of their own.
"""

from typing import NamedTuple

import numpy as np

from mbkit.kernels.compile import (
    call_address,
    floats,
    floats_at,
    helper,
    int64,
    integers,
    kernel,
    matrix,
    pointer_after,
    pointer_at,
    records_at,
    typed,
)
from mbkit.kernels.elementary import all_lanes
from mbkit.kernels.explicit_integrators.stages import (
    Stages,
    assign_where,
    copy,
    copy_where,
    take_over,
)
from mbkit.kernels.explicit_integrators.step_size import MOST_STEPS, Control
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.status import INACCURATE, OK, STEP_TOO_SMALL, TOO_MANY, failure
from mbkit.kernels.time_loops.fixed_steps_in_lanes import Kept, Together, write_state
from mbkit.kernels.time_loops.memory_in_lanes import (
    behind_stages,
    part_of,
    stages_in,
    state_in,
    table_of,
)
from mbkit.kernels.time_loops.munthe_kaas import METHOD as SCHEME
from mbkit.kernels.time_loops.munthe_kaas import scheme_in_lanes
from mbkit.kernels.time_loops.munthe_kaas_adaptive import (
    END,
    NUM_PROGRESS,
    SIZE,
    TIME,
    attempt,
    judge,
    last_is_first,
    least_size,
    set_out,
)
from mbkit.kernels.time_loops.records import Grid, State
from mbkit.kernels.time_loops.step_times import step_of

#: ``attempt(space, method, memory)``: it leaves in the place of the state the end of the step where
#: that was accepted, and returns a status of all runs together. Implicit ones are "ssp".
ATTEMPT = "sip"

#: A method for `attempt_in_lanes`: by address the scheme, and what is in `Control`.
METHOD = np.dtype(
    [(name, np.int64) for name in ("scheme", "b_error", "angular")]
    + [(name, np.float64) for name in ("order", "rtol", "atol", "widest")]
)

#: Numbers of a run behind its stages: those of `Progress`, then what was counted.
NUM_OWN = NUM_PROGRESS + 2


class Underway(NamedTuple):
    """The fields of `Progress` that an attempt at a step needs."""

    numbers: floats  # (NUM_PROGRESS,)
    now: typed(State)
    w_end: floats
    counts: floats  # EVALUATIONS and REJECTIONS


def size_of_rest(nq: int, nv: int) -> int:
    """Return how many numbers a run needs besides its state and stages."""
    return NUM_OWN + 4 * nv + (nv + 2 * nv) + (2 * nv + NUM_POWERS) + (nq + nv + NUM_POWERS)


@helper
def control_in_lanes(own, count, nv, errors):
    """The control of a record that has the fields of `METHOD`."""
    return Control(
        floats_at(own.b_error, count), own.order, own.rtol, own.atol, own.widest,
        floats_at(own.angular, nv), errors,
    )  # fmt: skip


def attempt_in_lanes(space, method, memory):
    """Try a step of each run; who has reached the end of its interval stays there."""
    own = records_at(method, 1, METHOD)[0]
    own_scheme = records_at(own.scheme, 1, SCHEME)[0]
    count = own_scheme.num_stages
    now = state_in(space, memory)
    stages = stages_in(space, memory, count)
    nq = now.q.shape[0]
    nv = now.v.shape[0]
    rest = behind_stages(space, memory, count)
    numbers = part_of(rest, 0, NUM_PROGRESS)
    counts = part_of(rest, NUM_PROGRESS, 2)
    rest = pointer_after(rest, NUM_OWN)
    scheme = scheme_in_lanes(own_scheme, nv, table_of(rest, 0, 4, nv))
    control = control_in_lanes(own, count, nv, part_of(rest, 4 * nv, 2 * nv))
    progress = Underway(numbers, now, part_of(rest, 6 * nv, nv), counts)
    rest = pointer_after(rest, 7 * nv)
    fresh = Stages(
        table_of(rest, 0, 1, nv), table_of(rest, nv, 1, nv), table_of(rest, 2 * nv, 1, NUM_POWERS),
        stages.x, stages.w, stages.q, stages.v, stages.q_end,
    )  # fmt: skip
    rest = pointer_after(rest, 2 * nv + NUM_POWERS)
    end = State(part_of(rest, 0, nq), part_of(rest, nq, nv), part_of(rest, nq + nv, NUM_POWERS))
    status, step, error = attempt(space, scheme, control, progress, stages, fresh)
    if status != OK:
        return status
    accepted = judge(control, step, error, last_is_first(space, scheme.A, scheme.b), progress)
    copy(now, end)
    take_over(scheme.b, step.h, stages, end)
    copy_where(accepted, end, now)
    assign_where(accepted, progress.w_end, stages.w)
    large_enough = numbers[SIZE] > least_size(numbers)
    if all_lanes(accepted | large_enough):
        return OK
    return failure(STEP_TOO_SMALL, INACCURATE)


class Occupied(NamedTuple):
    """By lane: which run is in it, or NOBODY, and how far that has come."""

    run: integers
    taken: integers  # intervals of the grid
    attempts: integers  # in this interval
    rows: integers  # that are kept so far
    samples: integers
    numbers: matrix  # (NUM_PROGRESS, width), within the memory of the runs
    reached: matrix  # (nq + nv + NUM_POWERS + m, width), states at the last grid points, and what
    # multipliers their methods have left


#: In the place of a run, where a lane is empty.
NOBODY = -1


@helper
def keep_states(together, kept, counts, lanes, j):
    """Write the state of the run in lane j as its next row, if one is to be kept here."""
    while counts[j] < kept.steps.shape[0] and kept.steps[counts[j]] == lanes.taken[j]:
        write_state(together, j, kept, lanes.run[j], kept.first + counts[j])
        counts[j] += 1


@helper
def arrive_at_grid_point(together, rows, samples, lanes, j):
    """Count an interval of the run in lane j, and keep the state that it has led to."""
    lanes.taken[j] += 1
    lanes.attempts[j] = 0
    width = together.width
    size = rows.q.shape[2] + rows.v.shape[2] + NUM_POWERS
    memory = floats_at(together.memory, size * width)
    for k in range(size):
        lanes.reached[k, j] = memory[k * width + j]
    m = lanes.reached.shape[0] - size
    multipliers = floats_at(together.multipliers, m * width)
    for k in range(m):
        lanes.reached[size + k, j] = multipliers[k * width + j]
    keep_states(together, rows, lanes.rows, lanes, j)
    keep_states(together, samples, lanes.samples, lanes, j)


@kernel(
    int64(typed(Together), typed(Grid), typed(Kept), typed(Kept), typed(Occupied), int64),
    nogil=True,
)
def advance(together, grid, rows, samples, lanes, attempts):
    """Let all runs try a step, so many times at most, until one of them is through the grid.

    Writes  rows, samples, lanes.
    Returns OK, or the status of what failed in one of the runs, or in several.
    """
    memory = pointer_at(together.memory)
    numbers = lanes.numbers
    for _ in range(attempts):
        for j in range(together.width):
            if lanes.run[j] != NOBODY and numbers[TIME, j] >= numbers[END, j]:
                set_out(numbers[:, j], step_of(grid, lanes.taken[j]))
        status = call_address(together.step, (together.space, together.method, memory))
        if status != OK:
            return status
        through = False
        for j in range(together.width):
            if lanes.run[j] == NOBODY:
                continue
            lanes.attempts[j] += 1
            if numbers[TIME, j] >= numbers[END, j]:
                arrive_at_grid_point(together, rows, samples, lanes, j)
                through = through or lanes.taken[j] == grid.first + grid.steps
            elif lanes.attempts[j] == MOST_STEPS:
                return failure(STEP_TOO_SMALL, TOO_MANY)
        if through:
            return OK
    return OK
