"""The stages of a Runge-Kutta-Munthe-Kaas step, and what follows them in every explicit step.

Loops that have many arrays keep those that belong together in tuples, and take these apart once:
    series  truncation, exact (d,), brackets (4, d)
    start   q (nq,), v (nv,), work (NUM_POWERS,): the state at the beginning of the step
    rates   xdot (s, d), vdot (s, nv), powers (s, NUM_POWERS): of the stages
    at      x (d,), w (d,), q_stage (nq,), v_stage (nv,): the stage that is evaluated; w is v_stage
            itself where velocities are rates of steps
with d the number of steps on the group.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import call_address, helper, records_at
from mbkit.kernels.configuration import dexp_inv_rows, retract_rows
from mbkit.kernels.equations import close_loops, stage_acceleration
from mbkit.kernels.layout import SPACE
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import NOT_FINITE, OK, status
from mbkit.kernels.validation import all_finite

#: B_k / k!, of the series of dexp^-1_{-x} in brackets with x, with B_1 = 1/2.
SERIES = (1.0, 1 / 2, 1 / 12, 0.0, -1 / 720, 0.0, 1 / 30240)

#: What is known of the last step: when it began, its size, and how many stages were evaluated.
HELD_TIME = 0
HELD_SIZE = 1
HELD_STAGES = 2

#: Instead of a number of brackets: all of them.
ALL = -1


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
def rates_at(space, q, v, w):
    """w = rates of steps at (q, v); w is v itself but for nonholonomic joints."""
    rates = records_at(space, 1, SPACE)[0].rates
    if rates == 0:
        return OK
    return call_address(rates, (space, 0, q, v, v, w))


@helper
def truncated_rates(model, memory, series, x, w, out):
    """out = the series of dexp^-1_{-x} w, whose exact value it is before, where `exact` is 0.

    dexp^-1_{-x} w = w + [x, w]/2 + [x, [x, w]]/12 - [x, [x, [x, [x, w]]]]/720 + ...
    Its part that is odd in x is the first bracket alone: [x, w] = dexp^-1_{-x} w - dexp^-1_x w.
    Source: Hairer, Lubich, Wanner 2006, (III.4.10) and IV.7.
    """
    truncation, exact, brackets = series
    back = brackets[0]
    term = brackets[1]
    for j in range(x.shape[0]):
        back[j] = -x[j]
        term[j] = w[j]
        if exact[j] == 0.0:
            out[j] = w[j]
    for k in range(1, truncation + 1):
        state = dexp_inv_rows(model, memory, x, term, brackets[2])
        if state == OK:
            state = dexp_inv_rows(model, memory, back, term, brackets[3])
        if state != OK:
            return state
        for j in range(x.shape[0]):
            term[j] = brackets[2, j] - brackets[3, j]
            if exact[j] == 0.0:
                out[j] += SERIES[k] * term[j]
    return OK


@helper
def evaluate_stages(
    space, A, c, series, first, last, t, h, q, v, x, w, q_stage, v_stage, xdot, vdot, powers
):  # fmt: skip
    """Evaluate the stages from `first` to before `last`.

    Stage i, in coordinates x of the group about q:
        x_i = h sum_j a_ij k_j,   q_i = q exp(x_i),   v_i = v + h sum_j a_ij l_j,
        k_i = dexp^-1_{-x_i} w_i,   l_i = vdot(t + c_i h, q_i, v_i),
    with the rates w_i of steps at (q_i, v_i).
    Source: Munthe-Kaas 1999, algorithm 3.1; Hairer, Lubich, Wanner 2006, IV.8.
    """
    model = bodies(space)
    memory = scratch(space)
    nv = v.shape[0]
    rates = records_at(space, 1, SPACE)[0].rates
    truncated = series[0] != ALL
    for i in range(first, last):
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
        if state == OK and truncated:
            state = truncated_rates(model, memory, series, x, w, xdot[i])
        if state == OK:
            state = stage_acceleration(space, i, t + c[i] * h, q_stage, v_stage, vdot[i], powers[i])
        if state != OK:
            return state
    return OK


@helper
def combine_velocities(h, weights, vdot, count, v, out):
    """out = v + h (w_1 l_1 + ... + w_count l_count)."""
    combine(h, weights, vdot, count, out)
    for j in range(v.shape[0]):
        out[j] += v[j]


@helper
def settle(space, t, q_next, v_next, q_stage):
    """Look whether the end of a step is finite, and bring it back to the constraints."""
    if not (all_finite(q_next) and all_finite(v_next)):
        assign(q_stage, q_next)
        return status(NOT_FINITE, 0)
    return close_loops(space, t, q_next, v_next)


@helper
def arrive(space, b, count, h, end, q, v, x, q_stage, v_stage, xdot, vdot, q_next):
    """Write q exp(h sum b_i k_i) to q_next and v + h sum b_i l_i to v_stage; close loops there."""
    combine(h, b, xdot, count, x)
    state = retract_rows(bodies(space), scratch(space), q, x, q_next)
    if state != OK:
        return state
    combine_velocities(h, b, vdot, count, v, v_stage)
    return settle(space, end, q_next, v_stage, q_stage)


@helper
def add_work(h, weights, powers, count, work):
    """work += h (w_1 p_1 + ... + w_count p_count)."""
    for i in range(count):
        for j in range(work.shape[0]):
            work[j] += h * weights[i] * powers[i, j]
