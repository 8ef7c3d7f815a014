"""The time loop of explicit Runge-Kutta-Munthe-Kaas methods."""

from mbkit.kernels.compile import (
    call_address,
    float64,
    floats,
    helper,
    int64,
    integers,
    kernel,
    matrix,
    records_at,
)
from mbkit.kernels.configuration import dexp_inv_rows, retract_rows
from mbkit.kernels.equations import acceleration, close_loops
from mbkit.kernels.layout import SPACE
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import NOT_FINITE, OK, status
from mbkit.kernels.times import instant
from mbkit.kernels.validation import all_finite
from mbkit.kernels.watch import look


@helper
def combine(h, weights, stages, count, out):
    """out = h (w_1 s_1 + ... + w_count s_count)."""
    out[:] = 0.0
    for i in range(count):
        weight = h * weights[i]
        if weight != 0.0:  # most are zero
            stage = stages[i]
            for j in range(out.shape[0]):
                out[j] += weight * stage[j]


@helper
def step(
    space, A, b, c, t, h, end, q, v, work, x, w, q_stage, v_stage, xdot, vdot, powers, q_next
):  # fmt: skip
    """Advance (q, v) by h, to the time `end`, in place, and the work done meanwhile.

    Stage i, in coordinates x of the group about q:
        x_i = h sum_j a_ij k_j,   q_i = q exp(x_i),   v_i = v + h sum_j a_ij l_j,
        k_i = dexp^-1_{-x_i} w_i,   l_i = vdot(t + c_i h, q_i, v_i),
    with the rates w_i of steps at (q_i, v_i); w is v_stage itself but for nonholonomic joints.
    Then q exp(h sum b_i k_i) and v + h sum b_i l_i; work + h sum b_i powers_i.
    Source: Munthe-Kaas 1999, algorithm 3.1; Hairer, Lubich, Wanner 2006, IV.8.
    """
    model = bodies(space)
    memory = scratch(space)
    nv = v.shape[0]
    rates = records_at(space, 1, SPACE)[0].rates
    for i in range(b.shape[0]):
        combine(h, A[i], xdot, i, x)
        state = retract_rows(model, memory, q, x, q_stage)
        if state != OK:
            return state
        combine(h, A[i], vdot, i, v_stage)
        for j in range(nv):
            v_stage[j] += v[j]
        if rates != 0:
            state = call_address(rates, (space, 0, q_stage, v_stage, v_stage, w))
        if state == OK:
            state = dexp_inv_rows(model, memory, x, w, xdot[i])
        if state == OK:
            state = acceleration(space, t + c[i] * h, q_stage, v_stage, vdot[i], powers[i])
        if state != OK:
            return state
    combine(h, b, xdot, b.shape[0], x)
    state = retract_rows(model, memory, q, x, q_next)
    if state != OK:
        return state
    combine(h, b, vdot, b.shape[0], v_stage)
    for j in range(nv):
        v_stage[j] += v[j]
    if not (all_finite(q_next) and all_finite(v_stage)):
        q_stage[:] = q_next
        return status(NOT_FINITE, 0)
    state = close_loops(space, end, q_next, v_stage)
    if state == OK:
        state = look(space, end, q_next, v_stage)
    if state != OK:
        return state
    q[:] = q_next
    v[:] = v_stage
    for i in range(b.shape[0]):
        for j in range(work.shape[0]):
            work[j] += h * b[i] * powers[i, j]
    return OK


@kernel(
    int64(
        int64, matrix, floats, floats, float64, float64, int64, int64, int64, floats, floats,
        floats, floats, floats, floats, floats, matrix, matrix, matrix, integers, floats, matrix,
        matrix, matrix,
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, A, b, c, t0, h, first, steps, save_every, q, v,
    work, q_stage, v_stage, memory, w, xdot, vdot, powers, count, rows_t, rows_q, rows_v, rows_work,
):  # fmt: skip
    """Take `steps` steps from step `first` on; t = t0 + k h, whatever the chunk.

    Writes  q, v (the state), work (dissipated and supplied since the start), rows (of the steps
            that are a multiple of `save_every`), count (steps taken, rows written), q_stage and
            v_stage (what was evaluated last).
    Memory  memory (nq + d,) with d the number of steps, w (d,) or v_stage itself where velocities
            are rates of steps, xdot (s, d), vdot (s, nv), powers (s, NUM_POWERS).
    Returns OK, or the status of what failed; q, v, work are then those of the last complete step.
    """
    q_next = memory[: q.shape[0]]
    x = memory[q.shape[0] :]
    count[0] = 0
    count[1] = 0
    for k in range(first, first + steps):
        t = instant(t0, h, k)
        end = instant(t0, h, k + 1)
        state = step(
            space, A, b, c, t, h, end, q, v, work, x, w, q_stage, v_stage, xdot, vdot, powers,
            q_next,
        )  # fmt: skip
        if state != OK:
            return state
        count[0] += 1
        if (k + 1) % save_every == 0:
            row = count[1]
            rows_t[row] = end
            rows_q[row] = q
            rows_v[row] = v
            rows_work[row] = work
            count[1] += 1
    return OK
