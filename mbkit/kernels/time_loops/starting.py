"""Steps of a one-step method in as many parts as they need: what multistep methods start with."""

from mbkit.kernels.compile import address_kernel, as_array, helper
from mbkit.kernels.configuration import difference_rows
from mbkit.kernels.elementary import grain, sqrt
from mbkit.kernels.evaluation import rows
from mbkit.kernels.explicit.stages import (
    ALL,
    Scheme,
    Series,
    Stages,
    arrive,
    copy,
    evaluate_stages,
    take_over,
)
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import IN_PARTS, NOT_FINITE, OK, STEP_TOO_SMALL, status
from mbkit.kernels.time_loops.records import State, Step
from mbkit.kernels.time_loops.watch import look

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
def in_parts(space, scheme, step, parts, state, result, stages):
    """The state a step later, in so many parts, each a step of `munthe_kaas`, into `result`."""
    copy(state, result)
    h = step.h / parts
    for k in range(parts):
        begin = step.t + k * step.h / parts
        part = Step(begin, h, begin + h)
        code = evaluate_stages(space, scheme, part, result, stages, 0, scheme.b.shape[0])
        if code == OK:
            code = arrive(space, scheme.b, part.end, h, result, stages)
        if code != OK:
            return code
        take_over(scheme.b, h, stages, result)
    return OK


@helper
def state_in(row, nq, nv):
    """The state that lies in one array."""
    return State(row[:nq], row[nq : nq + nv], row[nq + nv :])


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
    weighted = as_array(weights, stages)
    q = as_array(position, nq)
    v = as_array(velocity, nv)
    results = rows(both, 2, nq + nv + NUM_POWERS)
    memory = as_array(room, nq + nv)
    w = as_array(at_velocity, nv)  # velocities are rates of steps
    table = rows(matrix, stages, stages)
    scheme = Scheme(table, weighted, as_array(nodes, stages), Series(ALL, w, table))
    state = State(q, v, as_array(done, NUM_POWERS))
    step = Step(t, h, end)
    x = memory[nq:]
    room_of_stages = Stages(
        rows(rates, stages, nv), rows(accelerations, stages, nv),
        rows(both_powers, stages, NUM_POWERS), x, w, as_array(at_position, nq), w, memory[:nq],
    )  # fmt: skip
    agreed = AGREED * sqrt(grain(q[0]))
    error = float("inf")
    before = status(NOT_FINITE, 0)  # nothing to compare with yet
    parts = 1
    new = 0
    while True:
        result = state_in(results[new], nq, nv)
        code = in_parts(space, scheme, step, parts, state, result, room_of_stages)
        if code == OK and before == OK:
            error = disagreement(space, h, v, results[new], results[1 - new], x)
            if not error >= 0.0:
                error = float("inf")
        if error <= agreed or parts >= MOST_PARTS:
            break
        before = code
        parts *= 2
        new = 1 - new
    if code == OK and not error <= ACCEPTED:
        code = status(STEP_TOO_SMALL, IN_PARTS)
    if code != OK:
        return code
    found = state_in(results[new], nq, nv)
    code = look(space, end, found.q, found.v)
    if code == OK:
        copy(found, state)
    return code
