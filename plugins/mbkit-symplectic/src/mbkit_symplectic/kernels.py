"""The time loop of the variational method, compiled."""

from mbkit.kernels.body_fixed.steps import column_power, to_parent
from mbkit.kernels.compile import (
    at,
    call_address,
    float64,
    floats,
    floats_at,
    helper,
    int64,
    integers,
    kernel,
    matrix,
    records_at,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.equations import acceleration
from mbkit.kernels.layout import DISSIPATED, NUM_POWERS, SPACE, SUPPLIED
from mbkit.kernels.lie.exact import dot_near_pole
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
from mbkit.kernels.space import bodies, scratch_of
from mbkit.kernels.status import NOT_FINITE, OK, failure
from mbkit.kernels.time_loops.times import instant
from mbkit.kernels.time_loops.watch import look
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

#: Sweeps of the iterations after which the step is too large for them.
MOST_SWEEPS = 50

#: Change of a step, in units of its size, at which an iteration is at its end.
ROUNDING = 4e-16


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
def solve_mass(space, q, p, rest, at_rest, v):
    """v = M^-1 p, as the difference of two accelerations from rest; `rest` is that without p."""
    equations = records_at(space, 1, SPACE)[0]
    state = call_address(equations.forward_dynamics, (space, 0, q, at_rest, p, v))
    for j in range(v.shape[0]):
        v[j] -= rest[j]
    return state


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
def pushed(space, driven, t, q, v, at_rest, free, out, powers):
    """out = M^-1 of all forces but gravity at (t, q, v)."""
    equations = records_at(space, 1, SPACE)[0]
    if not driven:
        out[:] = 0.0
        powers[:] = 0.0
        return OK
    state = acceleration(space, t, q, v, out, powers)
    if state == OK:
        state = call_address(equations.forward_dynamics, (space, 0, q, v, at_rest, free))
    for j in range(v.shape[0]):
        out[j] -= free[j]
    return state


@helper
def leap(space, h, q, v, x, p, r, dv, rest, at_rest, q_next, poses, ends, starts):
    """From (q, v) to q_next and the velocity there, without forces but gravity; v is overwritten.

    Solves  J_0^T sum dexp_spatial^-T(X_i) M_i X_i / h = M v + h/2 g_0  for q_next = q exp(x) by
    x <- x - h M^-1 residual, then v = M^-1 (J_1^T sum dexp_body^-T(X_i) M_i X_i / h + h/2 g_1).
    """
    model = bodies(space)
    work = scratch_of(space)
    equations = records_at(space, 1, SPACE)[0]
    state = motion_pass(model, work, at(q, 0), at(v, 0))
    if state != OK:
        return state
    keep_poses(model, work, poses)
    starts[:, :] = 0.0
    for i in range(1, model.shape[0]):
        t, f = rigid_times(model[i], angular(work[i].V), linear(work[i].V))
        store(starts[i], t, f)
    add_weights(model, work, h, starts)
    project(model, work, starts, p)
    state = call_address(equations.forward_dynamics, (space, 0, q, at_rest, at_rest, rest))
    if state != OK:
        return state
    for j in range(v.shape[0]):
        x[j] = h * v[j]
    last = float("inf")
    for sweep in range(MOST_SWEEPS):
        state = retract_rows(model, work, q, x, q_next)
        if state == OK:
            state = motion_pass(model, work, at(q_next, 0), at(at_rest, 0))
        if state != OK:
            return state
        mean_momenta(model, work, poses, h, ends, starts)
        state = motion_pass(model, work, at(q, 0), at(at_rest, 0))
        if state != OK:
            return state
        project(model, work, starts, r)
        for j in range(r.shape[0]):
            r[j] = p[j] - r[j]
        state = solve_mass(space, q, r, rest, at_rest, dv)
        if state != OK:
            return state
        change = h * size_of(dv)
        for j in range(x.shape[0]):
            x[j] += h * dv[j]
        if not (all_finite(x)) or sweep == MOST_SWEEPS - 1:
            return failure(NOT_FINITE, 0)
        # below the rounding of the poses it cannot fall, and goes up and down
        if change <= ROUNDING * size_of(x) or (change < 1e-9 * size_of(x) and change >= last):
            break
        last = change
    state = retract_rows(model, work, q, x, q_next)
    if state == OK:
        state = motion_pass(model, work, at(q_next, 0), at(at_rest, 0))
    if state != OK:
        return state
    mean_momenta(model, work, poses, h, ends, starts)
    add_weights(model, work, h, ends)
    project(model, work, ends, p)
    state = call_address(equations.forward_dynamics, (space, 0, q_next, at_rest, at_rest, rest))
    if state != OK:
        return state
    return solve_mass(space, q_next, p, rest, at_rest, v)


@kernel(
    int64(
        int64, float64, float64, int64, int64, int64, floats, floats, floats, floats, floats,
        matrix, matrix, integers, floats, matrix, matrix, matrix,
    ),
    nogil=True,
)  # fmt: skip
def advance(
    space, t0, h, first, steps, save_every, q, v, work_done, q_stage, v_stage,
    memory, by_row, count, rows_t, rows_q, rows_v, rows_work,
):  # fmt: skip
    """Take `steps` steps from step `first` on, as `mbkit.Integrator.prepare` says.

    Forces but gravity push at both ends of a step: v += h/2 M^-1 f, the second time implicitly, so
    that the whole is symmetric.
    Memory  memory (9, nv, and NUM_POWERS at least) for vectors, by_row (24, rows) for poses and
            momenta.
    """
    nv = v.shape[0]
    num_rows = bodies(space).shape[0]
    x = memory[0, :nv]
    p = memory[1, :nv]
    r = memory[2, :nv]
    dv = memory[3, :nv]
    rest = memory[4, :nv]
    push = memory[5, :nv]
    free = memory[6, :nv]
    half_way = memory[7, :nv]
    powers = memory[8, :NUM_POWERS]
    at_rest = floats_at(records_at(space, 1, SPACE)[0].rest, nv)
    poses = by_row[:12].reshape(-1).reshape((num_rows, 12))
    ends = by_row[12:18].reshape(-1).reshape((num_rows, 6))
    starts = by_row[18:24].reshape(-1).reshape((num_rows, 6))
    driven = is_driven(space, nv)
    count[0] = 0
    count[1] = 0
    for k in range(first, first + steps):
        t = instant(t0, h, k)
        end = instant(t0, h, k + 1)
        v_stage[:] = v
        state = pushed(space, driven, t, q, v, at_rest, free, push, powers)
        dissipated = powers[DISSIPATED]
        supplied = powers[SUPPLIED]
        for j in range(nv):
            v_stage[j] += 0.5 * h * push[j]
        if state == OK:
            state = leap(
                space, h, q, v_stage, x, p, r, dv, rest, at_rest, q_stage, poses, ends, starts
            )
        half_way[:] = v_stage
        for sweep in range(MOST_SWEEPS):
            if state != OK:
                return state
            state = pushed(space, driven, end, q_stage, v_stage, at_rest, free, push, powers)
            change = 0.0
            for j in range(nv):
                moved = half_way[j] + 0.5 * h * push[j]
                change = max(change, abs(moved - v_stage[j]))
                v_stage[j] = moved
            if not change > ROUNDING * size_of(v_stage):
                break
            if sweep == MOST_SWEEPS - 1 and change > 1e-12 * size_of(v_stage):
                state = failure(NOT_FINITE, 0)
        if state == OK and not (all_finite(q_stage) and all_finite(v_stage)):
            state = failure(NOT_FINITE, 0)
        if state == OK:
            state = look(space, end, q_stage, v_stage)
        if state != OK:
            return state
        q[:] = q_stage
        v[:] = v_stage
        work_done[DISSIPATED] += 0.5 * h * (dissipated + powers[DISSIPATED])
        work_done[SUPPLIED] += 0.5 * h * (supplied + powers[SUPPLIED])
        count[0] += 1
        if (k + 1) % save_every == 0:
            row = count[1]
            rows_t[row] = end
            rows_q[row] = q
            rows_v[row] = v
            rows_work[row] = work_done
            count[1] += 1
    return OK
