"""The time loop of methods that compose exponentials: Crouch-Grossman, commutator-free."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, helper, int64, kernel, matrix, stack, typed
from mbkit.kernels.configuration import dexp_inv_rows, retract_rows
from mbkit.kernels.equations import stage_acceleration
from mbkit.kernels.explicit.stages import (
    add_work,
    combine,
    combine_velocities,
    rates_at,
    settle,
)
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.records import Saved, State
from mbkit.kernels.time_loops.saving import TAKEN, save, start_count
from mbkit.kernels.time_loops.times import instant
from mbkit.kernels.time_loops.watch import look


@helper
def compose(space, factors, h, count, other, q, xdot, x, total, q_other, out):
    """out = q exp(h sum_j factors_1j k_j) exp(h sum_j factors_2j k_j) ..., the first acts first.

    Joints that take their steps in coordinates of their own, where `other` is 1, move by their sum
    in the end, which is left in `total`: among each other these coordinates add.
    """
    model = bodies(space)
    memory = scratch(space)
    total[:] = 0.0
    assign(out, q)
    moved = 0.0
    for m in range(factors.shape[0]):
        size = 0.0
        for j in range(count):
            size += abs(factors[m, j])
        if size == 0.0:
            continue
        combine(h, factors[m], xdot, count, x)
        for k in range(x.shape[0]):
            moved += other[k]
            total[k] += other[k] * x[k]
            x[k] *= 1.0 - other[k]
        assign(q_other, out)
        state = retract_rows(model, memory, q_other, x, out)
        if state != OK:
            return state
    if moved == 0.0:
        return OK
    assign(q_other, out)
    return retract_rows(model, memory, q_other, total, out)


@helper
def step(space, factors, A, c, t, h, end, other, state, rates, at, spare):
    """Advance the state (q, v, work) by h, to the time `end`, in place.

    Stage i:
        q_i = q exp(h sum_j alpha_1ij k_j) exp(h sum_j alpha_2ij k_j) ...,
        v_i = v + h sum_j a_ij l_j with a_ij = sum_m alpha_mij,   k_i = w_i,
        l_i = vdot(t + c_i h, q_i, v_i),
    with the rates w_i of steps at (q_i, v_i). The row behind the last stage is the result.
    Source: Crouch, Grossman 1993; Celledoni, Marthinsen, Owren 2003.
    """
    q, v, work = state
    xdot, vdot, powers = rates
    x, w, q_stage, v_stage = at
    q_next, q_other, total = spare
    stages = c.shape[0]
    found = OK
    any_other = 0.0
    for k in range(other.shape[0]):
        any_other += other[k]
    for i in range(stages):
        found = compose(space, factors[i], h, i, other, q, xdot, x, total, q_other, q_stage)
        if found != OK:
            return found
        combine_velocities(h, A[i], vdot, i, v, v_stage)
        found = rates_at(space, q_stage, v_stage, w)
        if found != OK:
            return found
        xdot[i] = w
        if any_other != 0.0:
            found = dexp_inv_rows(bodies(space), scratch(space), total, w, x)
            for k in range(other.shape[0]):
                if other[k] != 0.0:
                    xdot[i, k] = x[k]
        if found == OK:
            found = stage_acceleration(space, i, t + c[i] * h, q_stage, v_stage, vdot[i], powers[i])
        if found != OK:
            return found
    found = compose(space, factors[stages], h, stages, other, q, xdot, x, total, q_other, q_next)
    if found != OK:
        return found
    combine_velocities(h, A[stages], vdot, stages, v, v_stage)
    found = settle(space, end, q_next, v_stage, q_stage)
    if found == OK:
        found = look(space, end, q_next, v_stage)
    if found != OK:
        return found
    assign(q, q_next)
    assign(v, v_stage)
    add_work(h, A[stages], powers, stages, work)
    return OK


@kernel(
    int64(
        int64, stack, matrix, floats, floats, float64, float64, int64, int64, int64, floats, floats,
        floats, floats, floats, floats, floats, matrix, matrix, matrix, typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, factors, A, c, other, t0, h, first, steps, save_every, q, v, work, q_stage, v_stage,
    memory, w, xdot, vdot, powers, saved,
):  # fmt: skip
    """Take `steps` steps from step `first` on; t = t0 + k h, whatever the chunk.

    Reads   factors (s + 1, J, s): of each stage, and of the result behind them, the exponents; A
            (s + 1, s), their sums.
    Writes  as the loop of Runge-Kutta-Munthe-Kaas methods.
    Memory  memory (2 nq + 2 d,) with d the number of steps, and as there.
    """
    nq = q.shape[0]
    d = xdot.shape[1]
    state = (q, v, work)
    rates = (xdot, vdot, powers)
    at = (memory[2 * nq : 2 * nq + d], w, q_stage, v_stage)
    spare = (memory[:nq], memory[nq : 2 * nq], memory[2 * nq + d :])
    start_count(saved)
    for k in range(first, first + steps):
        t = instant(t0, h, k)
        end = instant(t0, h, k + 1)
        found = step(space, factors, A, c, t, h, end, other, state, rates, at, spare)
        if found != OK:
            return found
        saved.counts[TAKEN] += 1
        if (k + 1) % save_every == 0:
            save(end, State(q, v, work), saved)
    return OK
