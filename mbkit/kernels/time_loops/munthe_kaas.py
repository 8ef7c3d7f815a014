"""The time loop of explicit Runge-Kutta-Munthe-Kaas methods with steps of one size."""

from mbkit.kernels.compile import int64, kernel, typed
from mbkit.kernels.explicit.references import last_of, scheme_of, stages_of, state_of
from mbkit.kernels.explicit.stages import (
    LastStep,
    Scheme,
    Stages,
    arrive,
    evaluate_stages,
    keep,
    take_over,
)
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.records import Grid, Saved, State
from mbkit.kernels.time_loops.saving import count_step, start_count
from mbkit.kernels.time_loops.times import step_of
from mbkit.kernels.time_loops.watch import look


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
    b = scheme.b
    h = grid.h
    count = b.shape[0]
    start_count(saved)
    for k in range(grid.first, grid.first + grid.steps):
        step = step_of(grid, k)
        code = evaluate_stages(space, scheme, step, state, stages, 0, count)
        if code == OK:
            code = arrive(space, b, step.end, h, state, stages)
        if code == OK:
            code = look(space, step.end, stages.q_end, stages.v)
        if code != OK:
            return code
        keep(step, count, state, last)
        take_over(b, h, stages, state)
        count_step(grid, k, state, saved)
    return OK
