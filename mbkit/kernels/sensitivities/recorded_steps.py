"""Steps of explicit Runge-Kutta-Munthe-Kaas methods, kept with their stages."""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import floats, floats_at, helper, int64, kernel, matrix, stack, typed
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.constraints.workspace import closure_of, kept_rows
from mbkit.kernels.explicit_integrators.stages import (
    Scheme,
    Stages,
    combine,
    combine_velocities,
    evaluate_stages,
    settle,
    take_over,
)
from mbkit.kernels.explicit_integrators.uncounted_records import (
    matrix_of,
    scheme_of,
    stack_of,
    stages_of,
    state_of,
    vector_of,
)
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.records import Grid, State
from mbkit.kernels.time_loops.step_times import step_of
from mbkit.kernels.workspace import bodies, scratch_of


class History(NamedTuple):
    """N steps of s stages: where each stage is, and where each step ends."""

    span: matrix  # (N, 2), when a step begins, and its size
    x: stack  # (N, s + 1, d), coordinates about its start, of the stages and of the end
    q: stack  # (N, s, nq)
    v: stack  # (N, s, nv)
    vdot: stack  # (N, s, nv)
    multipliers: stack  # (N, s, m), or none: m = 0
    kept: matrix  # (N, m), 1.0 for rows of constraints that count in a step
    open_q: matrix  # (N, nq), the end, before loops are closed there
    open_v: matrix  # (N, nv)
    t: floats  # (N,), when it ends
    end_q: matrix  # (N, nq), the end
    end_v: matrix  # (N, nv)


@helper
def history_of(history):
    """The same history: see `mbkit.kernels.explicit_integrators.uncounted_records`."""
    span, x, q, v, vdot, multipliers, kept, open_q, open_v, t, end_q, end_v = history
    return History(
        matrix_of(span), stack_of(x), stack_of(q), stack_of(v), stack_of(vdot),
        stack_of(multipliers), matrix_of(kept), matrix_of(open_q), matrix_of(open_v),
        vector_of(t), matrix_of(end_q), matrix_of(end_v),
    )  # fmt: skip


@helper
def keep_stage(history, k, i, stages):
    """Keep stage i of step k, which was evaluated last."""
    assign(history.x[k, i], stages.x)
    assign(history.q[k, i], stages.q)
    assign(history.v[k, i], stages.v)
    assign(history.vdot[k, i], stages.vdot[i])


@helper
def keep_multipliers(space, history, k, i):
    """Keep the multipliers of stage i of step k, which was evaluated last, and which rows count."""
    m = history.kept.shape[1]
    if m == 0:
        return
    closure = closure_of(space)
    assign(history.multipliers[k, i], floats_at(closure.multipliers, m))
    if i == 0:
        kept = kept_rows(closure)
        for r in range(m):
            history.kept[k, r] = kept[r]


@helper
def arrive_open(space, b, h, start, stages):
    """Let the stages lead to the end, before loops are closed: see `arrive`."""
    count = b.shape[0]
    combine(h, b, stages.xdot, count, stages.x)
    status = retract_rows(bodies(space), scratch_of(space), start.q, stages.x, stages.q_end)
    combine_velocities(h, b, stages.vdot, count, start.v, stages.v)
    return status


@helper
def keep_open_end(history, k, stages):
    """Keep where the stages of step k have led to, before loops are closed."""
    assign(history.x[k, history.q.shape[1]], stages.x)
    assign(history.open_q[k], stages.q_end)
    assign(history.open_v[k], stages.v)


@helper
def keep_state(history, k, step, state):
    """Keep when step k began, its size, and where it has led to."""
    history.span[k, 0] = step.t
    history.span[k, 1] = step.h
    history.t[k] = step.end
    assign(history.end_q[k], state.q)
    assign(history.end_v[k], state.v)


@kernel(
    int64(
        int64, typed(Scheme), typed(State), typed(Stages), typed(Grid), typed(History),
    ),
    nogil=True,
)  # fmt: skip
def record(space, scheme, state, stages, grid, history):
    """Take the steps of the grid as `mbkit.kernels.time_loops.munthe_kaas` does, and keep them.

    Writes  state, history.
    """
    scheme = scheme_of(scheme)
    state = state_of(state)
    stages = stages_of(stages)
    history = history_of(history)
    b = scheme.b
    h = grid.h
    count = b.shape[0]
    for n in range(grid.steps):
        step = step_of(grid, grid.first + n)
        for i in range(count):
            status = evaluate_stages(space, scheme, step, state, stages, i, i + 1)
            if status != OK:
                return status
            keep_stage(history, n, i, stages)
            keep_multipliers(space, history, n, i)
        status = arrive_open(space, b, h, state, stages)
        keep_open_end(history, n, stages)
        if status == OK:
            status = settle(space, step.end, stages)
        if status == OK:
            status = look(space, step.end, stages.q_end, stages.v)
        if status != OK:
            return status
        take_over(b, h, stages, state)
        keep_state(history, n, step, state)
    return OK
