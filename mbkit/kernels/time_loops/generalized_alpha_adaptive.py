"""The time loop of the generalized-alpha method with steps of its own size between grid points.

a_n stands for the acceleration at t_n + (am - af) h, and in index 3 v_n is off its constraints by
l, which is O(h^2): where the step changes, a is brought to the new one by the rate of vdot over the
last step, and l by its h^2. So positions, velocities and multipliers keep their order.
"""

import math

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, floats_at, helper, int64, kernel, typed
from mbkit.kernels.explicit.error_control import (
    LEAST,
    MOST_STEPS,
    NEAR,
    first_size,
    is_of_numbers,
    norm,
    ratio_after,
    ratio_rejected,
    turns_too_far,
)
from mbkit.kernels.implicit.layout import VALID
from mbkit.kernels.implicit.matrix import have_matrix
from mbkit.kernels.implicit.residual import place, rates_at
from mbkit.kernels.implicit.space import flags_at, memory_of
from mbkit.kernels.implicit.start import add_least, consistent_acceleration
from mbkit.kernels.layout import NUM_POWERS
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
    status,
)
from mbkit.kernels.time_loops.generalized_alpha import (
    ALPHA_F,
    ALPHA_M,
    BETA,
    GAMMA,
    error_of_increment,
    go_to_end,
    take_over,
)
from mbkit.kernels.time_loops.records import Saved, State
from mbkit.kernels.time_loops.saving import TAKEN, save_constrained, start_count
from mbkit.kernels.time_loops.times import instant
from mbkit.kernels.time_loops.watch import look

#: What is remembered of the steps.
SIZE = 0  # of the step that comes next
ERROR = 1  # of the last step
LAST = 2  # the size of the last step, 0 at a start
MEANT = 3  # the size of the step that a stands for
NUM_SIZES = 4

#: Errors of a step are O(h^3).
LOCAL_ORDER = 3.0


@helper
def copy(state, kept, back):
    """The arrays of the state, one behind the other, into `kept`, or from there."""
    first = 0
    for i in range(len(state)):
        part = state[i]
        end = first + part.shape[0]
        if back:
            assign(part, kept[first:end])
        else:
            assign(kept[first:end], part)
        first = end


@helper
def errors_of(step, memory):
    """Where the errors of positions and velocities are, in the memory of a step."""
    record = memory_of(step)
    first = record.nq + 4 * record.nv + NUM_POWERS
    return memory[first : first + 2 * record.nv]


@helper
def change_size(space, step, c, t, h, q, v, a, rate, sizes, memory):
    """Let a, and the rows of v in index 3, stand for a step of size h.

    In index 3 A v + g_t is A l but for O(h_old^3), with l of `error_of_increment`, h^2 by what the
    motion is. It is made (h / h_old)^2 of what it is. Were only A l(h) - A l(h_old) added, the
    O(h_old^3) would stay, and be divided by h in the multipliers, without bounds where steps are
    rejected. Were it made A l, what vdot is off would come back into it, and grow.
    """
    record = memory_of(step)
    old = sizes[MEANT]
    if h == old:
        return OK
    sizes[MEANT] = h
    for j in range(record.nv):
        a[j] += (c[ALPHA_M] - c[ALPHA_F]) * (h - old) * rate[j]
    if record.stabilised != 0 or record.m == 0:
        return OK
    nothing = memory[record.nq : record.nq + record.nv]
    nothing[:] = 0.0
    state = place(space, step, t, q, v)
    if state == OK:
        state = rates_at(space, step, t, q, v)
    part = 1.0 - (h / old) ** 2
    return add_least(space, step, t, q, v, nothing, part) if state == OK else state


@helper
def error_of_step(space, step, c, h, control, q, v, a, vdot, rate, sizes, q_next, v_next, memory):
    """The norm of the errors of h D, in the algebra, and of v; infinite where it turns too far.

    With e = a_n - vdot_n - (am - af) (vdot_{n+1} - vdot_n), what a_n is off, the step is

        v_{n+1} = v_n + h (vdot_n + vdot_{n+1}) / 2 + h (1 - am - gamma) / (1 - am) e,

    the trapezoidal rule, which misses -h^3 v''' / 12, and what a is off; likewise the increment.
    e is O(h^2), and O(1) after a jump of forces, from where it falls by -am / (1 - am) a step.
    h^3 v''' is the difference of the rates of vdot in this step and the last one, whose middles are
    half of both away from each other.
    """
    record = memory_of(step)
    nv = record.nv
    rtol, atol, _, angular = control
    errors = errors_of(step, memory)
    dx = errors[:nv]
    dv = errors[nv:]
    D = floats_at(record.D, nv)
    vdot_next = floats_at(record.vdot, nv)
    for j in range(nv):
        dx[j] = h * D[j]
        dv[j] = vdot_next[j] - vdot[j]
    if turns_too_far(space, angular, dx):
        return math.inf
    state = error_of_increment(space, c, h, v, vdot, dv, memory[record.nq + 2 * nv :], dx)
    if state != OK:
        return math.inf
    prescribed = flags_at(record.prescribed, nv)
    third = 2.0 * h * h / (h + sizes[LAST])
    lag = c[ALPHA_M] - c[ALPHA_F]
    in_v = (1.0 - c[ALPHA_M] - c[GAMMA]) / (1.0 - c[ALPHA_M])
    in_D = (0.5 * (1.0 - c[ALPHA_M]) - c[BETA]) / (1.0 - c[ALPHA_M])
    for j in range(nv):
        known = prescribed[j] != 0
        off = h * (a[j] - vdot[j] - lag * dv[j])
        dx[j] = 0.0 if known else h * (dx[j] - in_D * off)
        dv[j] = 0.0 if known else -third / 12.0 * (dv[j] - h * rate[j]) - in_v * off
    return norm(space, dx, dv, q, v, q_next, v_next, rtol, atol)


@helper
def choose_first(space, step, control, t, q, v, vdot, powers, sizes, memory):
    """The size of the first step, unless one is remembered."""
    if sizes[SIZE] > 0.0:
        return OK
    nv = v.shape[0]
    errors = errors_of(step, memory)
    rtol, atol, widest, _ = control
    state = place(space, step, t, q, v)
    if state == OK:
        state = consistent_acceleration(space, step, t, q, v, vdot, powers)
    if state == OK:
        rates = (v.reshape((1, nv)), vdot.reshape((1, nv)), vdot.reshape((1, nv)))
        sizes[SIZE] = min(widest, first_size(space, rates, errors, q, v, rtol, atol))
        sizes[ERROR] = 1e-4
    return state


@helper
def smaller_may_do(state):
    """Whether a step that failed so is tried again."""
    code = code_of(state)
    return code in (NOT_CONVERGED, SINGULAR_STEP) or is_of_numbers(state)


@helper
def too_small(done, error, errors, nv):
    """The status of a step that cannot be smaller: its equations, or whose error is the largest."""
    if is_of_numbers(done):
        return done
    if done != OK:
        return status(STEP_TOO_SMALL, UNSOLVED)
    if not error < math.inf:
        return status(STEP_TOO_SMALL, INACCURATE)
    worst = 0
    most = 0.0
    for j in range(nv):
        size = max(abs(errors[j]), abs(errors[nv + j]))
        if size > most:
            most = size
            worst = j
    return status(STEP_TOO_SMALL, LARGEST_ERROR + worst)


@helper
def next_step(size, t, end):
    """A step of that size and where it ends; the last two to `end` are of one size."""
    rest = end - t
    h = rest if size * NEAR >= rest else min(size, 0.5 * rest)
    return h, end if h == rest else t + h


@helper
def go_to(space, step, c, control, t, end, state, q_next, v_next, v_n, memory):
    """Take steps from t until `end`, the last of which ends there; the state changes with them."""
    q, v, work, a, vdot, multipliers, eta, powers, started, rate, sizes, made = state
    record = memory_of(step)
    nv = record.nv
    vdot_next = floats_at(record.vdot, nv)
    least = LEAST * max(abs(t), abs(end))
    rejected = False
    done = choose_first(space, step, control, t, q, v, vdot, powers, sizes, memory)
    if done != OK:
        return done
    for _ in range(MOST_STEPS):
        size = sizes[SIZE]
        h, stop = next_step(size, t, end)
        done = OK
        if started[0] == 0.0:
            sizes[MEANT] = h
        else:
            done = change_size(space, step, c, t, h, q, v, a, rate, sizes, memory)
        if done == OK:
            done = go_to_end(
                space, step, c, t, h, stop, q, v, a, vdot, multipliers, eta, powers, started,
                q_next, v_next, v_n, memory,
            )  # fmt: skip
        error = math.inf
        if done == OK:
            if started[0] == 0.0:  # h times the rate is where `begin` leaves it
                for j in range(nv):
                    rate[j] = memory[record.nq + j] / h
            error = error_of_step(
                space, step, c, h, control, q, v, a, vdot, rate, sizes, q_next, v_next, memory
            )
        if error <= 1.0:
            if stop >= end:
                done = look(space, end, q_next, v_next)
                if done != OK:
                    return done
            for j in range(nv):
                rate[j] = (vdot_next[j] - vdot[j]) / h
            take_over(
                step, c, h, q, v, work, a, vdot, multipliers, eta, powers, q_next, v_next, memory
            )
            started[0] = 1.0
            wanted = h * ratio_after(error, sizes[ERROR], LOCAL_ORDER, rejected)
            sizes[SIZE] = min(control[2], max(size, wanted) if h < size else wanted)
            sizes[ERROR] = max(error, 1e-4)
            sizes[LAST] = h
            rejected = False
            t = stop
            if stop >= end:
                return OK
        elif done != OK and not smaller_may_do(done):
            return done
        else:
            if done != OK:
                made[VALID] = 0.0
            sizes[SIZE] = h * ratio_rejected(error, LOCAL_ORDER)
            rejected = True
            if not sizes[SIZE] > least:
                return too_small(done, error, errors_of(step, memory), nv)
    return status(STEP_TOO_SMALL, TOO_MANY)


@kernel(
    int64(
        int64, int64, floats, float64, float64, floats, float64, float64, int64, int64, int64,
        floats, floats, floats, floats, floats, floats, floats, floats, floats, floats, floats,
        floats, floats, floats, floats, floats, typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, step, c, rtol, atol, angular, t0, h, first, steps, save_every,
    q, v, work, a, vdot, multipliers, eta, powers, started, rate, sizes,
    q_next, v_next, v_n, memory, kept, saved,
):  # fmt: skip
    """Go from grid point to grid point, t0 + k h, in steps of any size up to h.

    Writes  the state (q, v, work, a, vdot, multipliers, eta, powers, started, rate of vdot, sizes,
            and where the matrix was made), saved, q_next
            and v_next (what was evaluated last).
    Memory  v_n (nv,), memory (nq + 6 nv + NUM_POWERS,), kept (as long as the state).
    Returns OK, or the status of what failed; the state is then that of the last grid point.
    """
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    state = (q, v, work, a, vdot, multipliers, eta, powers, started, rate, sizes, made)
    control = (rtol, atol, h, angular)
    start_count(saved)
    done = have_matrix(space, step)
    for k in range(first, first + steps):
        if done != OK:
            return done
        end = instant(t0, h, k + 1)
        copy(state, kept, False)
        done = go_to(
            space, step, c, control, instant(t0, h, k), end, state, q_next, v_next, v_n, memory
        )  # fmt: skip
        if done != OK:
            copy(state, kept, True)
            return done
        saved.counts[TAKEN] += 1
        if (k + 1) % save_every == 0:
            save_constrained(end, State(q, v, work), multipliers, saved)
    return OK
