"""The time loop of explicit Runge-Kutta-Munthe-Kaas methods with steps of one size."""

import numpy as np

from mbkit.kernels.compile import floats_at, helper, int64, kernel, records_at, typed
from mbkit.kernels.explicit_integrators.stages import (
    LastStep,
    Scheme,
    Series,
    Stages,
    arrive,
    evaluate_stages,
    keep,
    take_over,
)
from mbkit.kernels.explicit_integrators.uncounted_records import (
    last_of,
    scheme_of,
    stages_of,
    state_of,
)
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.memory_in_lanes import (
    behind_stages,
    stages_in,
    state_in,
    table_of,
)
from mbkit.kernels.time_loops.records import Grid, Saved, State, Step
from mbkit.kernels.time_loops.saving import count_step, start_count
from mbkit.kernels.time_loops.step_times import step_of

#: A method for `step_in_lanes`: numbers, and coefficients by address.
METHOD = np.dtype(
    [(name, np.int64) for name in ("num_stages", "truncation", "A", "b", "c", "exact")]
)


@helper
def find_end(space, scheme, step, state, stages):
    """Evaluate a step from the state; its end is in the stages, and may be taken over if OK."""
    status = evaluate_stages(space, scheme, step, state, stages, 0, scheme.b.shape[0])
    if status == OK:
        status = arrive(space, scheme.b, step.end, step.h, state, stages)
    if status == OK:
        status = look(space, step.end, stages.q_end, stages.v)
    return status


@helper
def scheme_in_lanes(own, nv, brackets):
    """The scheme of a record that has the fields of `METHOD`; (4, nv) of memory for brackets."""
    count = own.num_stages
    return Scheme(
        floats_at(own.A, count * count).reshape((count, count)), floats_at(own.b, count),
        floats_at(own.c, count), Series(own.truncation, floats_at(own.exact, nv), brackets),
    )  # fmt: skip


@kernel(
    int64(
        int64, typed(Scheme), typed(State), typed(Stages), typed(LastStep), typed(Grid),
        typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(space, scheme, state, stages, last, grid, saved):
    """Take the steps of the grid; t = t0 + k h, whatever the chunk.

    Writes  state, saved, stages (of which q and v are what was evaluated last), last (where the
            last step began).
    Returns OK, or the status of what failed; the state is then that of the last complete step.
    Source  Munthe-Kaas 1999, algorithm 3.1; Hairer, Lubich, Wanner 2006, IV.8.
    """
    scheme = scheme_of(scheme)
    state = state_of(state)
    stages = stages_of(stages)
    last = last_of(last)
    start_count(saved)
    for k in range(grid.first, grid.first + grid.steps):
        step = step_of(grid, k)
        status = find_end(space, scheme, step, state, stages)
        if status != OK:
            return status
        keep(step, scheme.b.shape[0], state, last)
        take_over(scheme.b, grid.h, stages, state)
        count_step(grid, k, state, saved)
    return OK


def step_in_lanes(space, method, t, h, end, memory):
    """One step of several runs side by side: see `time_loops.fixed_steps_in_lanes`."""
    own = records_at(method, 1, METHOD)[0]
    state = state_in(space, memory)
    stages = stages_in(space, memory, own.num_stages)
    nv = state.v.shape[0]
    brackets = table_of(behind_stages(space, memory, own.num_stages), 0, 4, nv)
    scheme = scheme_in_lanes(own, nv, brackets)
    status = find_end(space, scheme, Step(t, h, end), state, stages)
    if status == OK:
        take_over(scheme.b, h, stages, state)
    return status
