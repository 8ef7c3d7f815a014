"""Steps of a one-step method in as many parts as they need: the start of multistep methods."""

from mbkit.kernels.compile import address_kernel, floats_at, helper, records_at
from mbkit.kernels.configuration import difference_rows
from mbkit.kernels.elementary import any_lane, grain, select, sqrt
from mbkit.kernels.explicit_integrators.stages import (
    ALL,
    Scheme,
    Series,
    Stages,
    arrive,
    copy,
    copy_where,
    evaluate_stages,
    take_over,
)
from mbkit.kernels.implicit_integrators.layout import STARTING
from mbkit.kernels.implicit_integrators.step_memory import fails, matrix_at
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.status import IN_PARTS, NOT_FINITE, OK, STEP_TOO_SMALL, failure
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.records import State, Step
from mbkit.kernels.workspace import bodies, scratch_of

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
        status = evaluate_stages(space, scheme, part, result, stages, 0, scheme.b.shape[0])
        if status == OK:
            status = arrive(space, scheme.b, part.end, h, result, stages)
        if status != OK:
            return status
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
    if difference_rows(bodies(space), scratch_of(space), one[:nq], other[:nq], x) != OK:
        return float("inf")
    fastest = 0.0
    farthest = 0.0
    for j in range(nq):
        farthest = max(farthest, abs(one[j]))
    for j in range(nv):
        fastest = max(fastest, abs(v[j]))
        fastest = max(fastest, abs(one[nq + j]))
    speed = SLOW + fastest
    finer = grain(farthest)
    way = h * speed + ROUNDED * finer / (AGREED * sqrt(finer)) * (1.0 + farthest)
    most = 0.0
    for j in range(nv):
        error = max(abs(one[nq + j] - other[nq + j]) / speed, abs(x[j]) / way)
        most = select(error <= most, most, error)
    return most


@helper
def memory_of(starting, nq, nv):
    """The state, the scheme and the stages of a `STARTING` record."""
    own = records_at(starting, 1, STARTING)[0]
    count = own.num_stages
    A = matrix_at(own.stage_weights, count, count)
    b = floats_at(own.b, count)
    xdot = matrix_at(own.xdot, count, nv)
    v = floats_at(own.v_stage, nv)  # velocities are rates of steps
    series = Series(ALL, b, xdot)  # all of it: b and xdot are not looked at
    scheme = Scheme(A, b, floats_at(own.c, count), series)
    room = floats_at(own.room, nq + nv)
    stages = Stages(
        xdot=xdot, vdot=matrix_at(own.vdot, count, nv),
        powers=matrix_at(own.powers, count, NUM_POWERS), x=room[nq:], w=v,
        q=floats_at(own.q_stage, nq), v=v, q_end=room[:nq],
    )  # fmt: skip
    state = State(floats_at(own.q, nq), floats_at(own.v, nv), floats_at(own.work, NUM_POWERS))
    return state, scheme, stages


@address_kernel("iiddd")
def starting_step(space, starting, t, h, end):
    """Advance the state of a `STARTING` record by h, to the time `end`.

    In one part, in two, in four, ... until two results agree: so that the step is as good as the
    tableau in one part where the motion is smooth, and stable where it is stiff. Any failure may be
    that of a motion that grows without bounds, which overflows, opens loops, loses inertia in its
    digits, or leaves what joints and forces are made for. So all are tried again; where the step
    begins the equations of motion have been evaluated, and one of the model itself comes back.
    """
    model = bodies(space)
    nq = model[0].num_positions
    nv = model[0].num_velocities
    state, scheme, stages = memory_of(starting, nq, nv)
    size = nq + nv + NUM_POWERS
    results = matrix_at(records_at(starting, 1, STARTING)[0].results, 2, size)
    step = Step(t, h, end)
    agreed = AGREED * sqrt(grain(state.q[0]))
    error = float("inf")
    before = failure(NOT_FINITE, 0)  # nothing to compare with yet
    parts = 1
    new = 0
    while True:
        result = state_in(results[new], nq, nv)
        status = in_parts(space, scheme, step, parts, state, result, stages)
        if status == OK and before == OK:
            error = disagreement(space, h, state.v, results[new], results[1 - new], stages.x)
            if not error >= 0.0:
                error = float("inf")
        if error <= agreed or parts >= MOST_PARTS:
            break
        before = status
        parts *= 2
        new = 1 - new
    if status == OK and not error <= ACCEPTED:
        status = failure(STEP_TOO_SMALL, IN_PARTS)
    if status != OK:
        return status
    found = state_in(results[new], nq, nv)
    status = look(space, end, found.q, found.v)
    if status == OK:
        copy(found, state)
    return status


def starting_in_lanes(space, starting, t, h, end):
    """The same of several runs side by side, each in as many parts as it needs.

    Where one fails, or agrees in the most parts alone, all are left to be taken one by one.
    """
    model = bodies(space)
    nq = model[0].num_positions
    nv = model[0].num_velocities
    state, scheme, stages = memory_of(starting, nq, nv)
    size = nq + nv + NUM_POWERS
    results = matrix_at(records_at(starting, 1, STARTING)[0].results, 3, size)
    found = state_in(results[2], nq, nv)
    agreed = AGREED * sqrt(grain(state.q[0]))
    step = Step(t, h, end)
    status = in_parts(space, scheme, step, 1, state, state_in(results[0], nq, nv), stages)
    parts = 2
    new = 1
    running = state.work[0] == state.work[0]  # all
    while status == OK and any_lane(running):
        if parts == MOST_PARTS:
            return failure(STEP_TOO_SMALL, IN_PARTS)
        result = state_in(results[new], nq, nv)
        status = in_parts(space, scheme, step, parts, state, result, stages)
        error = disagreement(space, h, state.v, results[new], results[1 - new], stages.x)
        done = running & (error <= agreed)
        copy_where(done, result, found)
        running = running & fails(done)
        parts *= 2
        new = 1 - new
    if status == OK:
        status = look(space, end, found.q, found.v)
    if status == OK:
        copy(found, state)
    return status
