"""The stages of a Runge-Kutta-Munthe-Kaas step, and the end of every explicit step.

Sizes of arrays: d the dimension of steps on the group, s the number of stages.
"""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    call_address,
    floats,
    helper,
    int64,
    matrix,
    records_at,
    typed,
)
from mbkit.kernels.configuration import dexp_inv_rows, retract_rows
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.equations_of_motion import choose_rows, close_loops, stage_acceleration
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import NOT_FINITE, OK, failure
from mbkit.kernels.time_loops.records import State
from mbkit.kernels.validation import all_finite
from mbkit.kernels.workspace import bodies, scratch_of

#: B_k / k!, of the series of dexp^-1_{-x} in brackets with x, with B_1 = 1/2.
SERIES = (1.0, 1 / 2, 1 / 12, 0.0, -1 / 720, 0.0, 1 / 30240)

#: What is known of the last step: when it began, its size, and how many stages were evaluated.
HELD_TIME = 0
HELD_SIZE = 1
HELD_STAGES = 2

#: Instead of a number of brackets: all of them.
ALL = -1


class Series(NamedTuple):
    """The inverse differential: how many brackets of its series are kept, and memory for them."""

    truncation: int64  # or ALL
    exact: floats  # (d,), 0 for entries that have the series, if it ends
    brackets: matrix  # (4, d)


class Scheme(NamedTuple):
    """A Runge-Kutta-Munthe-Kaas method.

    A step needs as many stages as there are weights; what A and c have beyond is for dense output.
    """

    A: matrix
    b: floats
    c: floats
    series: typed(Series)


class Stages(NamedTuple):
    """Rates at the stages of a step, the stage that is evaluated, and where the step ends."""

    xdot: matrix  # (s, d)
    vdot: matrix  # (s, nv)
    powers: matrix  # (s, NUM_POWERS)
    x: floats  # (d,), coordinates about the start of the step
    w: floats  # (d,), rates of steps: v itself where velocities are these
    q: floats  # (nq,)
    v: floats  # (nv,), and behind the last stage the velocity at the end
    q_end: floats  # (nq,)


class LastStep(NamedTuple):
    """The step that was taken last, for dense output."""

    start: typed(State)
    span: floats  # HELD_TIME, HELD_SIZE, HELD_STAGES


class DenseOutput(NamedTuple):
    """Weights within a step: polynomials of the fraction theta of it, without a constant."""

    b: matrix  # (s, degree), coefficients of theta, theta^2, ...
    weights: floats  # (s,), memory


@helper
def combine(h, weights, stages, count, out):
    """out = h (w_1 s_1 + ... + w_count s_count)."""
    out[:] = 0.0
    for i in range(count):
        weight = h * weights[i]
        if any_lane(weight != 0.0):  # most are zero
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
    exact = series.exact
    brackets = series.brackets
    back = brackets[0]
    term = brackets[1]
    for j in range(x.shape[0]):
        back[j] = -x[j]
        term[j] = w[j]
        if exact[j] == 0.0:
            out[j] = w[j]
    for k in range(1, series.truncation + 1):
        status = dexp_inv_rows(model, memory, x, term, brackets[2])
        if status == OK:
            status = dexp_inv_rows(model, memory, back, term, brackets[3])
        if status != OK:
            return status
        for j in range(x.shape[0]):
            term[j] = brackets[2, j] - brackets[3, j]
            if exact[j] == 0.0:
                out[j] += SERIES[k] * term[j]
    return OK


@helper
def step_rates(model, memory, series, x, w, out):
    """out = dexp^-1_{-x} w, or the terms of its series that the method uses."""
    status = dexp_inv_rows(model, memory, x, w, out)
    if status == OK and series.truncation != ALL:
        status = truncated_rates(model, memory, series, x, w, out)
    return status


@helper
def evaluate_stages(space, scheme, step, start, stages, first, last):
    """Evaluate the stages from `first` to before `last`; the step begins at stage 0."""
    for i in range(first, last):
        status = evaluate_stage(space, scheme, step, start, stages, i)
        if status != OK:
            return status
        if i == 0:
            choose_rows(space, True)
    return OK


@helper
def evaluate_stage(space, scheme, step, start, stages, i):
    """Evaluate a stage, in coordinates x of the group about q.

        x_i = h sum_j a_ij k_j,   q_i = q exp(x_i),   v_i = v + h sum_j a_ij l_j,
        k_i = dexp^-1_{-x_i} w_i,   l_i = vdot(t + c_i h, q_i, v_i),
    with the rates w_i of steps at (q_i, v_i).
    Source: Munthe-Kaas 1999, algorithm 3.1; Hairer, Lubich, Wanner 2006, IV.8.
    """
    A, _, c, series = scheme
    xdot, vdot, powers, x, w, q, v, _ = stages
    model = bodies(space)
    memory = scratch_of(space)
    rates = records_at(space, 1, SPACE)[0].rates
    combine(step.h, A[i], xdot, i, x)
    combine_velocities(step.h, A[i], vdot, i, start.v, v)
    status = OK
    if i == 0:  # x = 0
        assign(q, start.q)
    else:
        status = retract_rows(model, memory, start.q, x, q)
    if status == OK and rates != 0:
        status = call_address(rates, (space, 0, q, v, v, w))
    if i == 0:
        assign(xdot[0], w)
    elif status == OK:
        status = step_rates(model, memory, series, x, w, xdot[i])
    if status == OK:
        status = stage_acceleration(space, i, step.t + c[i] * step.h, q, v, vdot[i], powers[i])
    return status


@helper
def combine_velocities(h, weights, vdot, count, v, out):
    """out = v + h (w_1 l_1 + ... + w_count l_count)."""
    combine(h, weights, vdot, count, out)
    for j in range(v.shape[0]):
        out[j] += v[j]


@helper
def arrive(space, weights, end, h, start, stages):
    """Let a step end at q exp(h sum b_i k_i) and v + h sum b_i l_i; close loops there."""
    count = weights.shape[0]
    combine(h, weights, stages.xdot, count, stages.x)
    status = retract_rows(bodies(space), scratch_of(space), start.q, stages.x, stages.q_end)
    if status != OK:
        return status
    combine_velocities(h, weights, stages.vdot, count, start.v, stages.v)
    return settle(space, end, stages)


@helper
def settle(space, end, stages):
    """Look whether the end of a step is finite, and bring it back to the constraints."""
    if not (all_finite(stages.q_end) and all_finite(stages.v)):
        assign(stages.q, stages.q_end)
        return failure(NOT_FINITE, 0)
    return close_loops(space, end, stages.q_end, stages.v)


@helper
def copy(source, target):
    """target = source, for states."""
    assign(target.q, source.q)
    assign(target.v, source.v)
    assign(target.work, source.work)


@helper
def copy_where(condition, source, target):
    """The same in those of several runs side by side for which a condition holds."""
    assign_where(condition, target.q, source.q)
    assign_where(condition, target.v, source.v)
    assign_where(condition, target.work, source.work)


@helper
def assign_where(condition, target, source):
    """target = source where a condition holds."""
    for i in range(target.shape[0]):
        target[i] = select(condition, source[i], target[i])


@helper
def keep(step, count, state, last):
    """Keep for dense output that a step of so many stages begins at the state."""
    copy(state, last.start)
    last.span[HELD_TIME] = step.t
    last.span[HELD_SIZE] = step.h
    last.span[HELD_STAGES] = count


@helper
def take_over(weights, h, stages, state):
    """The end of a step becomes the state; the work done follows with the same weights."""
    assign(state.q, stages.q_end)
    assign(state.v, stages.v)
    add_work(h, weights, stages.powers, state.work)


@helper
def add_work(h, weights, powers, work):
    """work += h (w_1 p_1 + w_2 p_2 + ...)."""
    for i in range(weights.shape[0]):
        for j in range(work.shape[0]):
            work[j] += h * weights[i] * powers[i, j]
