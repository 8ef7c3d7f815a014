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
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.configuration import difference_rows
from mbkit.kernels.elementary import any_lane
from mbkit.kernels.explicit_integrators.stages import copy
from mbkit.kernels.implicit_integrators.layout import FORMULA, MOST_STEPS
from mbkit.kernels.implicit_integrators.newton_matrix import note_made, restore_made
from mbkit.kernels.implicit_integrators.residual import jacobian_at, place, powers_at_end
from mbkit.kernels.implicit_integrators.retraction_differential import add_turned, set_differential
from mbkit.kernels.implicit_integrators.starting_values import consistent_acceleration
from mbkit.kernels.implicit_integrators.step_memory import flags_at, matrix_at, memory_of
from mbkit.kernels.layout import NUM_POWERS, SCREW
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.implicit_steps import state_of
from mbkit.kernels.time_loops.multistep_history import push
from mbkit.kernels.time_loops.records import State
from mbkit.kernels.workspace import bodies, scratch_of


@helper
def coordinates(space, step, method, i, x):
    """x_i about q_n into x; where positions add, or without G, the increments since, negative.

    A difference of positions has their rounding, which is divided by h twice; increments have none.
    """
    record = memory_of(step)
    own = records_at(method, 1, FORMULA)[0]
    model = bodies(space)
    summed = record.gain == 0
    sum_x = floats_at(own.sum_x, record.nv)
    status = OK
    if not summed:
        q = floats_at(record.q, record.nq)
        past_q = matrix_at(own.past_q, own.num_past, record.nq)
        status = difference_rows(model, scratch_of(space), q, past_q[i - 2], x)
    past_x = matrix_at(own.past_x, own.num_past, record.nv)
    for j in range(x.shape[0]):
        sum_x[j] -= past_x[i - 2, j]
        if summed:
            x[j] = sum_x[j]
    for b in range(1, model.shape[0]):
        if adds(model[b]):
            for j in range(model[b].first_step, model[b].first_step + model[b].ndx):
                x[j] = sum_x[j]
    return status


@helper
def adds(row):
    """Whether the positions of a joint add."""
    return row.kind == SCREW or (row.retract == 0 and row.difference == 0)


@helper
def increments(space, step, h, x):
    """The step from q to q_next into x; that which was solved for where positions add."""
    record = memory_of(step)
    model = bodies(space)
    q = floats_at(record.q, record.nq)
    D = floats_at(record.D, record.nv)
    prescribed = flags_at(record.prescribed, record.nv)
    status = difference_rows(model, scratch_of(space), q, floats_at(record.q_next, record.nq), x)
    for b in range(1, model.shape[0]):
        if adds(model[b]):
            for j in range(model[b].first_step, model[b].first_step + model[b].ndx):
                if prescribed[j] == 0:
                    x[j] = h * D[j]
    return status


@address_kernel("iiid")
def predict(space, step, method, h):
    """D as the polynomial through the steps before has it, and v, vdot, G that go with it."""
    record = memory_of(step)
    own = records_at(method, 1, FORMULA)[0]
    nv = record.nv
    alpha = floats_at(own.coefficients, own.steps + 1)
    foreseen = floats_at(own.foreseen, own.steps)
    past_v = matrix_at(own.past_v, own.num_past, nv)
    v = floats_at(record.v, nv)
    v_next = floats_at(record.v_next, nv)
    rate = floats_at(own.rate, nv)
    x = floats_at(own.x, nv)
    D = floats_at(record.D, nv)
    vdot = floats_at(record.vdot, nv)
    floats_at(own.sum_x, nv)[:] = 0.0
    for j in range(nv):
        D[j] = foreseen[0] * v[j]
        rate[j] = 0.0
    for i in range(2, alpha.shape[0]):
        status = coordinates(space, step, method, i, x)
        if status != OK:
            return status
        for j in range(nv):
            D[j] += foreseen[i - 1] * x[j] / h
            rate[j] += alpha[i] * x[j] / h
    for j in range(nv):
        rate[j] += alpha[0] * D[j]
    if record.gain == 0:
        assign(v_next, rate)
    else:
        status = set_differential(space, step, h, D)
        if status != OK:
            return status
        size = nv * MOST_STEPS
        assign(floats_at(record.gain, size), floats_at(record.differential, size))
        v_next[:] = 0.0
        add_turned(space, matrix_at(record.gain, nv, MOST_STEPS), rate, 1.0, v_next)
    for j in range(nv):
        vdot[j] = alpha[0] * v_next[j] + alpha[1] * v[j]
        for i in range(2, alpha.shape[0]):
            vdot[j] += alpha[i] * past_v[i - 2, j]
        vdot[j] /= h
    return OK


@helper
def push_state(own, state, x):
    """Put a state, and the increments from it, before those of earlier steps."""
    nv = x.shape[0]
    push(matrix_at(own.past_q, own.num_past, state.q.shape[0]), state.q)
    push(matrix_at(own.past_x, own.num_past, nv), x)
    push(matrix_at(own.past_v, own.num_past, nv), state.v)
    push(matrix_at(own.past_work, own.num_past, NUM_POWERS), state.work)


@helper
def take_over(step, method, h):
    """The end of a step becomes the state; the work done follows by the same formula."""
    record = memory_of(step)
    own = records_at(method, 1, FORMULA)[0]
    state = state_of(step)
    work = state.work
    alpha = floats_at(own.coefficients, own.steps + 1)
    powers = floats_at(own.powers, NUM_POWERS)
    past_work = matrix_at(own.past_work, own.num_past, NUM_POWERS)
    for j in range(NUM_POWERS):
        total = h * powers[j] - alpha[1] * work[j]
        for i in range(2, alpha.shape[0]):
            total -= alpha[i] * past_work[i - 2, j]
        powers[j] = total / alpha[0]
    push_state(own, state, floats_at(own.x, record.nv))
    assign(state.q, floats_at(record.q_next, record.nq))
    assign(state.v, floats_at(record.v_next, record.nv))
    assign(work, powers)
    assign(floats_at(own.multipliers, record.m), floats_at(record.multipliers, record.m))


@helper
def multistep(space, step, method, t, h, end):
    """Advance the state by h, to the time `end`; nothing of it has changed where that fails."""
    record = memory_of(step)
    own = records_at(method, 1, FORMULA)[0]
    q_next = floats_at(record.q_next, record.nq)
    v_next = floats_at(record.v_next, record.nv)
    note_made(step)
    assign(floats_at(record.multipliers, record.m), floats_at(own.multipliers, record.m))
    floats_at(record.eta, record.m)[:] = 0.0
    status = call_address(record.predict, (space, step, method, h))
    if status == OK and record.stabilised != 0 and record.m > 0:
        A_start = floats_at(record.A_start, record.m * record.width)
        status = jacobian_at(space, record, t, floats_at(record.q, record.nq), A_start)
    if status == OK:
        gain = floats_at(own.coefficients, 1)[0]
        status = call_address(record.solve_step, (space, step, end, h, gain, gain * gain))
    if status == OK:
        powers_at_end(space, step, v_next, floats_at(own.powers, NUM_POWERS))
        status = increments(space, step, h, floats_at(own.x, record.nv))
    if status == OK:
        status = look(space, end, q_next, v_next)
    if status != OK:
        restore_made(step)
        return status
    take_over(step, method, h)
    return OK


@helper
def set_multipliers(space, step, method, t):
    """Those of the state by its forward dynamics."""
    record = memory_of(step)
    own = records_at(method, 1, FORMULA)[0]
    q = floats_at(record.q, record.nq)
    v = floats_at(record.v, record.nv)
    status = place(space, step, t, q, v)
    if status == OK:
        x = floats_at(own.x, record.nv)
        powers = floats_at(own.powers, NUM_POWERS)
        status = consistent_acceleration(space, step, t, q, v, x, powers)
    assign(floats_at(own.multipliers, record.m), floats_at(record.multipliers, record.m))
    return status


@helper
def one_step(space, step, method, t, h, end):
    """The same by a one-step method."""
    record = memory_of(step)
    own = records_at(method, 1, FORMULA)[0]
    x = floats_at(own.x, record.nv)
    state = state_of(step)
    before = State(
        floats_at(own.q_before, record.nq), floats_at(own.v_before, record.nv),
        floats_at(own.work_before, NUM_POWERS),
    )  # fmt: skip
    copy(state, before)
    status = call_address(record.starting_step, (space, own.starting, t, h, end))
    if status == OK:
        status = set_multipliers(space, step, method, end)
    if status != OK:
        copy(before, state)
        return status
    status = difference_rows(bodies(space), scratch_of(space), before.q, state.q, x)
    push_state(own, before, x)
    return status


@helper
def advance_state(space, step, method, t, h, end):
    """Advance the state by h, by the formula as soon as there are enough steps before."""
    own = records_at(method, 1, FORMULA)[0]
    known = floats_at(own.started, 1)
    enough = float(own.steps)
    if any_lane(known[0] == 0.0):  # in all samples
        status = set_multipliers(space, step, method, t)
        if status != OK:
            return status
        known[0] = 1.0
    if any_lane(known[0] < enough):
        status = one_step(space, step, method, t, h, end)
    else:
        status = multistep(space, step, method, t, h, end)
    if status == OK:
        known[0] = min(known[0] + 1.0, enough)
    return status


@address_kernel("iiiddd")
def take_step(space, step, method, t, h, end):
    """The same, by address."""
    return advance_state(space, step, method, t, h, end)


def step_in_lanes(space, method, t, h, end, _memory):
    """One step of several runs side by side: see `time_loops.fixed_steps_in_lanes`."""
    step = records_at(method, 1, FORMULA)[0].step
    return advance_state(space, step, method, t, h, end)
