"""The time loop of the generalized-alpha method with an adaptive step size between grid points.

a_n stands for the acceleration at t_n + (am - af) h, and in index 3 v_n is off its constraints by
l, which is O(h^2): where the step changes, a is brought to the new one by the rate of vdot over the
last step, and l by its h^2. So positions, velocities and multipliers keep their order.
"""

import math
from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, floats_at, helper, int64, kernel, typed
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.explicit_integrators.stages import assign_where
from mbkit.kernels.explicit_integrators.step_size import (
    LEAST,
    LEAST_ERROR,
    MOST_STEPS,
    REJECTIONS,
    first_size,
    is_of_numbers,
    larger,
    next_size,
    next_step,
    norm,
    turns_too_far,
)
from mbkit.kernels.implicit_integrators.layout import VALID
from mbkit.kernels.implicit_integrators.residual import place, rates_at
from mbkit.kernels.implicit_integrators.starting_values import add_least, consistent_acceleration
from mbkit.kernels.implicit_integrators.step_memory import fails, flags_at, memory_of
from mbkit.kernels.status import (
    INACCURATE,
    LARGEST_ERROR,
    NOT_CONVERGED,
    OK,
    SINGULAR_STEP,
    STEP_TOO_SMALL,
    TOO_MANY,
    UNSOLVED,
    code_of,
    failure,
)
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.generalized_alpha import (
    ALPHA_F,
    ALPHA_M,
    BETA,
    GAMMA,
    alpha_of,
    error_of_increment,
    go_to_end,
    put_aside,
    take_back,
    take_over,
)
from mbkit.kernels.time_loops.implicit_steps import take_steps
from mbkit.kernels.time_loops.records import Grid, Saved

#: What is remembered of the steps.
SIZE = 0  # of the step that comes next
ERROR = 1  # of the last step
LAST = 2  # the size of the last step, 0 at a start
MEANT = 3  # the size of the step that a stands for
NUM_SIZES = 4

#: Errors of a step are O(h^3).
LOCAL_ORDER = 3.0


class StepSize(NamedTuple):
    """The choice of step sizes: tolerances, what is remembered, scratch."""

    rtol: float64
    atol: float64
    angular: floats  # nv: 1 where an entry is an angle
    # the state
    rate: floats  # nv: of vdot
    sizes: floats  # NUM_SIZES
    # scratch
    errors: floats  # 2 nv: of h D and of v
    kept: floats  # as long as the state: that of the last grid point
    counts: floats  # 2: of these REJECTIONS


@helper
def parts_of(step, alpha, choice):
    """All arrays that a step changes."""
    record = memory_of(step)
    return (
        alpha.q, alpha.v, alpha.work, alpha.a, alpha.vdot, alpha.multipliers, alpha.eta,
        alpha.powers, alpha.started, alpha.change, choice.rate, choice.sizes,
        floats_at(record.made_at, record.num_made),
    )  # fmt: skip


@helper
def change_size(space, step, alpha, choice, t, h):
    """Let a, and the rows of v in index 3, stand for a step of size h.

    In index 3 A v + g_t is A l but for O(h_old^3), with l of `error_of_increment`, h^2 by what the
    motion is. It is made (h / h_old)^2 of what it is. Were only A l(h) - A l(h_old) added, the
    O(h_old^3) would stay, and be divided by h in the multipliers, without bounds where steps are
    rejected. Were it made A l, what vdot is off would come back into it, and grow.
    """
    record = memory_of(step)
    c = alpha.c
    old = choice.sizes[MEANT]
    changes = (alpha.started[0] != 0.0) & (h != old)
    choice.sizes[MEANT] = h
    if not any_lane(changes):
        return OK
    ratio = h / select(changes, old, h)
    for j in range(record.nv):
        a = alpha.a[j]
        a += (c[ALPHA_M] - c[ALPHA_F]) * (h - old) * choice.rate[j]
        alpha.a[j] = select(changes, a, alpha.a[j])
        alpha.change[j] *= ratio
    if record.stabilised != 0 or record.m == 0:
        return OK
    v = alpha.v_n
    assign(v, alpha.v)
    alpha.wanted[:] = 0.0
    status = place(space, step, t, alpha.q, v)
    if status == OK:
        status = rates_at(space, step, t, alpha.q, v)
    if status != OK:
        return status
    square = ratio * ratio
    status = add_least(space, step, t, alpha.q, v, alpha.wanted, 1.0 - square)
    assign_where(changes, alpha.v, v)
    return status


@helper
def error_of_step(space, step, alpha, choice, h):
    """A status; the norm of the errors of h D, in the algebra, and of v.

    Infinite where the step turns too far.

    With e = a_n - vdot_n - (am - af) (vdot_{n+1} - vdot_n), what a_n is off, the step is

        v_{n+1} = v_n + h (vdot_n + vdot_{n+1}) / 2 + h (1 - am - gamma) / (1 - am) e,

    the trapezoidal rule, which misses -h^3 v''' / 12, and what a is off; likewise the increment.
    e is O(h^2), and O(1) after a jump of forces, from where it falls by -am / (1 - am) a step.
    h^3 v''' is the difference of the rates of vdot in this step and the last one, whose middles are
    half of both away from each other.
    """
    record = memory_of(step)
    nv = record.nv
    c = alpha.c
    vdot = alpha.vdot
    dx = choice.errors[:nv]
    dv = choice.errors[nv:]
    D = floats_at(record.D, nv)
    vdot_next = floats_at(record.vdot, nv)
    for j in range(nv):
        dx[j] = h * D[j]
        dv[j] = vdot_next[j] - vdot[j]
    is_too_far = turns_too_far(space, choice.angular, dx)
    status = error_of_increment(space, alpha, h, alpha.v, dv, dx)
    prescribed = flags_at(record.prescribed, nv)
    third = 2.0 * h * h / (h + choice.sizes[LAST])
    lag = c[ALPHA_M] - c[ALPHA_F]
    in_v = (1.0 - c[ALPHA_M] - c[GAMMA]) / (1.0 - c[ALPHA_M])
    in_D = (0.5 * (1.0 - c[ALPHA_M]) - c[BETA]) / (1.0 - c[ALPHA_M])
    for j in range(nv):
        known = prescribed[j] != 0
        off = h * (alpha.a[j] - vdot[j] - lag * dv[j])
        dx[j] = 0.0 if known else h * (dx[j] - in_D * off)
        dv[j] = 0.0 if known else -third / 12.0 * (dv[j] - h * choice.rate[j]) - in_v * off
    error = norm(space, choice, (dx, dv), (alpha.q, alpha.v), (alpha.q_next, alpha.v_next))
    return status, select(is_too_far, math.inf, error)


@helper
def choose_first(space, step, alpha, choice, t, widest):
    """The size of the first step, unless one is remembered."""
    sizes = choice.sizes
    is_unknown = fails(sizes[SIZE] > 0.0)
    if not any_lane(is_unknown):
        return OK
    q = alpha.q
    v = alpha.v
    nv = v.shape[0]
    vdot = alpha.wanted
    status = place(space, step, t, q, v)
    if status == OK:
        status = consistent_acceleration(space, step, t, q, v, vdot, alpha.powers_next)
    if status == OK:
        rows = vdot.reshape((1, nv))
        size = first_size(space, choice, (v.reshape((1, nv)), rows, rows), q, v)
        sizes[SIZE] = select(is_unknown, min(widest, size), sizes[SIZE])
        sizes[ERROR] = select(is_unknown, LEAST_ERROR, sizes[ERROR])
    return status


@helper
def smaller_may_do(failure):
    """Whether a step that failed so is tried again."""
    return code_of(failure) in (NOT_CONVERGED, SINGULAR_STEP) or is_of_numbers(failure)


@helper
def too_small(status, error, errors, nv):
    """The status of a step that cannot be smaller: its equations, or whose error is the largest."""
    if is_of_numbers(status):
        return status
    if status != OK:
        return failure(STEP_TOO_SMALL, UNSOLVED)
    if not error < math.inf:
        return failure(STEP_TOO_SMALL, INACCURATE)
    worst = 0
    most = 0.0
    for j in range(nv):
        size = max(abs(errors[j]), abs(errors[nv + j]))
        if size > most:
            most = size
            worst = j
    return failure(STEP_TOO_SMALL, LARGEST_ERROR + worst)


@helper
def solve(space, step, method, t, h, end):
    """Solve for the end of a step of another size than that before; see `solve_end`."""
    alpha, choice = method
    is_new = alpha.started[0] == 0.0
    status = change_size(space, step, alpha, choice, t, h)
    if status == OK:
        status = go_to_end(space, step, alpha, t, h, end)
    for j in range(alpha.v.shape[0]):
        choice.rate[j] = select(is_new, alpha.change[j] / h, choice.rate[j])
    return status


@helper
def try_step(space, step, method, t, h, end):
    """Solve for the end of a step; return a status, and the error."""
    alpha, choice = method
    status = solve(space, step, method, t, h, end)
    if status != OK:
        return status, math.inf
    found, error = error_of_step(space, step, alpha, choice, h)
    return OK, error if found == OK else math.inf


@helper
def accept(accepted, step, method, h):
    """The end of a step of size h becomes the state, where it is accepted."""
    alpha, choice = method
    record = memory_of(step)
    vdot_next = floats_at(record.vdot, record.nv)
    for j in range(record.nv):
        rate = (vdot_next[j] - alpha.vdot[j]) / h
        choice.rate[j] = select(accepted, rate, choice.rate[j])
    take_over(accepted, step, alpha, h)
    choice.sizes[LAST] = select(accepted, h, choice.sizes[LAST])


@helper
def judge(sizes, h, error, rejected, widest):
    """Let the size of the step that comes next follow from the error of one of size h.

    rejected: 1 if it was a further attempt.
    """
    numbers = (error, sizes[ERROR], h, sizes[SIZE], rejected, LOCAL_ORDER, widest)
    sizes[SIZE] = each_lane(next_size, numbers)
    sizes[ERROR] = select(error <= 1.0, larger(error, LEAST_ERROR), sizes[ERROR])


@helper
def least_size(t, end):
    """The size that steps must exceed."""
    return LEAST * larger(abs(t), abs(end))


@helper
def forget_matrix(failed, step):
    """Let the next step have a new matrix, where that of a step that failed may be to blame."""
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    made[VALID] = select(failed, 0.0, made[VALID])


@helper
def accepted_step(space, step, method, t, widest, end):
    """Take one step from t towards `end`; return a status, and the time it has led to."""
    alpha, choice = method
    sizes = choice.sizes
    least = least_size(t, end)
    rejected = 0.0
    while True:
        h, stop = next_step(t, sizes[SIZE], end)
        status, error = try_step(space, step, method, t, h, stop)
        if error <= 1.0:
            if stop >= end:
                status = look(space, end, alpha.q_next, alpha.v_next)
                if status != OK:
                    return status, t
            accept(True, step, method, h)
            judge(sizes, h, error, rejected, widest)
            return OK, stop
        if status != OK and not smaller_may_do(status):
            return status, t
        forget_matrix(status != OK, step)
        choice.counts[REJECTIONS] += 1.0
        judge(sizes, h, error, rejected, widest)
        rejected = 1.0
        if not sizes[SIZE] > least:
            return too_small(status, error, choice.errors, alpha.v.shape[0]), t


@helper
def go_to(space, step, method, t, widest, end):
    """Take steps from t until `end`, the last of which ends there; the state changes with them."""
    alpha, choice = method
    status = choose_first(space, step, alpha, choice, t, widest)
    for _ in range(MOST_STEPS):
        if status != OK or t >= end:
            return status
        status, t = accepted_step(space, step, method, t, widest, end)
    return failure(STEP_TOO_SMALL, TOO_MANY) if status == OK and t < end else status


@helper
def pass_grid_point(space, step, method, t, widest, end):
    """Go to `end` in steps up to that size; nothing of the state has changed where that fails."""
    alpha, choice = method
    parts = parts_of(step, alpha, choice)
    put_aside(parts, choice.kept)
    status = go_to(space, step, method, t, widest, end)
    if status != OK:
        take_back(True, parts, choice.kept)
    return status


@kernel(int64(int64, int64, int64, typed(StepSize), typed(Grid), typed(Saved)), nogil=True)
def advance(space, step, method, choice, grid, saved):
    """Go from grid point to grid point, t0 + k h, in steps of any size up to h; see `take_steps`.

    step    an `IMPLICIT` record, method an `ALPHA` one, by address
    """
    method_and_choice = (alpha_of(step, method), choice)
    return take_steps(pass_grid_point, space, step, method_and_choice, grid, saved)
