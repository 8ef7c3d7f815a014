"""The time loop of backward differentiation formulas on Lie groups, of k steps.

With x_i the coordinates of q_{n+1-i} about q_n, so that x_0 = h D and x_1 = 0,

    q_{n+1} = retract(q_n, h D),
    v_{n+1} = G (sum_i alpha_i x_i / h + alpha_0 A(q_n)^T eta),
    vdot_{n+1} = sum_i alpha_i v_{n+1-i} / h,

with the equations of motion and g = 0 at the end of the step (index 3), and in the stabilised form
of index 2 also A v + g_t = 0, for which eta is there. G is the differential of the retraction at
the x_0 that the steps before foretell: v = dexp(x, x') on the group, and h x' is the difference
formula's to order k. Without correction G = 1, and x_i the sum of the increments between: the same
on a vector space, of second order elsewhere.
Source: derived here; the method without correction is that of Wieloch and Arnold 2021.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    call_address,
    float64,
    floats,
    floats_at,
    helper,
    int64,
    kernel,
    matrix,
    typed,
)
from mbkit.kernels.configuration import difference_rows
from mbkit.kernels.evaluation import rows
from mbkit.kernels.implicit.differential import add_turned, set_differential
from mbkit.kernels.implicit.layout import MOST_STEPS
from mbkit.kernels.implicit.matrix import have_matrix
from mbkit.kernels.implicit.residual import jacobian_at, place, powers_at_end
from mbkit.kernels.implicit.space import flags_at, memory_of, rows_at
from mbkit.kernels.implicit.start import consistent_acceleration
from mbkit.kernels.layout import SCREW
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import NOT_FINITE, OK, status
from mbkit.kernels.time_loops.records import Saved, State
from mbkit.kernels.time_loops.saving import TAKEN, save_constrained, start_count
from mbkit.kernels.time_loops.times import instant
from mbkit.kernels.time_loops.watch import look
from mbkit.kernels.validation import all_finite


@helper
def coordinates(space, summed, i, q, past_q, past_x, x, sum_x):
    """x_i about q_n into x; where positions add, or summed, the increments since, negative.

    A difference of positions has their rounding, which is divided by h twice; increments have none.
    """
    model = bodies(space)
    state = OK
    if not summed:
        state = difference_rows(model, scratch(space), q, past_q[i - 2], x)
    for j in range(x.shape[0]):
        sum_x[j] -= past_x[i - 2, j]
        if summed:
            x[j] = sum_x[j]
    for b in range(1, model.shape[0]):
        if adds(model[b]):
            for j in range(model[b].first_step, model[b].first_step + model[b].ndx):
                x[j] = sum_x[j]
    return state


@helper
def adds(row):
    """Whether the positions of a joint add."""
    return row.kind == SCREW or (row.retract == 0 and row.difference == 0)


@helper
def increments(space, step, h, q, q_next, x):
    """The step from q to q_next; that which was solved for where positions add."""
    record = memory_of(step)
    model = bodies(space)
    D = floats_at(record.D, record.nv)
    prescribed = flags_at(record.prescribed, record.nv)
    state = difference_rows(model, scratch(space), q, q_next, x)
    for b in range(1, model.shape[0]):
        if adds(model[b]):
            for j in range(model[b].first_step, model[b].first_step + model[b].ndx):
                if prescribed[j] == 0:
                    x[j] = h * D[j]
    return state


@address_kernel("iiidppppppppp")
def predict(
    space, step, count, h, coefficients, foreseen, position, velocity, past_position, increment,
    past_velocity, next_velocity, room,
):  # fmt: skip
    """D as the polynomial through the steps before has it, and v, vdot, G that go with it.

    count: of the coefficients.
    """
    record = memory_of(step)
    nv = record.nv
    alpha = as_array(coefficients, count)
    q = as_array(position, record.nq)
    v = as_array(velocity, nv)
    before = max(1, count - 2)
    past_q = rows(past_position, before, record.nq)
    past_x = rows(increment, before, nv)
    past_v = rows(past_velocity, before, nv)
    v_next = as_array(next_velocity, nv)
    memory = as_array(room, 3 * nv)
    D = floats_at(record.D, nv)
    vdot = floats_at(record.vdot, nv)
    rate = memory[:nv]
    x = memory[nv : 2 * nv]
    sum_x = memory[2 * nv : 3 * nv]
    sum_x[:] = 0.0
    for j in range(nv):
        D[j] = foreseen[0] * v[j]
        rate[j] = 0.0
    for i in range(2, alpha.shape[0]):
        state = coordinates(space, record.gain == 0, i, q, past_q, past_x, x, sum_x)
        if state != OK:
            return state
        for j in range(nv):
            D[j] += foreseen[i - 1] * x[j] / h
            rate[j] += alpha[i] * x[j] / h
    for j in range(nv):
        rate[j] += alpha[0] * D[j]
    if record.gain == 0:
        assign(v_next, rate)
    else:
        state = set_differential(space, step, h, D)
        if state != OK:
            return state
        size = nv * MOST_STEPS
        assign(floats_at(record.gain, size), floats_at(record.differential, size))
        v_next[:] = 0.0
        add_turned(space, rows_at(record.gain, nv, MOST_STEPS), rate, 1.0, v_next)
    for j in range(nv):
        vdot[j] = alpha[0] * v_next[j] + alpha[1] * v[j]
        for i in range(2, alpha.shape[0]):
            vdot[j] += alpha[i] * past_v[i - 2, j]
        vdot[j] /= h
    return OK


@helper
def push(past, newest):
    """The newest of the past comes first; the oldest is forgotten."""
    for i in range(past.shape[0] - 1, 0, -1):
        assign(past[i], past[i - 1])
    assign(past[0], newest)


@helper
def take_over(
    step, alpha, h, q, v, work, past_q, past_x, past_v, past_work, multipliers, q_next, v_next,
    powers, x,
):  # fmt: skip
    """The end of a step becomes the state; the work done follows by the same formula."""
    record = memory_of(step)
    for j in range(work.shape[0]):
        total = h * powers[j] - alpha[1] * work[j]
        for i in range(2, alpha.shape[0]):
            total -= alpha[i] * past_work[i - 2, j]
        powers[j] = total / alpha[0]
    push(past_q, q)
    push(past_x, x)
    push(past_v, v)
    push(past_work, work)
    assign(q, q_next)
    assign(v, v_next)
    assign(work, powers)
    assign(multipliers, floats_at(record.multipliers, record.m))


@helper
def take_step(
    space, step, alpha, foreseen, t, h, end, q, v, work, past_q, past_x, past_v, past_work,
    multipliers, q_next, v_next, memory,
):  # fmt: skip
    """Advance the state by h, to the time `end`; nothing of it has changed where that fails."""
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    restore = floats_at(record.restore, record.num_made)
    assign(restore, made)
    powers = memory[:2]
    assign(floats_at(record.multipliers, record.m), multipliers)
    floats_at(record.eta, record.m)[:] = 0.0
    state = call_address(
        record.predict,
        (
            space, step, alpha.shape[0], h, alpha, foreseen, q, v, past_q, past_x, past_v, v_next,
            memory,
        ),
    )  # fmt: skip
    if state == OK and record.stabilised != 0 and record.m > 0:
        state = jacobian_at(space, step, t, q, floats_at(record.A_start, record.m * record.width))
    if state == OK:
        state = call_address(
            record.solve_step,
            (space, step, end, h, alpha[0], alpha[0] * alpha[0], q, q_next, v_next),
        )
    if state == OK and not (all_finite(q_next) and all_finite(v_next)):
        state = status(NOT_FINITE, 0)
    x = memory[2 : 2 + record.nv]
    if state == OK:
        powers_at_end(space, step, v_next, powers)
        state = increments(space, step, h, q, q_next, x)
    if state == OK:
        state = look(space, end, q_next, v_next)
    if state != OK:
        assign(made, restore)
        return state
    take_over(
        step, alpha, h, q, v, work, past_q, past_x, past_v, past_work, multipliers, q_next, v_next,
        powers, x,
    )  # fmt: skip
    return OK


@kernel(int64(int64, int64, float64, floats, floats, floats, floats, floats), nogil=True)
def set_multipliers(space, step, t, q, v, multipliers, vdot, powers):
    """Those of a state by its forward dynamics."""
    record = memory_of(step)
    state = place(space, step, t, q, v)
    if state == OK:
        state = consistent_acceleration(space, step, t, q, v, vdot, powers)
    assign(multipliers, floats_at(record.multipliers, record.m))
    return state


@helper
def start_step(
    space, step, A, b, c, t, h, end, q, v, work, past_q, past_x, past_v, past_work, multipliers,
    results, room, q_stage, v_stage, xdot, vdot, powers, memory,
):  # fmt: skip
    """Advance the state by h by a one-step method; nothing of it has changed where that fails."""
    record = memory_of(step)
    nq = record.nq
    nv = record.nv
    before = memory[2 : 2 + nq + nv + 2]
    assign(before[:nq], q)
    assign(before[nq : nq + nv], v)
    assign(before[nq + nv :], work)
    state = call_address(
        record.starting_step,
        (
            space, b.shape[0], t, h, end, A, b, c, q, v, work, results, room, q_stage, v_stage,
            xdot, vdot, powers,
        ),
    )  # fmt: skip
    if state == OK:
        state = set_multipliers(space, step, end, q, v, multipliers, vdot[0], powers[0])
    if state != OK:
        assign(q, before[:nq])
        assign(v, before[nq : nq + nv])
        assign(work, before[nq + nv :])
        return state
    push(past_q, before[:nq])
    push(past_x, vdot[0])
    state = difference_rows(bodies(space), scratch(space), before[:nq], q, past_x[0])
    push(past_v, before[nq : nq + nv])
    push(past_work, before[nq + nv :])
    return state


@kernel(
    int64(
        int64, int64, floats, floats, matrix, floats, floats, float64, float64, int64, int64, int64,
        floats, floats, floats, matrix, matrix, matrix, matrix, floats, floats, floats, floats,
        matrix, floats, matrix, matrix, matrix, floats, typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, step, alpha, foreseen, A, b, c, t0, h, first, steps, save_every,
    q, v, work, past_q, past_x, past_v, past_work, multipliers, started, q_next, v_next, results,
    room, xdot, vdot, powers, memory, saved,
):  # fmt: skip
    """Take `steps` steps from step `first` on; t = t0 + k h, whatever the chunk.

    Writes  the state (q, v, work, the k - 1 before them, the newest first, with the increments
            from each to the next, multipliers, in `started` how many of all k are known, and where
            the matrix was made), saved, q_next and v_next (what
            was evaluated last).
    Memory  results (2, nq + nv + NUM_POWERS), room (nq + nv,), xdot, vdot (s, nv), powers
            (s, NUM_POWERS), memory (nq + 3 nv + 2 NUM_POWERS,).
    Returns OK, or the status of what failed; the state is then that of the last complete step.
    """
    start_count(saved)
    state = have_matrix(space, step)
    if state == OK and started[0] == 0.0:
        start = instant(t0, h, first)
        state = set_multipliers(space, step, start, q, v, multipliers, vdot[0], powers[0])
        started[0] = 1.0 if state == OK else 0.0
    for k in range(first, first + steps):
        if state != OK:
            return state
        t = instant(t0, h, k)
        end = instant(t0, h, k + 1)
        if started[0] < alpha.shape[0] - 1.0:
            state = start_step(
                space, step, A, b, c, t, h, end, q, v, work, past_q, past_x, past_v, past_work,
                multipliers, results, room, q_next, v_next, xdot, vdot, powers, memory,
            )  # fmt: skip
        else:
            state = take_step(
                space, step, alpha, foreseen, t, h, end, q, v, work, past_q, past_x, past_v,
                past_work, multipliers, q_next, v_next, memory,
            )  # fmt: skip
        if state != OK:
            return state
        started[0] = min(started[0] + 1.0, alpha.shape[0] - 1.0)
        saved.counts[TAKEN] += 1
        if (k + 1) % save_every == 0:
            save_constrained(end, State(q, v, work), multipliers, saved)
    return OK
