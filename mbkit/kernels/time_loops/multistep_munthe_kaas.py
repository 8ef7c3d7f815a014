"""The time loop of multistep Munthe-Kaas methods."""

from typing import NamedTuple

import numpy as np

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    floats,
    floats_at,
    helper,
    int64,
    kernel,
    matrix,
    pointer_after,
    records_at,
    typed,
)
from mbkit.kernels.configuration import dexp_inv_rows, difference_rows
from mbkit.kernels.explicit_integrators.stages import (
    Scheme,
    Stages,
    arrive,
    evaluate_stages,
    take_over,
)
from mbkit.kernels.explicit_integrators.uncounted_records import (
    matrix_of,
    scheme_of,
    stages_of,
    state_of,
    vector_of,
)
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.memory_in_lanes import (
    behind_stages,
    stages_in,
    state_in,
    table_of,
)
from mbkit.kernels.time_loops.multistep_history import push
from mbkit.kernels.time_loops.munthe_kaas import METHOD as SCHEME
from mbkit.kernels.time_loops.munthe_kaas import scheme_in_lanes
from mbkit.kernels.time_loops.records import Grid, Saved, State, Step
from mbkit.kernels.time_loops.saving import count_step, start_count
from mbkit.kernels.time_loops.step_times import step_of
from mbkit.kernels.workspace import bodies, scratch_of

#: A method for `step_in_lanes`: by address the scheme that starts, beta, and how many states are
#: known; k, and the rows of the stages.
METHOD = np.dtype([(name, np.int64) for name in ("scheme", "steps", "num_rows", "beta", "known")])


class Past(NamedTuple):
    """The k - 1 states before the one that was reached, the last first, with their rates."""

    q: matrix  # (k - 1, nq)
    w: matrix  # (k - 1, d)
    vdot: matrix  # (k - 1, nv)
    powers: matrix  # (k - 1, NUM_POWERS)
    known: floats  # (1,), how many there are


@helper
def recall(space, state, past, stages):
    """Put the rates of states before into the rows behind the first, about the state reached.

    With the coordinates x_i of the state i steps before, these are dexp^-1_{-x_i} w_i and l_i.
    """
    model = bodies(space)
    memory = scratch_of(space)
    for i in range(1, past.q.shape[0] + 1):
        status = difference_rows(model, memory, state.q, past.q[i - 1], stages.x)
        if status == OK:
            status = dexp_inv_rows(model, memory, stages.x, past.w[i - 1], stages.xdot[i])
        if status != OK:
            return status
        assign(stages.vdot[i], past.vdot[i - 1])
        assign(stages.powers[i], past.powers[i - 1])
    return OK


@helper
def remember(state, stages, past):
    """Keep the state where a step begins, and its rates, which are those of the first stage."""
    push(past.q, state.q)
    push(past.w, stages.xdot[0])  # at x = 0 it is w
    push(past.vdot, stages.vdot[0])
    push(past.powers, stages.powers[0])


@helper
def take_step(space, beta, scheme, step, state, past, stages):
    """Advance the state by a step, in place.

    To q exp(h sum_i beta_i k_i) and v + h sum_i beta_i l_i, with the rates i steps before; by a
    Runge-Kutta-Munthe-Kaas step until there are as many states as the method needs.
    Source: Faltinsen, Marthinsen, Munthe-Kaas 2001, section 3.
    """
    starting = past.known[0] < past.q.shape[0]
    weights = scheme.b if starting else beta
    count = weights.shape[0] if starting else 1
    status = evaluate_stages(space, scheme, step, state, stages, 0, count)
    if status == OK and not starting:
        status = recall(space, state, past, stages)
    if status == OK:
        status = arrive(space, weights, step.end, step.h, state, stages)
    if status == OK:
        status = look(space, step.end, stages.q_end, stages.v)
    if status != OK:
        return status
    remember(state, stages, past)
    take_over(weights, step.h, stages, state)
    if starting:
        past.known[0] += 1.0
    return OK


@kernel(
    int64(
        int64, floats, typed(Scheme), typed(State), typed(Past), typed(Stages), typed(Grid),
        typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(space, beta, scheme, state, past, stages, grid, saved):
    """Take the steps of the grid; t = t0 + k h, whatever the chunk.

    Reads   beta (k,); the scheme that starts, of s stages.
    Writes  state, saved, past, stages (with max(k, s) rows), of which q and v are what was
            evaluated last.
    Returns as the loop of Runge-Kutta-Munthe-Kaas methods.
    """
    scheme = scheme_of(scheme)
    state = state_of(state)
    stages = stages_of(stages)
    q, w, vdot, powers, known = past
    past = Past(
        matrix_of(q), matrix_of(w), matrix_of(vdot), matrix_of(powers), vector_of(known)
    )  # fmt: skip
    start_count(saved)
    for k in range(grid.first, grid.first + grid.steps):
        status = take_step(space, beta, scheme, step_of(grid, k), state, past, stages)
        if status != OK:
            return status
        count_step(grid, k, state, saved)
    return OK


@helper
def past_in(own, memory, nq, nv):
    """The states before, as many as the method needs."""
    k = own.steps - 1
    w = pointer_after(memory, k * nq)
    return Past(
        table_of(memory, 0, k, nq), table_of(w, 0, k, nv), table_of(w, k * nv, k, nv),
        table_of(w, 2 * k * nv, k, NUM_POWERS), floats_at(own.known, 1),
    )  # fmt: skip


def step_in_lanes(space, method, t, h, end, memory):
    """One step of several runs side by side: see `time_loops.fixed_steps_in_lanes`."""
    own = records_at(method, 1, METHOD)[0]
    state = state_in(space, memory)
    stages = stages_in(space, memory, own.num_rows)
    nq = state.q.shape[0]
    nv = state.v.shape[0]
    rest = behind_stages(space, memory, own.num_rows)
    starting = records_at(own.scheme, 1, SCHEME)[0]
    scheme = scheme_in_lanes(starting, nv, table_of(rest, 0, 4, nv))
    past = past_in(own, pointer_after(rest, 4 * nv), nq, nv)
    beta = floats_at(own.beta, own.steps)
    return take_step(space, beta, scheme, Step(t, h, end), state, past, stages)
