"""The time loop of methods that compose exponentials: Crouch-Grossman, commutator-free."""

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
    records_at,
    stack,
    typed,
)
from mbkit.kernels.configuration import dexp_inv_rows, retract_rows
from mbkit.kernels.equations_of_motion import choose_rows, stage_acceleration
from mbkit.kernels.explicit_integrators.stages import (
    Stages,
    combine,
    combine_velocities,
    rates_at,
    settle,
    take_over,
)
from mbkit.kernels.explicit_integrators.uncounted_records import (
    matrix_of,
    stack_of,
    stages_of,
    state_of,
    vector_of,
)
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.memory_in_lanes import (
    behind_stages,
    part_of,
    stages_in,
    state_in,
)
from mbkit.kernels.time_loops.records import Grid, Saved, State, Step
from mbkit.kernels.time_loops.saving import count_step, start_count
from mbkit.kernels.time_loops.step_times import step_of
from mbkit.kernels.workspace import bodies, scratch_of

#: A method for `step_in_lanes`: numbers, and coefficients by address.
METHOD = np.dtype(
    [(name, np.int64) for name in ("num_stages", "num_factors", "factors", "A", "c", "other")]
)


class Products(NamedTuple):
    """A method of s stages: in the row behind them is the result; and memory for its products."""

    factors: stack  # (s + 1, J, s), exponents
    A: matrix  # (s + 1, s), their sums
    c: floats  # (s,)
    other: floats  # (d,), 1 for entries of joints whose steps are no exponentials
    total: floats  # (d,), where such joints have moved
    q_before: floats  # (nq,)


@helper
def compose(space, method, i, h, q, stages, out):
    """out = q exp(h sum_j factors_i1j k_j) exp(h sum_j factors_i2j k_j) ..., the first acts first.

    The sums are over the stages before i. Joints that take their steps in coordinates of their
    own, where `other` is 1, move by their sum in the end, which is left in `total`: among each
    other these coordinates add.
    """
    factors = method.factors[i]
    other = method.other
    total = method.total
    q_before = method.q_before
    x = stages.x
    model = bodies(space)
    memory = scratch_of(space)
    total[:] = 0.0
    assign(out, q)
    moved = 0.0
    for m in range(factors.shape[0]):
        size = 0.0
        for j in range(i):
            size += abs(factors[m, j])
        if size == 0.0:
            continue
        combine(h, factors[m], stages.xdot, i, x)
        for k in range(x.shape[0]):
            moved += other[k]
            total[k] += other[k] * x[k]
            x[k] *= 1.0 - other[k]
        assign(q_before, out)
        status = retract_rows(model, memory, q_before, x, out)
        if status != OK:
            return status
    if moved == 0.0:
        return OK
    assign(q_before, out)
    return retract_rows(model, memory, q_before, total, out)


@helper
def take_step(space, method, step, state, stages):
    """Advance the state by a step, in place.

    Stage i:
        q_i = q exp(h sum_j alpha_1ij k_j) exp(h sum_j alpha_2ij k_j) ...,
        v_i = v + h sum_j a_ij l_j with a_ij = sum_m alpha_mij,   k_i = w_i,
        l_i = vdot(t + c_i h, q_i, v_i),
    with the rates w_i of steps at (q_i, v_i). The row behind the last stage is the result.
    Source: Crouch, Grossman 1993; Celledoni, Marthinsen, Owren 2003.
    """
    A = method.A
    c = method.c
    other = method.other
    xdot, vdot, powers, x, w, q, v, q_end = stages
    h = step.h
    count = c.shape[0]
    any_other = 0.0
    for k in range(other.shape[0]):
        any_other += other[k]
    for i in range(count):
        status = compose(space, method, i, h, state.q, stages, q)
        if status != OK:
            return status
        combine_velocities(h, A[i], vdot, i, state.v, v)
        status = rates_at(space, q, v, w)
        if status != OK:
            return status
        assign(xdot[i], w)
        if any_other != 0.0:
            status = dexp_inv_rows(bodies(space), scratch_of(space), method.total, w, x)
            for k in range(other.shape[0]):
                if other[k] != 0.0:
                    xdot[i, k] = x[k]
        if status == OK:
            status = stage_acceleration(space, i, step.t + c[i] * h, q, v, vdot[i], powers[i])
        if status != OK:
            return status
        if i == 0:
            choose_rows(space, True)
    status = compose(space, method, count, h, state.q, stages, q_end)
    if status != OK:
        return status
    combine_velocities(h, A[count], vdot, count, state.v, v)
    status = settle(space, step.end, stages)
    if status == OK:
        status = look(space, step.end, q_end, v)
    if status == OK:
        take_over(A[count], h, stages, state)
    return status


@kernel(
    int64(int64, typed(Products), typed(State), typed(Stages), typed(Grid), typed(Saved)),
    nogil=True,
)
def advance(space, method, state, stages, grid, saved):
    """Take the steps of the grid; t = t0 + k h, whatever the chunk.

    Writes  state, saved, stages (of which q and v are what was evaluated last).
    Returns as the loop of Runge-Kutta-Munthe-Kaas methods.
    """
    factors, A, c, other, total, q_before = method
    method = Products(
        stack_of(factors), matrix_of(A), vector_of(c), vector_of(other), vector_of(total),
        vector_of(q_before),
    )  # fmt: skip
    state = state_of(state)
    stages = stages_of(stages)
    start_count(saved)
    for k in range(grid.first, grid.first + grid.steps):
        status = take_step(space, method, step_of(grid, k), state, stages)
        if status != OK:
            return status
        count_step(grid, k, state, saved)
    return OK


def step_in_lanes(space, method, t, h, end, memory):
    """One step of several runs side by side: see `time_loops.fixed_steps_in_lanes`."""
    own = records_at(method, 1, METHOD)[0]
    count = own.num_stages
    factors = own.num_factors
    state = state_in(space, memory)
    nq = state.q.shape[0]
    nv = state.v.shape[0]
    rest = behind_stages(space, memory, count)
    products = Products(
        floats_at(own.factors, (count + 1) * factors * count).reshape((count + 1, factors, count)),
        floats_at(own.A, (count + 1) * count).reshape((count + 1, count)),
        floats_at(own.c, count), floats_at(own.other, nv), part_of(rest, 0, nv),
        part_of(rest, nv, nq),
    )  # fmt: skip
    return take_step(space, products, Step(t, h, end), state, stages_in(space, memory, count))
