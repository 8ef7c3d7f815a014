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

from typing import NamedTuple

import numpy as np

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    call_address,
    floats,
    floats_at,
    helper,
    int64,
    kernel,
    matrix,
    records_at,
    typed,
)
from mbkit.kernels.configuration import difference_rows
from mbkit.kernels.implicit.differential import add_turned, set_differential
from mbkit.kernels.implicit.layout import MOST_STEPS
from mbkit.kernels.implicit.matrix import note_made, restore_made
from mbkit.kernels.implicit.residual import jacobian_at, place, powers_at_end
from mbkit.kernels.implicit.space import flags_at, memory_of, rows_at
from mbkit.kernels.implicit.start import consistent_acceleration
from mbkit.kernels.layout import NUM_POWERS, SCREW
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.implicit_steps import take_steps
from mbkit.kernels.time_loops.past import push
from mbkit.kernels.time_loops.records import Grid, Saved
from mbkit.kernels.time_loops.watch import look

#: What the method has beside the memory of its step: the number k of its steps, and, by address,
#: coefficients, memory, scratch, and a `STARTING` record.
FORMULA = np.dtype(
    [
        (name, np.int64)
        for name in (
            "steps", "coefficients", "foreseen",
            "past_q", "past_x", "past_v", "past_work", "multipliers", "started",
            "powers", "x", "sum_x", "rate", "q_before", "v_before", "work_before",
            "starting",
        )
    ]
)  # fmt: skip


class Formula(NamedTuple):
    """The method in a run, opened by `formula_of`."""

    address: int64
    alpha: floats  # k + 1
    foreseen: floats  # k
    # the state: that of now, and the k - 1 before it, the newest first
    q: floats
    v: floats
    work: floats
    past_q: matrix
    past_x: matrix  # increments from each to the next
    past_v: matrix
    past_work: matrix
    multipliers: floats
    started: floats  # how many of all k are known
    # the end of a step
    q_next: floats
    v_next: floats
    powers: floats
    # scratch
    x: floats  # nv
    sum_x: floats  # nv
    rate: floats  # nv
    q_before: floats
    v_before: floats
    work_before: floats


@helper
def formula_of(step, method):
    """The method, from its address."""
    record = memory_of(step)
    own = records_at(method, 1, FORMULA)[0]
    nq = record.nq
    nv = record.nv
    past = max(1, own.steps - 1)
    return Formula(
        address=method,
        alpha=floats_at(own.coefficients, own.steps + 1),
        foreseen=floats_at(own.foreseen, own.steps),
        q=floats_at(record.q, nq),
        v=floats_at(record.v, nv),
        work=floats_at(record.work, NUM_POWERS),
        past_q=rows_at(own.past_q, past, nq),
        past_x=rows_at(own.past_x, past, nv),
        past_v=rows_at(own.past_v, past, nv),
        past_work=rows_at(own.past_work, past, NUM_POWERS),
        multipliers=floats_at(own.multipliers, record.m),
        started=floats_at(own.started, 1),
        q_next=floats_at(record.q_next, nq),
        v_next=floats_at(record.v_next, nv),
        powers=floats_at(own.powers, NUM_POWERS),
        x=floats_at(own.x, nv),
        sum_x=floats_at(own.sum_x, nv),
        rate=floats_at(own.rate, nv),
        q_before=floats_at(own.q_before, nq),
        v_before=floats_at(own.v_before, nv),
        work_before=floats_at(own.work_before, NUM_POWERS),
    )


@helper
def coordinates(space, step, formula, i):
    """x_i about q_n into x; where positions add, or without G, the increments since, negative.

    A difference of positions has their rounding, which is divided by h twice; increments have none.
    """
    model = bodies(space)
    summed = memory_of(step).gain == 0
    x = formula.x
    sum_x = formula.sum_x
    code = OK
    if not summed:
        code = difference_rows(model, scratch(space), formula.q, formula.past_q[i - 2], x)
    for j in range(x.shape[0]):
        sum_x[j] -= formula.past_x[i - 2, j]
        if summed:
            x[j] = sum_x[j]
    for b in range(1, model.shape[0]):
        if adds(model[b]):
            for j in range(model[b].first_step, model[b].first_step + model[b].ndx):
                x[j] = sum_x[j]
    return code


@helper
def adds(row):
    """Whether the positions of a joint add."""
    return row.kind == SCREW or (row.retract == 0 and row.difference == 0)


@helper
def increments(space, step, h, formula):
    """The step from q to q_next into x; that which was solved for where positions add."""
    record = memory_of(step)
    model = bodies(space)
    x = formula.x
    D = floats_at(record.D, record.nv)
    prescribed = flags_at(record.prescribed, record.nv)
    code = difference_rows(model, scratch(space), formula.q, formula.q_next, x)
    for b in range(1, model.shape[0]):
        if adds(model[b]):
            for j in range(model[b].first_step, model[b].first_step + model[b].ndx):
                if prescribed[j] == 0:
                    x[j] = h * D[j]
    return code


@address_kernel("iiid")
def predict(space, step, method, h):
    """D as the polynomial through the steps before has it, and v, vdot, G that go with it."""
    record = memory_of(step)
    formula = formula_of(step, method)
    nv = record.nv
    alpha = formula.alpha
    v = formula.v
    v_next = formula.v_next
    rate = formula.rate
    D = floats_at(record.D, nv)
    vdot = floats_at(record.vdot, nv)
    formula.sum_x[:] = 0.0
    for j in range(nv):
        D[j] = formula.foreseen[0] * v[j]
        rate[j] = 0.0
    for i in range(2, alpha.shape[0]):
        code = coordinates(space, step, formula, i)
        if code != OK:
            return code
        for j in range(nv):
            D[j] += formula.foreseen[i - 1] * formula.x[j] / h
            rate[j] += alpha[i] * formula.x[j] / h
    for j in range(nv):
        rate[j] += alpha[0] * D[j]
    if record.gain == 0:
        assign(v_next, rate)
    else:
        code = set_differential(space, step, h, D)
        if code != OK:
            return code
        size = nv * MOST_STEPS
        assign(floats_at(record.gain, size), floats_at(record.differential, size))
        v_next[:] = 0.0
        add_turned(space, rows_at(record.gain, nv, MOST_STEPS), rate, 1.0, v_next)
    for j in range(nv):
        vdot[j] = alpha[0] * v_next[j] + alpha[1] * v[j]
        for i in range(2, alpha.shape[0]):
            vdot[j] += alpha[i] * formula.past_v[i - 2, j]
        vdot[j] /= h
    return OK


@helper
def take_over(step, formula, h):
    """The end of a step becomes the state; the work done follows by the same formula."""
    record = memory_of(step)
    alpha = formula.alpha
    work = formula.work
    powers = formula.powers
    for j in range(NUM_POWERS):
        total = h * powers[j] - alpha[1] * work[j]
        for i in range(2, alpha.shape[0]):
            total -= alpha[i] * formula.past_work[i - 2, j]
        powers[j] = total / alpha[0]
    push(formula.past_q, formula.q)
    push(formula.past_x, formula.x)
    push(formula.past_v, formula.v)
    push(formula.past_work, work)
    assign(formula.q, formula.q_next)
    assign(formula.v, formula.v_next)
    assign(work, powers)
    assign(formula.multipliers, floats_at(record.multipliers, record.m))


@helper
def multistep(space, step, formula, t, h, end):
    """Advance the state by h, to the time `end`; nothing of it has changed where that fails."""
    record = memory_of(step)
    alpha = formula.alpha
    note_made(step)
    assign(floats_at(record.multipliers, record.m), formula.multipliers)
    floats_at(record.eta, record.m)[:] = 0.0
    code = call_address(record.predict, (space, step, formula.address, h))
    if code == OK and record.stabilised != 0 and record.m > 0:
        A_start = floats_at(record.A_start, record.m * record.width)
        code = jacobian_at(space, step, t, formula.q, A_start)
    if code == OK:
        code = call_address(record.solve_step, (space, step, end, h, alpha[0], alpha[0] * alpha[0]))
    if code == OK:
        powers_at_end(space, step, formula.v_next, formula.powers)
        code = increments(space, step, h, formula)
    if code == OK:
        code = look(space, end, formula.q_next, formula.v_next)
    if code != OK:
        restore_made(step)
        return code
    take_over(step, formula, h)
    return OK


@helper
def set_multipliers(space, step, formula, t):
    """Those of the state by its forward dynamics."""
    record = memory_of(step)
    code = place(space, step, t, formula.q, formula.v)
    if code == OK:
        code = consistent_acceleration(
            space, step, t, formula.q, formula.v, formula.x, formula.powers
        )
    assign(formula.multipliers, floats_at(record.multipliers, record.m))
    return code


@helper
def one_step(space, step, formula, t, h, end):
    """The same by a one-step method."""
    record = memory_of(step)
    assign(formula.q_before, formula.q)
    assign(formula.v_before, formula.v)
    assign(formula.work_before, formula.work)
    code = call_address(
        record.starting_step,
        (space, records_at(formula.address, 1, FORMULA)[0].starting, t, h, end),
    )
    if code == OK:
        code = set_multipliers(space, step, formula, end)
    if code != OK:
        assign(formula.q, formula.q_before)
        assign(formula.v, formula.v_before)
        assign(formula.work, formula.work_before)
        return code
    push(formula.past_q, formula.q_before)
    push(formula.past_x, formula.x)
    x = formula.past_x[0]
    code = difference_rows(bodies(space), scratch(space), formula.q_before, formula.q, x)
    push(formula.past_v, formula.v_before)
    push(formula.past_work, formula.work_before)
    return code


@helper
def take_step(space, step, formula, t, h, end):
    """Advance the state by h, by the formula as soon as there are enough steps before."""
    known = formula.started
    enough = formula.alpha.shape[0] - 1.0
    if known[0] == 0.0:
        code = set_multipliers(space, step, formula, t)
        if code != OK:
            return code
        known[0] = 1.0
    if known[0] < enough:
        code = one_step(space, step, formula, t, h, end)
    else:
        code = multistep(space, step, formula, t, h, end)
    if code == OK:
        known[0] = min(known[0] + 1.0, enough)
    return code


@kernel(int64(int64, int64, int64, typed(Grid), typed(Saved)), nogil=True)
def advance(space, step, method, grid, saved):
    """Take the steps of the grid; see `take_steps`.

    step    an `IMPLICIT` record, method a `FORMULA` one, by address
    """
    return take_steps(take_step, space, step, formula_of(step, method), grid, saved)
