"""The time loop of the generalized-alpha method on Lie groups.

    D_n (+ A(q_n)^T eta_n) = v_n + h ((1/2 - beta) a_n + beta a_{n+1}),
    q_{n+1} = retract(q_n, h D_n),
    v_{n+1} = v_n + h ((1 - gamma) a_n + gamma a_{n+1}),
    (1 - am) a_{n+1} + am a_n = (1 - af) vdot_{n+1} + af vdot_n,

with the equations of motion and g = 0 at the end of the step (index 3), and in the stabilised form
of index 2 also A v + g_t = 0, for which eta is there. Source: Bruels, Cardona and Arnold 2012;
Arnold, Bruels and Cardona 2015.
"""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    call_address,
    floats,
    floats_at,
    helper,
    int64,
    records_at,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.elementary import all_lanes, any_lane, select
from mbkit.kernels.explicit_integrators.stages import assign_where
from mbkit.kernels.implicit_integrators.constraint_products import add_forces
from mbkit.kernels.implicit_integrators.layout import ALPHA
from mbkit.kernels.implicit_integrators.newton_matrix import note_made, restore_made
from mbkit.kernels.implicit_integrators.residual import jacobian_at, place, powers_at_end, rates_at
from mbkit.kernels.implicit_integrators.starting_values import (
    INTO,
    add_least,
    bracket,
    consistent_acceleration,
)
from mbkit.kernels.implicit_integrators.step_memory import fails, largest, memory_of
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.workspace import bodies, scratch_of

#: Coefficients.
ALPHA_M = 0
ALPHA_F = 1
BETA = 2
GAMMA = 3
LAGGED = 4  # whether a starts at its own time
PERTURBED = 5
NUM_COEFFICIENTS = 6

#: Where a changes by more than this part of itself in a step, the step before says nothing of the
#: next one: from there Newton's method would be led away.
SMOOTH = 0.25


class Alpha(NamedTuple):
    """The method in a run, opened by `alpha_of`."""

    address: int64
    c: floats
    # the state
    q: floats
    v: floats
    work: floats
    a: floats  # the acceleration at t_n + (am - af) h
    vdot: floats
    multipliers: floats
    eta: floats
    powers: floats
    started: floats  # 1, or 0 at a start: what follows v is that of `begin` then
    change: floats  # nv: of a in the last step; at a start h times the rate of vdot
    # the end of a step
    q_next: floats
    v_next: floats
    powers_next: floats
    # scratch
    v_n: floats  # the velocity that the step begins with
    trial: floats  # nq
    wanted: floats  # nv: by which v changes against the constraints
    room: floats  # 2 nv


@helper
def alpha_of(step, method):
    """The method, from its address."""
    record = memory_of(step)
    own = records_at(method, 1, ALPHA)[0]
    nq = record.nq
    nv = record.nv
    m = record.m
    return Alpha(
        address=method,
        c=floats_at(own.coefficients, NUM_COEFFICIENTS),
        q=floats_at(record.q, nq),
        v=floats_at(record.v, nv),
        work=floats_at(record.work, NUM_POWERS),
        a=floats_at(own.a, nv),
        vdot=floats_at(own.vdot, nv),
        multipliers=floats_at(own.multipliers, m),
        eta=floats_at(own.eta, m),
        powers=floats_at(own.powers, NUM_POWERS),
        started=floats_at(own.started, 1),
        q_next=floats_at(record.q_next, nq),
        v_next=floats_at(record.v_next, nv),
        powers_next=floats_at(own.powers_next, NUM_POWERS),
        v_n=floats_at(own.v_n, nv),
        trial=floats_at(own.trial, nq),
        change=floats_at(own.change, nv),
        wanted=floats_at(own.wanted, nv),
        room=floats_at(own.room, 2 * nv),
    )


@helper
def error_of_increment(space, alpha, h, v, change, out):
    """out = l, what D misses: (1 - 6 beta - 3 (am - af)) / 6 h^2 v'' + h^2 / 12 [v, vdot].

    change  h v''
    """
    c = alpha.c
    nv = v.shape[0]
    status = bracket(space, v, alpha.vdot, alpha.room[:nv], alpha.room[nv:], out)
    factor = (1.0 - 6.0 * c[BETA] - 3.0 * (c[ALPHA_M] - c[ALPHA_F])) / 6.0
    for j in range(nv):
        out[j] = factor * h * change[j] + h * h / 12.0 * out[j]
    return status


@helper
def like(h, number):
    """A number, of each of the samples side by side where h is."""
    return select(h == h, number, number)


@helper
def change_of_acceleration(space, step, alpha, t, h):
    """h times the rate of vdot at the start, by a difference over INTO h, into `change`."""
    record = memory_of(step)
    nv = record.nv
    s = INTO * h
    x = floats_at(record.columns, 3 * nv)[:nv]
    w = floats_at(record.columns, 3 * nv)[nv : 2 * nv]
    for j in range(nv):
        x[j] = s * (alpha.v_n[j] + 0.5 * s * alpha.vdot[j])
        w[j] = alpha.v_n[j] + s * alpha.vdot[j]
    q = alpha.trial
    status = retract_rows(bodies(space), scratch_of(space), alpha.q, x, q)
    if status == OK:
        status = consistent_acceleration(space, step, t + s, q, w, alpha.change, alpha.powers_next)
    for j in range(nv):
        alpha.change[j] = (alpha.change[j] - alpha.vdot[j]) / INTO
    return status


@helper
def begin(space, step, alpha, t, h):
    """The first accelerations; v_n is the velocity that the first step begins with.

    a_n stands for the acceleration at t_n + (am - af) h. In index 3 the first D is off by l, of
    `error_of_increment`, against the constraints: with v + M^-1 A^T (A M^-1 A^T)^-1 A l multipliers
    are of second order from the first step. A velocity that is the end of a step of another size is
    off by the l of that one, which would be divided by h: it is brought to the constraints before.
    """
    record = memory_of(step)
    c = alpha.c
    q = alpha.q
    v_n = alpha.v_n
    wanted = alpha.wanted
    alpha.eta[:] = 0.0
    status = place(space, step, t, q, alpha.v)
    assign(v_n, alpha.v)
    if status == OK and record.m > 0:
        wanted[:] = 0.0
        status = rates_at(space, step, t, q, v_n)
        if status == OK:
            status = add_least(space, step, t, q, v_n, wanted, like(h, 1.0))
    if status == OK:
        status = consistent_acceleration(space, step, t, q, v_n, alpha.vdot, alpha.powers)
    if status != OK:
        return status
    assign(alpha.multipliers, floats_at(record.multipliers, record.m))
    status = change_of_acceleration(space, step, alpha, t, h)
    if status != OK:
        return status
    lag = c[ALPHA_M] - c[ALPHA_F]
    for j in range(record.nv):
        alpha.a[j] = alpha.vdot[j] + c[LAGGED] * lag * alpha.change[j]
    if c[PERTURBED] == 0.0 or record.m == 0:
        return OK
    status = error_of_increment(space, alpha, h, v_n, alpha.change, wanted)
    return add_least(space, step, t, q, v_n, wanted, like(h, 0.0)) if status == OK else status


@helper
def begin_where(is_new, space, step, alpha, t, h):
    """The same for those of several runs side by side that are new; others stay as they are."""
    record = memory_of(step)
    written = (
        alpha.eta, alpha.v_n, alpha.vdot, alpha.powers, alpha.multipliers, alpha.change, alpha.a,
    )  # fmt: skip
    all_begin = all_lanes(is_new)
    own = records_at(alpha.address, 1, ALPHA)[0]
    aside = floats_at(own.aside, size_aside(record.nv, record.m))
    if not all_begin:
        put_aside(written, aside)
    status = begin(space, step, alpha, t, h)
    if not all_begin:
        take_back(fails(is_new), written, aside)
    return status


@helper
def size_aside(nv, m):
    """How many numbers are put aside where some runs begin, and not all."""
    return 4 * nv + 2 * m + NUM_POWERS


@helper
def put_aside(parts, room):
    """Copy arrays, one behind the other."""
    first = 0
    for i in range(len(parts)):
        end = first + parts[i].shape[0]
        assign(room[first:end], parts[i])
        first = end


@helper
def take_back(condition, parts, room):
    """Let the arrays be what was put aside, where a condition holds."""
    first = 0
    for i in range(len(parts)):
        end = first + parts[i].shape[0]
        assign_where(condition, parts[i], room[first:end])
        first = end


@helper
def predict(space, step, alpha, t, h):
    """The end of the step if a changes as in the step before, by d, or stays.

    D = v_n + h (a_n / 2 + beta d) - A_n^T eta_n,  v = v_n + h (a_n + gamma d).
    """
    record = memory_of(step)
    c = alpha.c
    D = floats_at(record.D, record.nv)
    vdot_next = floats_at(record.vdot, record.nv)
    is_smooth = largest(alpha.change) <= SMOOTH * largest(alpha.a)
    for j in range(record.nv):
        a = alpha.a[j]
        d = select(is_smooth, alpha.change[j], 0.0)
        D[j] = alpha.v_n[j] + h * (0.5 * a + c[BETA] * d)
        alpha.v_next[j] = alpha.v_n[j] + h * (a + c[GAMMA] * d)
        vdot_next[j] = (a + (1.0 - c[ALPHA_M]) * d - c[ALPHA_F] * alpha.vdot[j]) / (
            1.0 - c[ALPHA_F]
        )
    assign(floats_at(record.multipliers, record.m), alpha.multipliers)
    assign(floats_at(record.eta, record.m), alpha.eta)
    if record.stabilised == 0 or record.m == 0:
        return OK
    A_start = floats_at(record.A_start, record.m * record.width)
    status = jacobian_at(space, record, t, alpha.q, A_start)
    add_forces(space, step, record.A_start, alpha.eta, -1.0, D)
    return status


@helper
def take_over(accepted, step, alpha, h):
    """The end of a step becomes the state, where it is accepted."""
    record = memory_of(step)
    c = alpha.c
    a = alpha.a
    vdot = alpha.vdot
    vdot_next = floats_at(record.vdot, record.nv)
    assign_where(accepted, alpha.q, alpha.q_next)
    assign_where(accepted, alpha.v, alpha.v_next)
    for j in range(record.nv):
        before = a[j]
        after = ((1.0 - c[ALPHA_F]) * vdot_next[j] + c[ALPHA_F] * vdot[j] - c[ALPHA_M] * a[j]) / (
            1.0 - c[ALPHA_M]
        )
        a[j] = select(accepted, after, before)
        alpha.change[j] = select(accepted, after - before, alpha.change[j])
    assign_where(accepted, vdot, vdot_next)
    assign_where(accepted, alpha.multipliers, floats_at(record.multipliers, record.m))
    assign_where(accepted, alpha.eta, floats_at(record.eta, record.m))
    for j in range(NUM_POWERS):
        done = alpha.work[j]
        done += 0.5 * h * (alpha.powers[j] + alpha.powers_next[j])
        alpha.work[j] = select(accepted, done, alpha.work[j])
    assign_where(accepted, alpha.powers, alpha.powers_next)
    alpha.started[0] = select(accepted, 1.0, alpha.started[0])


@address_kernel("iiiddd")
def solve_end(space, step, method, t, h, end):
    """Solve for the end of a step of size h, at the time `end`; nothing of the state changes.

    At a start a, vdot, multipliers, eta and powers become those of `begin`. Of several samples
    whose steps are not all solved see `solve_step`.
    """
    record = memory_of(step)
    alpha = alpha_of(step, method)
    c = alpha.c
    velocity_gain = c[GAMMA] / c[BETA]
    acceleration_gain = (1.0 - c[ALPHA_M]) / (c[BETA] * (1.0 - c[ALPHA_F]))
    assign(alpha.v_n, alpha.v)
    status = OK
    is_new = (alpha.started[0] == 0.0) & (floats_at(record.waits, 1)[0] == 0.0)
    if any_lane(is_new):
        status = begin_where(is_new, space, step, alpha, t, h)
    if status == OK:
        status = predict(space, step, alpha, t, h)
    if status != OK:
        return status
    status = call_address(
        record.solve_step, (space, step, end, h, velocity_gain, acceleration_gain)
    )
    powers_at_end(space, step, alpha.v_next, alpha.powers_next)
    return status


@helper
def go_to_end(space, step, alpha, t, h, end):
    """The same, by address."""
    return call_address(memory_of(step).solve_end, (space, step, alpha.address, t, h, end))


@helper
def advance_state(space, step, method, t, h, end):
    """Advance the state by h, to the time `end`; nothing of it has changed where that fails."""
    alpha = alpha_of(step, method)
    note_made(step)
    status = go_to_end(space, step, alpha, t, h, end)
    if status == OK:
        status = look(space, end, alpha.q_next, alpha.v_next)
    if status != OK:
        restore_made(step)
        return status
    take_over(True, step, alpha, h)
    return OK


@address_kernel("iiiddd")
def take_step(space, step, method, t, h, end):
    """The same, by address."""
    return advance_state(space, step, method, t, h, end)


def step_in_lanes(space, method, t, h, end, _memory):
    """One step of several runs side by side: see `time_loops.fixed_steps_in_lanes`."""
    step = records_at(method, 1, ALPHA)[0].step
    return advance_state(space, step, method, t, h, end)
