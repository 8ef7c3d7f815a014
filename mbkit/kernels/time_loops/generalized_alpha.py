"""The time loop of the generalized-alpha method on Lie groups.

    D_n (+ A(q_n)^T eta_n) = v_n + h ((1/2 - beta) a_n + beta a_{n+1}),
    q_{n+1} = retract(q_n, h D_n),
    v_{n+1} = v_n + h ((1 - gamma) a_n + gamma a_{n+1}),
    (1 - am) a_{n+1} + am a_n = (1 - af) vdot_{n+1} + af vdot_n,

with the equations of motion and g = 0 at the end of the step (index 3), and in the stabilised form
of index 2 also A v + g_t = 0, for which eta is there. Source: Bruels, Cardona and Arnold 2012;
Arnold, Bruels and Cardona 2015.
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
    typed,
)
from mbkit.kernels.implicit.matrix import have_matrix
from mbkit.kernels.implicit.products import add_forces
from mbkit.kernels.implicit.residual import jacobian_at, place, powers_at_end, rates_at
from mbkit.kernels.implicit.space import memory_of
from mbkit.kernels.implicit.start import (
    add_least,
    bracket,
    change_of_acceleration,
    consistent_acceleration,
)
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.status import NOT_FINITE, OK, status
from mbkit.kernels.time_loops.records import Saved, State
from mbkit.kernels.time_loops.saving import TAKEN, save_constrained, start_count
from mbkit.kernels.time_loops.times import instant
from mbkit.kernels.time_loops.watch import look
from mbkit.kernels.validation import all_finite

#: Coefficients.
ALPHA_M = 0
ALPHA_F = 1
BETA = 2
GAMMA = 3
LAGGED = 4  # whether a starts at its own time
PERTURBED = 5
NUM_COEFFICIENTS = 6


@helper
def error_of_increment(space, c, h, v, vdot, change, memory, out):
    """out = l, what D misses: (1 - 6 beta - 3 (am - af)) / 6 h^2 v'' + h^2 / 12 [v, vdot].

    change  h v''
    Memory  memory (2 nv,).
    """
    nv = v.shape[0]
    state = bracket(space, v, vdot, memory[:nv], memory[nv : 2 * nv], out)
    factor = (1.0 - 6.0 * c[BETA] - 3.0 * (c[ALPHA_M] - c[ALPHA_F])) / 6.0
    for j in range(nv):
        out[j] = factor * h * change[j] + h * h / 12.0 * out[j]
    return state


@helper
def begin(space, step, c, t, h, q, v, a, vdot, multipliers, eta, powers, v_n, memory):
    """The first accelerations; v_n is the velocity that the first step begins with.

    a_n stands for the acceleration at t_n + (am - af) h. In index 3 the first D is off by l, of
    `error_of_increment`, against the constraints: with v + M^-1 A^T (A M^-1 A^T)^-1 A l multipliers
    are of second order from the first step. A velocity that is the end of a step of another size is
    off by the l of that one, which would be divided by h: it is brought to the constraints before.
    """
    record = memory_of(step)
    nv = record.nv
    eta[:] = 0.0
    q_next = memory[: record.nq]
    change = memory[record.nq : record.nq + nv]
    wanted = memory[record.nq + nv : record.nq + 2 * nv]
    state = place(space, step, t, q, v)
    assign(v_n, v)
    if state == OK and record.m > 0:
        wanted[:] = 0.0
        state = rates_at(space, step, t, q, v_n)
        if state == OK:
            state = add_least(space, step, t, q, v_n, wanted, 1.0)
    if state == OK:
        state = consistent_acceleration(space, step, t, q, v_n, vdot, powers)
    if state != OK:
        return state
    assign(multipliers, floats_at(record.multipliers, record.m))
    state = change_of_acceleration(space, step, t, h, q, v_n, vdot, wanted, q_next, change)
    if state != OK:
        return state
    lag = c[ALPHA_M] - c[ALPHA_F]
    for j in range(nv):
        a[j] = vdot[j] + c[LAGGED] * lag * change[j]
    if c[PERTURBED] == 0.0 or record.m == 0:
        return OK
    state = error_of_increment(
        space, c, h, v_n, vdot, change, memory[record.nq + 2 * nv :], wanted
    )  # fmt: skip
    return add_least(space, step, t, q, v_n, wanted, 0.0) if state == OK else state


@helper
def predict(space, step, c, t, h, q, v_n, a, vdot, multipliers, eta, v_next):
    """The end of the step if a stays: D = v_n + h a_n / 2 - A_n^T eta_n, v = v_n + h a_n."""
    record = memory_of(step)
    D = floats_at(record.D, record.nv)
    vdot_next = floats_at(record.vdot, record.nv)
    for j in range(record.nv):
        D[j] = v_n[j] + 0.5 * h * a[j]
        v_next[j] = v_n[j] + h * a[j]
        vdot_next[j] = (a[j] - c[ALPHA_F] * vdot[j]) / (1.0 - c[ALPHA_F])
    assign(floats_at(record.multipliers, record.m), multipliers)
    assign(floats_at(record.eta, record.m), eta)
    if record.stabilised == 0 or record.m == 0:
        return OK
    state = jacobian_at(space, step, t, q, floats_at(record.A_start, record.m * record.width))
    add_forces(space, step, record.A_start, eta, -1.0, D)
    return state


@helper
def next_powers(step, memory):
    """Where the powers at the end of a step are, in its memory."""
    record = memory_of(step)
    first = record.nq + 4 * record.nv
    return memory[first : first + NUM_POWERS]


@helper
def take_over(
    step, c, h, q, v, work, a, vdot, multipliers, eta, powers, q_next, v_next, memory
):  # fmt: skip
    """The end of a step becomes the state."""
    record = memory_of(step)
    vdot_next = floats_at(record.vdot, record.nv)
    powers_next = next_powers(step, memory)
    assign(q, q_next)
    assign(v, v_next)
    for j in range(record.nv):
        a[j] = ((1.0 - c[ALPHA_F]) * vdot_next[j] + c[ALPHA_F] * vdot[j] - c[ALPHA_M] * a[j]) / (
            1.0 - c[ALPHA_M]
        )
    assign(vdot, vdot_next)
    assign(multipliers, floats_at(record.multipliers, record.m))
    assign(eta, floats_at(record.eta, record.m))
    for j in range(work.shape[0]):
        work[j] += 0.5 * h * (powers[j] + powers_next[j])
    assign(powers, powers_next)


@address_kernel("iidddppppppppppppp")
def solve_end(
    space, step, t, h, end, coefficients, position, velocity, a_n, vdot_n, lambda_n, eta_n,
    powers, started, next_position, next_velocity, first_velocity, room,
):  # fmt: skip
    """Solve for the end of a step of size h, at the time `end`; powers go into the memory.

    At a start a, vdot, multipliers, eta and powers are those of `begin` then.
    """
    record = memory_of(step)
    nq = record.nq
    nv = record.nv
    c = as_array(coefficients, NUM_COEFFICIENTS)
    q = as_array(position, nq)
    v = as_array(velocity, nv)
    a = as_array(a_n, nv)
    vdot = as_array(vdot_n, nv)
    multipliers = as_array(lambda_n, record.m)
    eta = as_array(eta_n, record.m)
    q_next = as_array(next_position, nq)
    v_next = as_array(next_velocity, nv)
    v_n = as_array(first_velocity, nv)
    memory = as_array(room, nq + 4 * nv + NUM_POWERS)
    velocity_gain = c[GAMMA] / c[BETA]
    acceleration_gain = (1.0 - c[ALPHA_M]) / (c[BETA] * (1.0 - c[ALPHA_F]))
    assign(v_n, v)
    state = OK
    if started[0] == 0.0:
        first = as_array(powers, NUM_POWERS)
        state = begin(space, step, c, t, h, q, v, a, vdot, multipliers, eta, first, v_n, memory)
    if state == OK:
        state = predict(space, step, c, t, h, q, v_n, a, vdot, multipliers, eta, v_next)
    if state == OK:
        state = call_address(
            record.solve_step,
            (space, step, end, h, velocity_gain, acceleration_gain, q, q_next, v_next),
        )
    if state == OK and not (all_finite(q_next) and all_finite(v_next)):
        state = status(NOT_FINITE, 0)
    if state == OK:
        powers_at_end(space, step, v_next, next_powers(step, memory))
    return state


@helper
def go_to_end(
    space, step, c, t, h, end, q, v, a, vdot, multipliers, eta, powers, started, q_next, v_next,
    v_n, memory,
):  # fmt: skip
    """The same, by address."""
    return call_address(
        memory_of(step).solve_end,
        (
            space, step, t, h, end, c, q, v, a, vdot, multipliers, eta, powers, started, q_next,
            v_next, v_n, memory,
        ),
    )  # fmt: skip


@helper
def take_step(
    space, step, c, t, h, end, q, v, work, a, vdot, multipliers, eta, powers, started,
    q_next, v_next, v_n, memory,
):  # fmt: skip
    """Advance the state by h, to the time `end`; nothing of it has changed where that fails."""
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    restore = floats_at(record.restore, record.num_made)
    assign(restore, made)
    state = go_to_end(
        space, step, c, t, h, end, q, v, a, vdot, multipliers, eta, powers, started, q_next, v_next,
        v_n, memory,
    )  # fmt: skip
    if state == OK:
        state = look(space, end, q_next, v_next)
    if state != OK:
        assign(made, restore)
        return state
    take_over(
        step, c, h, q, v, work, a, vdot, multipliers, eta, powers, q_next, v_next, memory
    )  # fmt: skip
    started[0] = 1.0
    return OK


@kernel(
    int64(
        int64, int64, floats, float64, float64, int64, int64, int64, floats, floats, floats, floats,
        floats, floats, floats, floats, floats, floats, floats, floats, floats, typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, step, c, t0, h, first, steps, save_every, q, v, work, a,
    vdot, multipliers, eta, powers, started, q_next, v_next, v_n, memory, saved,
):  # fmt: skip
    """Take `steps` steps from step `first` on; t = t0 + k h, whatever the chunk.

    Writes  the state (q, v, work, a, vdot, multipliers, eta, powers, started, and where the matrix
            was made), saved, q_next and v_next (what was
            evaluated last).
    Memory  v_n (nv,), memory (nq + 4 nv + NUM_POWERS,).
    Returns OK, or the status of what failed; the state is then that of the last complete step.
    """
    start_count(saved)
    state = have_matrix(space, step)
    for k in range(first, first + steps):
        if state != OK:
            return state
        end = instant(t0, h, k + 1)
        state = take_step(
            space, step, c, instant(t0, h, k), h, end, q, v, work, a, vdot, multipliers, eta,
            powers, started, q_next, v_next, v_n, memory,
        )  # fmt: skip
        if state != OK:
            return state
        saved.counts[TAKEN] += 1
        if (k + 1) % save_every == 0:
            save_constrained(end, State(q, v, work), multipliers, saved)
    return OK
