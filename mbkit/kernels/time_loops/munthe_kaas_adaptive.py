"""The time loop of Runge-Kutta-Munthe-Kaas pairs that choose their steps between grid points."""

import math

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, helper, int64, kernel, matrix, records_at, typed
from mbkit.kernels.explicit.dense_output import between
from mbkit.kernels.explicit.error_control import (
    LEAST,
    MOST_STEPS,
    NEAR,
    error_of_step,
    first_size,
    is_of_numbers,
    ratio_after,
    ratio_rejected,
    turns_too_far,
)
from mbkit.kernels.explicit.stages import (
    HELD_SIZE,
    HELD_STAGES,
    HELD_TIME,
    add_work,
    arrive,
    evaluate_stages,
)
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import INACCURATE, OK, STEP_TOO_SMALL, TOO_MANY, status
from mbkit.kernels.time_loops.records import Saved, State
from mbkit.kernels.time_loops.saving import TAKEN, save, start_count
from mbkit.kernels.time_loops.times import instant
from mbkit.kernels.time_loops.watch import look

#: Where a method is on its way from one grid point to the next.
TIME = 0  # what it has reached
SIZE = 1  # the step that comes next
ERROR = 2  # of the last step, for the controller
STAGE = 3  # where the first stage comes from: EVALUATE, THERE, LAST
REJECTED = 4  # whether the step that comes next is a second attempt
BEGIN = 5  # time, SIZE and ERROR at the grid point before, and the time of that behind
BEGIN_SIZE = 6
BEGIN_ERROR = 7
END = 8
NUM_PROGRESS = 9

EVALUATE = 0.0
THERE = 1.0
LAST = 2.0

#: What an integrator remembers: SIZE and ERROR at a grid point.
MEMORY_SIZE = 0
MEMORY_ERROR = 1


@helper
def parts(row, nq, nv):
    """The state (q, v, work) that lies in one array."""
    return row[:nq], row[nq : nq + nv], row[nq + nv :]


@helper
def copy(source, target):
    """target = source, for states."""
    assign(target[0], source[0])
    assign(target[1], source[1])
    assign(target[2], source[2])


@helper
def last_is_first(space, A, b):
    """Whether the last stage of a step is the first of the next: at its end, if nothing moves it.

    Projection and prescribed joints do.
    """
    record = records_at(space, 1, SPACE)[0]
    if record.project != 0 or record.drive != 0:
        return False
    difference = 0.0
    for j in range(b.shape[0]):
        difference += abs(A[b.shape[0] - 1, j] - b[j])
    return difference == 0.0


@helper
def go_to(space, scheme, pair, control, target, now, held, rates, at, q_next, progress, span):
    """Take steps, one at least, until `target` is reached; the last one before END ends there.

    now is what was reached, held where the last step began; with q_next, w_end, w they are
    changed, and progress and span with them.
    """
    b, b_error, order, reuses, w_end = pair
    rtol, atol, widest, angular, errors = control
    xdot, vdot, powers = rates
    A, c, series = scheme
    x, w, q_stage, v_stage = at
    q, v, _ = now
    stages = b.shape[0]
    end = progress[END]
    least = LEAST * max(abs(progress[BEGIN]), abs(end))
    for _ in range(MOST_STEPS):
        t = progress[TIME]
        size = progress[SIZE]
        rest = end - t
        h = rest if size * NEAR >= rest else min(size, 0.5 * rest)
        stop = end if h == rest else t + h
        if progress[STAGE] == LAST:
            assign(xdot[0], w_end)
            assign(vdot[0], vdot[stages - 1])
            assign(powers[0], powers[stages - 1])
        first = 0 if progress[STAGE] == EVALUATE else 1
        state = evaluate_stages(
            space, A, c, series, first, stages, t, h, q, v, x, w, q_stage, v_stage, xdot, vdot,
            powers,
        )  # fmt: skip
        if state == OK:
            state = arrive(space, b, stages, h, stop, q, v, x, q_stage, v_stage, xdot, vdot, q_next)
        error = math.inf
        if state == OK and not turns_too_far(space, angular, x):
            error = error_of_step(
                space, h, b_error, rates, errors, q, v, q_next, v_stage, rtol, atol
            )
        if error <= 1.0:
            copy(now, held)
            add_work(h, b, powers, stages, now[2])
            assign(q, q_next)
            assign(v, v_stage)
            assign(w_end, w)
            span[HELD_TIME] = t
            span[HELD_SIZE] = h
            span[HELD_STAGES] = stages
            wanted = h * ratio_after(error, progress[ERROR], order, progress[REJECTED] != 0.0)
            progress[SIZE] = min(widest, max(size, wanted) if h < size else wanted)
            progress[ERROR] = max(error, 1e-4)
            progress[STAGE] = LAST if reuses else EVALUATE
            progress[REJECTED] = 0.0
            progress[TIME] = stop
            if stop >= target:
                return OK
        elif state != OK and not is_of_numbers(state):
            return state
        else:
            progress[SIZE] = h * ratio_rejected(error, order)
            progress[STAGE] = THERE if state == OK else EVALUATE
            progress[REJECTED] = 1.0
            if not progress[SIZE] > least:
                return state if state != OK else status(STEP_TOO_SMALL, INACCURATE)
    return status(STEP_TOO_SMALL, TOO_MANY)


@helper
def begin(space, scheme, control, now, rates, at, progress):
    """Set out from a grid point, at BEGIN, with the size that is remembered, if there is one."""
    rtol, atol, widest, _, errors = control
    progress[TIME] = progress[BEGIN]
    progress[SIZE] = progress[BEGIN_SIZE]
    progress[ERROR] = progress[BEGIN_ERROR]
    progress[STAGE] = EVALUATE
    progress[REJECTED] = 0.0
    if progress[SIZE] == 0.0:
        state = evaluate_stages(
            space, scheme[0], scheme[1], scheme[2], 0, 1, progress[BEGIN], 0.0, now[0], now[1],
            at[0], at[1], at[2], at[3], rates[0], rates[1], rates[2],
        )  # fmt: skip
        if state != OK:
            return state
        size = first_size(space, rates, errors, now[0], now[1], rtol, atol)
        progress[SIZE] = min(widest, size)
        progress[ERROR] = 1e-4
        progress[STAGE] = THERE
    return OK


@kernel(
    int64(
        int64, matrix, floats, floats, floats, float64, float64, float64, floats, int64, floats,
        matrix, float64, float64, int64, int64, int64, floats, floats, floats, floats, floats,
        floats, floats, floats, matrix, matrix, matrix, matrix, floats, floats, typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, A, b, b_error, c, rtol, atol, order, angular, truncation, exact, brackets, t0, h, first,
    steps, save_every, q, v, work, remembered, q_stage, v_stage, memory, w, xdot, vdot, powers,
    states, progress, span, saved,
):  # fmt: skip
    """Go from grid point to grid point, t0 + k h, in steps of any size up to h.

    Writes  q, v, work and remembered (the state), rows (of the grid points that are a multiple of
            `save_every`), count (grid points passed, rows written), q_stage and v_stage (what was
            evaluated last), states (at the last grid point but one, where the last step began,
            where it ended), progress, span.
    Memory  memory (nq + 3 d + nv,), and as the loop with steps of one size.
    Returns OK, or the status of what failed; q, v, work are then those of the last grid point.
    """
    nq = q.shape[0]
    nv = v.shape[0]
    d = xdot.shape[1]
    now = parts(states[2], nq, nv)
    rates = (xdot, vdot, powers)
    q_next = memory[:nq]
    at = (memory[nq : nq + d], w, q_stage, v_stage)
    scheme = (A, c, (truncation, exact, brackets))
    w_end = memory[nq + d : nq + 2 * d]
    pair = (b, b_error, order, last_is_first(space, A, b), w_end)
    control = (rtol, atol, h, angular, memory[nq + 2 * d :])
    start_count(saved)
    for k in range(first, first + steps):
        end = instant(t0, h, k + 1)
        progress[BEGIN] = instant(t0, h, k)
        progress[BEGIN_SIZE] = remembered[MEMORY_SIZE]
        progress[BEGIN_ERROR] = remembered[MEMORY_ERROR]
        progress[END] = end
        copy((q, v, work), parts(states[0], nq, nv))
        copy((q, v, work), now)
        state = begin(space, scheme, control, now, rates, at, progress)
        if state == OK:
            held = parts(states[1], nq, nv)
            state = go_to(
                space, scheme, pair, control, end, now, held, rates, at, q_next, progress, span
            )
        if state == OK:
            state = look(space, end, now[0], now[1])
        if state != OK:
            return state
        copy(now, (q, v, work))
        remembered[MEMORY_SIZE] = progress[SIZE]
        remembered[MEMORY_ERROR] = progress[ERROR]
        saved.counts[TAKEN] += 1
        if (k + 1) % save_every == 0:
            save(end, State(q, v, work), saved)
    return OK


@kernel(
    int64(
        int64, matrix, floats, floats, floats, matrix, floats, float64, float64, float64, floats,
        int64, floats, matrix, float64, float64, floats, floats, floats, floats, floats, floats,
        floats, matrix, matrix, matrix, matrix, floats, floats,
    ),
    nogil=True,
)  # fmt: skip
def interpolate(
    space, A, b, b_error, c, b_dense, weights, rtol, atol, order, angular, truncation, exact,
    brackets, h, t, q, v, work, q_stage, v_stage, memory, w, xdot, vdot, powers, states, progress,
    span,
):  # fmt: skip
    """Write the state at t, between the last two grid points; loops are closed there.

    The last step is at hand. For a time before it the steps are taken again, from the grid point
    up to that time; later times go on from there.
    """
    nq = q.shape[0]
    nv = v.shape[0]
    d = xdot.shape[1]
    now = parts(states[2], nq, nv)
    held = parts(states[1], nq, nv)
    rates = (xdot, vdot, powers)
    at = (memory[nq : nq + d], w, q_stage, v_stage)
    scheme = (A, c, (truncation, exact, brackets))
    w_end = memory[nq + d : nq + 2 * d]
    pair = (b, b_error, order, last_is_first(space, A, b), w_end)
    control = (rtol, atol, h, angular, memory[nq + 2 * d :])
    state = OK
    again = t < span[HELD_TIME]
    if again:
        copy(parts(states[0], nq, nv), now)
        state = begin(space, scheme, control, now, rates, at, progress)
    if state == OK and (again or t > progress[TIME]):
        state = go_to(
            space, scheme, pair, control, t, now, held, rates, at, memory[:nq], progress, span
        )
    if state != OK:
        return state
    theta = (t - span[HELD_TIME]) / span[HELD_SIZE]
    return between(space, b_dense, weights, theta, span[HELD_SIZE], t, held, rates, at, q, v, work)
