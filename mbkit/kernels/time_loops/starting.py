"""Steps of a one-step method in as many parts as they need: what multistep methods start with."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import address_kernel, as_array, helper
from mbkit.kernels.configuration import dexp_inv_rows, difference_rows, retract_rows
from mbkit.kernels.elementary import grain, sqrt
from mbkit.kernels.equations import close_loops, stage_acceleration
from mbkit.kernels.evaluation import rows
from mbkit.kernels.explicit.stages import combine
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import IN_PARTS, NOT_FINITE, OK, STEP_TOO_SMALL, status
from mbkit.kernels.time_loops.watch import look
from mbkit.kernels.validation import all_finite

#: Two results agree if they differ by this part of the velocity, and of the way that it makes; with
#: more digits than doubles by half as many of these, which is what a tableau can do.
AGREED = 1e-10

#: Where motions do not agree better in the most parts, as behind a kink of a force, this will do.
ACCEPTED = 1e-5

#: Parts of a step, at most.
MOST_PARTS = 65536

#: A velocity [rad/s, m/s], and a change of positions [rad, m], that are slow and small.
SLOW = 1e-3
ROUNDED = 1e-13


@helper
def one_part(space, A, b, c, t, h, end, q, v, work, room, q_stage, v_stage, xdot, vdot, powers):
    """Advance (q, v) by h in place, and the work: a step of `munthe_kaas`, unwatched."""
    model = bodies(space)
    memory = scratch(space)
    nv = v.shape[0]
    q_next = room[: q.shape[0]]
    x = room[q.shape[0] :]
    for i in range(b.shape[0]):
        combine(h, A[i], xdot, i, x)
        state = retract_rows(model, memory, q, x, q_stage)
        if state != OK:
            return state
        combine(h, A[i], vdot, i, v_stage)
        for j in range(nv):
            v_stage[j] += v[j]
        state = dexp_inv_rows(model, memory, x, v_stage, xdot[i])
        if state == OK:
            state = stage_acceleration(space, i, t + c[i] * h, q_stage, v_stage, vdot[i], powers[i])
        if state != OK:
            return state
    combine(h, b, xdot, b.shape[0], x)
    state = retract_rows(model, memory, q, x, q_next)
    if state != OK:
        return state
    combine(h, b, vdot, b.shape[0], x)
    assign(q, q_next)
    for j in range(nv):
        v[j] += x[j]
    for i in range(b.shape[0]):
        for j in range(work.shape[0]):
            work[j] += h * b[i] * powers[i, j]
    if not (all_finite(q) and all_finite(v)):
        return status(NOT_FINITE, 0)
    return close_loops(space, end, q, v)


@helper
def in_parts(
    space, A, b, c, t, h, parts, q, v, work, result, room, q_stage, v_stage, xdot, vdot, powers
):  # fmt: skip
    """The state a step of size h later, in so many parts, into result (nq + nv + NUM_POWERS,)."""
    nq = q.shape[0]
    nv = v.shape[0]
    q_next = result[:nq]
    v_next = result[nq : nq + nv]
    done = result[nq + nv :]
    assign(q_next, q)
    assign(v_next, v)
    assign(done, work)
    state = OK
    for k in range(parts):
        begin = t + k * h / parts
        end = begin + h / parts
        state = one_part(
            space, A, b, c, begin, h / parts, end, q_next, v_next, done, room, q_stage, v_stage,
            xdot, vdot, powers,
        )  # fmt: skip
        if state != OK:
            return state
    return state


@helper
def disagreement(space, h, v, one, other, x):
    """How far two results differ, by the velocity and the way that it makes."""
    nq = one.shape[0] - v.shape[0] - 2
    nv = v.shape[0]
    if difference_rows(bodies(space), scratch(space), one[:nq], other[:nq], x) != OK:
        return float("inf")
    fastest = 0.0
    farthest = 0.0
    for j in range(nq):
        farthest = max(farthest, abs(one[j]))
    for j in range(nv):
        fastest = max(fastest, abs(v[j]), abs(one[nq + j]))
    speed = SLOW + fastest
    finer = grain(farthest)
    way = h * speed + ROUNDED * finer / (AGREED * sqrt(finer)) * (1.0 + farthest)
    most = 0.0
    for j in range(nv):
        error = max(abs(one[nq + j] - other[nq + j]) / speed, abs(x[j]) / way)
        if not error <= most:
            most = error
    return most


@address_kernel("iidddppppppppppppp")
def starting_step(
    space, stages, t, h, end, matrix, weights, nodes, position, velocity, done, both, room,
    at_position, at_velocity, rates, accelerations, both_powers,
):  # fmt: skip
    """Advance (q, v) by h, to the time `end`, in place, and the work done meanwhile.

    In one part, in two, in four, ... until two results agree: so that the step is as good as the
    tableau in one part where the motion is smooth, and stable where it is stiff. Any failure may be
    that of a motion that grows without bounds, which overflows, opens loops, loses inertia in its
    digits, or leaves what joints and forces are made for. So all are tried again; where the step
    begins the equations of motion have been evaluated, and one of the model itself comes back.
    Memory  results (2, nq + nv + NUM_POWERS), room (nq + nv,), xdot, vdot (s, nv), powers
            (s, NUM_POWERS).
    """
    model = bodies(space)
    nq = model[0].num_positions
    nv = model[0].num_velocities
    A = rows(matrix, stages, stages)
    b = as_array(weights, stages)
    c = as_array(nodes, stages)
    q = as_array(position, nq)
    v = as_array(velocity, nv)
    work = as_array(done, NUM_POWERS)
    results = rows(both, 2, nq + nv + NUM_POWERS)
    memory = as_array(room, nq + nv)
    q_stage = as_array(at_position, nq)
    v_stage = as_array(at_velocity, nv)
    xdot = rows(rates, stages, nv)
    vdot = rows(accelerations, stages, nv)
    powers = rows(both_powers, stages, NUM_POWERS)
    x = memory[nq:]
    agreed = AGREED * sqrt(grain(q[0]))
    error = float("inf")
    before = status(NOT_FINITE, 0)  # nothing to compare with yet
    parts = 1
    new = 0
    while True:
        state = in_parts(
            space, A, b, c, t, h, parts, q, v, work, results[new], memory, q_stage, v_stage, xdot,
            vdot, powers,
        )  # fmt: skip
        if state == OK and before == OK:
            error = disagreement(space, h, v, results[new], results[1 - new], x)
            if not error >= 0.0:
                error = float("inf")
        if error <= agreed or parts >= MOST_PARTS:
            break
        before = state
        parts *= 2
        new = 1 - new
    if state == OK and not error <= ACCEPTED:
        state = status(STEP_TOO_SMALL, IN_PARTS)
    if state != OK:
        return state
    found = results[new]
    state = look(space, end, found[:nq], found[nq : nq + nv])
    if state != OK:
        return state
    assign(q, found[:nq])
    assign(v, found[nq : nq + nv])
    assign(work, found[nq + nv :])
    return OK
