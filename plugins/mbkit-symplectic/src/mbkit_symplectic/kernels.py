"""The time loop of the variational method, compiled."""

from typing import NamedTuple

from mbkit.kernels.body_fixed.operators import column_power, to_parent
from mbkit.kernels.compile import (
    at,
    call_address,
    floats,
    floats_at,
    helper,
    int64,
    kernel,
    matrix,
    records_at,
    typed,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.equations_of_motion import acceleration
from mbkit.kernels.layout import DISSIPATED, SPACE, SUPPLIED
from mbkit.kernels.lie.exact_products import dot_near_pole
from mbkit.kernels.lie.matrices import (
    matrix_times,
    skew_polynomial_derivative,
    skew_polynomial_times,
)
from mbkit.kernels.lie.quaternion import quaternion_from_rotation
from mbkit.kernels.lie.se3 import se3_log
from mbkit.kernels.lie.series import e_f_of
from mbkit.kernels.recursions.energy import motion_pass
from mbkit.kernels.recursions.inertias import rigid_times
from mbkit.kernels.status import NOT_FINITE, OK, failure
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.records import Grid, Saved, State
from mbkit.kernels.time_loops.saving import count_step, start_count
from mbkit.kernels.time_loops.step_times import step_of
from mbkit.kernels.validation import all_finite
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    rotate_back,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import bodies, scratch_of

#: Sweeps of the iterations after which the step is too large for them.
MOST_SWEEPS = 50

#: Change of a step, in units of its size, at which an iteration is at its end.
ROUNDING = 4e-16


class Memory(NamedTuple):
    """Memory for a step.

    Attributes
    ----------
    rest, free : (nv,)
        Accelerations without velocities and forces but gravity, and with velocities.
    push : (nv,)
        Accelerations by all forces but gravity.
    half_way : (nv,)
        The velocity before the push at the end of a step.
    x, change, p, residual : (nv,)
        Of the iteration: the step and its change; momenta, and what is left of them.
    powers : (NUM_POWERS,)
        Of forces.
    poses : (rows, 12)
        R, p of all bodies at the start of a step.
    starts, ends : (rows, 6)
        Discrete momenta of all bodies at the ends of a step.
    """

    rest: floats
    free: floats
    push: floats
    half_way: floats
    x: floats
    change: floats
    p: floats
    residual: floats
    powers: floats
    poses: matrix
    starts: matrix
    ends: matrix


@helper
def dexp_inv_transposed(half, x, y, t, f):
    """dexp^-T_X (t, f), spatial for half = -1/2, body-fixed for half = 1/2. Mueller (60), (61)."""
    z = dot(x, x)
    e, slope = e_f_of(x, z)
    block = skew_polynomial_derivative(-half, e, 0.0, slope, x, y, dot_near_pole(x, z, y))
    moment = skew_polynomial_times(1.0, -half, e, x, t)
    return add(moment, matrix_times(block, f)), skew_polynomial_times(1.0, -half, e, x, f)


@helper
def keep_poses(model, work, poses):
    """poses (rows, 12) = R, p in the world. Needs the motion pass."""
    for i in range(1, model.shape[0]):
        for j in range(3):
            for k in range(3):
                poses[i, 3 * j + k] = work[i].world_R[j, k]
            poses[i, 9 + j] = work[i].world_p[j]


@helper
def mean_momenta(model, work, poses, h, ends, starts):
    """Discrete momenta of all bodies between kept poses and those of the motion pass.

    With X = log(C_0^-1 C_1) and P = M X / h:  starts = dexp_spatial^-T P,  ends = dexp_body^-T P.
    """
    for i in range(1, model.shape[0]):
        R = poses[i, :9].reshape((3, 3))
        body = work[i]
        shift = subtract(load(body.world_p), (poses[i, 9], poses[i, 10], poses[i, 11]))
        c0 = rotate_back(R, (body.world_R[0, 0], body.world_R[1, 0], body.world_R[2, 0]))
        c1 = rotate_back(R, (body.world_R[0, 1], body.world_R[1, 1], body.world_R[2, 1]))
        c2 = rotate_back(R, (body.world_R[0, 2], body.world_R[1, 2], body.world_R[2, 2]))
        turn = (c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2])
        x, y = se3_log(quaternion_from_rotation(turn), rotate_back(R, shift))
        t, f = rigid_times(model[i], scale(1.0 / h, x), scale(1.0 / h, y))
        moment, force = dexp_inv_transposed(-0.5, x, y, t, f)
        store(starts[i], moment, force)
        moment, force = dexp_inv_transposed(0.5, x, y, t, f)
        store(ends[i], moment, force)


@helper
def add_weights(model, work, h, wrenches):
    """wrenches += h / 2 (c x m g, m g) in the axes of each body. Needs the motion pass."""
    for i in range(1, model.shape[0]):
        g = rotate_back(work[i].world_R, load(model[0].gravity))
        half = scale(0.5 * h, g)
        accumulate(
            wrenches[i], cross(load(model[i].first_moment), half), scale(model[i].mass, half)
        )


@helper
def project(model, work, wrenches, out):
    """out = sum of J^T W; overwrites the wrenches. Needs the motion pass."""
    out[:] = 0.0
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        t = angular(wrenches[i])
        f = linear(wrenches[i])
        for c in range(row.num_velocities):
            out[row.first_velocity + c] += column_power(row, work[i], c, t, f)
        if row.parent != 0:
            t, f = to_parent(work[i], work[row.parent], t, f)
            accumulate(wrenches[row.parent], t, f)


@helper
def rest_of(space, nv):
    """Zeros (nv,)."""
    return floats_at(records_at(space, 1, SPACE)[0].rest, nv)


@helper
def solve_mass(space, q, p, rest, v):
    """v = M^-1 p, as the difference of two accelerations from rest; `rest` is that without p."""
    equations = records_at(space, 1, SPACE)[0]
    at_rest = rest_of(space, v.shape[0])
    code = call_address(equations.forward_dynamics, (space, 0, q, at_rest, p, v))
    for j in range(v.shape[0]):
        v[j] -= rest[j]
    return code


@helper
def size_of(x):
    """Return the largest entry's size."""
    largest = 0.0
    for j in range(x.shape[0]):
        largest = max(largest, abs(x[j]))
    return largest


@helper
def is_driven(space, nv):
    """Whether there are forces other than gravity."""
    equations = records_at(space, 1, SPACE)[0]
    constant = size_of(floats_at(equations.tau, nv))
    return equations.force != 0 or equations.num_forces != 0 or constant != 0.0


@helper
def evaluate_push(space, driven, t, q, v, memory):
    """memory.push = M^-1 of all forces but gravity at (t, q, v), memory.powers theirs."""
    equations = records_at(space, 1, SPACE)[0]
    push, free = memory.push, memory.free
    if not driven:
        push[:] = 0.0
        memory.powers[:] = 0.0
        return OK
    code = acceleration(space, t, q, v, push, memory.powers)
    if code == OK:
        at_rest = rest_of(space, v.shape[0])
        code = call_address(equations.forward_dynamics, (space, 0, q, v, at_rest, free))
    for j in range(v.shape[0]):
        push[j] -= free[j]
    return code


@helper
def move(space, q, x, q_next):
    """q_next = q exp(x), and the motion pass of it at rest."""
    model = bodies(space)
    work = scratch_of(space)
    code = retract_rows(model, work, q, x, q_next)
    if code == OK:
        code = motion_pass(model, work, at(q_next, 0), at(rest_of(space, x.shape[0]), 0))
    return code


@helper
def leap(space, h, q, q_next, v, memory):
    """From (q, v) to q_next and the velocity there, without forces but gravity; v is overwritten.

    Solves  J_0^T sum dexp_spatial^-T(X_i) M_i X_i / h = M v + h/2 g_0  for q_next = q exp(x) by
    x <- x - h M^-1 residual, then v = M^-1 (J_1^T sum dexp_body^-T(X_i) M_i X_i / h + h/2 g_1).
    """
    model = bodies(space)
    work = scratch_of(space)
    equations = records_at(space, 1, SPACE)[0]
    at_rest = rest_of(space, v.shape[0])
    x, p, residual, change, rest = memory.x, memory.p, memory.residual, memory.change, memory.rest
    poses, ends, starts = memory.poses, memory.ends, memory.starts
    code = motion_pass(model, work, at(q, 0), at(v, 0))
    if code != OK:
        return code
    keep_poses(model, work, poses)
    starts[:, :] = 0.0
    for i in range(1, model.shape[0]):
        t, f = rigid_times(model[i], angular(work[i].V), linear(work[i].V))
        store(starts[i], t, f)
    add_weights(model, work, h, starts)
    project(model, work, starts, p)
    code = call_address(equations.forward_dynamics, (space, 0, q, at_rest, at_rest, rest))
    if code != OK:
        return code
    for j in range(v.shape[0]):
        x[j] = h * v[j]
    last = float("inf")
    for sweep in range(MOST_SWEEPS):
        code = move(space, q, x, q_next)
        if code != OK:
            return code
        mean_momenta(model, work, poses, h, ends, starts)
        code = motion_pass(model, work, at(q, 0), at(at_rest, 0))
        if code != OK:
            return code
        project(model, work, starts, residual)
        for j in range(p.shape[0]):
            residual[j] = p[j] - residual[j]
        code = solve_mass(space, q, residual, rest, change)
        if code != OK:
            return code
        size = h * size_of(change)
        for j in range(x.shape[0]):
            x[j] += h * change[j]
        if not (all_finite(x)) or sweep == MOST_SWEEPS - 1:
            return failure(NOT_FINITE, 0)
        # below the rounding of the poses it cannot fall, and goes up and down
        if size <= ROUNDING * size_of(x) or (size < 1e-9 * size_of(x) and size >= last):
            break
        last = size
    code = move(space, q, x, q_next)
    if code != OK:
        return code
    mean_momenta(model, work, poses, h, ends, starts)
    add_weights(model, work, h, ends)
    project(model, work, ends, p)
    code = call_address(equations.forward_dynamics, (space, 0, q_next, at_rest, at_rest, rest))
    if code != OK:
        return code
    return solve_mass(space, q_next, p, rest, v)


@helper
def push_at_end(space, driven, step, stage, memory):
    """v += h/2 M^-1 f where f depends on this v: sweeps until it stays."""
    v = stage.v
    memory.half_way[:] = v
    for _ in range(MOST_SWEEPS):
        code = evaluate_push(space, driven, step.end, stage.q, v, memory)
        if code != OK:
            return code
        change = 0.0
        for j in range(v.shape[0]):
            moved = memory.half_way[j] + 0.5 * step.h * memory.push[j]
            change = max(change, abs(moved - v[j]))
            v[j] = moved
        if not change > ROUNDING * size_of(v):
            return OK
    return failure(NOT_FINITE, 0) if change > 1e-12 * size_of(v) else OK


@kernel(
    int64(int64, typed(State), typed(State), typed(Memory), typed(Grid), typed(Saved)), nogil=True
)
def advance(space, state, stage, memory, grid, saved):
    """Take the steps of the grid, as `mbkit.Integrator.prepare` says.

    Forces but gravity push at both ends of a step: v += h/2 M^-1 f, the second time implicitly, so
    that the whole is symmetric.
    Writes  state, saved, stage (the end of a step before it is the state).
    """
    nv = state.v.shape[0]
    driven = is_driven(space, nv)
    powers = memory.powers
    start_count(saved)
    for k in range(grid.first, grid.first + grid.steps):
        step = step_of(grid, k)
        stage.v[:] = state.v
        code = evaluate_push(space, driven, step.t, state.q, stage.v, memory)
        dissipated = powers[DISSIPATED]
        supplied = powers[SUPPLIED]
        for j in range(nv):
            stage.v[j] += 0.5 * step.h * memory.push[j]
        if code == OK:
            code = leap(space, step.h, state.q, stage.q, stage.v, memory)
        if code == OK:
            code = push_at_end(space, driven, step, stage, memory)
        if code == OK and not (all_finite(stage.q) and all_finite(stage.v)):
            code = failure(NOT_FINITE, 0)
        if code == OK:
            code = look(space, step.end, stage.q, stage.v)
        if code != OK:
            return code
        state.q[:] = stage.q
        state.v[:] = stage.v
        state.work[DISSIPATED] += 0.5 * step.h * (dissipated + powers[DISSIPATED])
        state.work[SUPPLIED] += 0.5 * step.h * (supplied + powers[SUPPLIED])
        count_step(grid, k, state, saved)
    return OK
