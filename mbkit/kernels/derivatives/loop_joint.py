"""Quantities of bodies and loop joints in the derivatives of constraints."""

from mbkit.kernels.compile import at, floats_at, helper
from mbkit.kernels.constraints.kinds.loop_joint import set_relative_pose
from mbkit.kernels.constraints.layout import BUFFER_Q, BUFFER_R, BUFFER_WRENCHES
from mbkit.kernels.constraints.space import closure_of, sites
from mbkit.kernels.derivatives.directions import place, set_subspace
from mbkit.kernels.derivatives.joint_changes import STEP, weight
from mbkit.kernels.elementary import cos, sin, sqrt
from mbkit.kernels.joints.loop import joint_configuration_from_pose, joint_wrenches
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import compose
from mbkit.kernels.recursions.world import start
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import JOINT_FAILED, OK, status
from mbkit.kernels.vectors import add, angular, dot, linear, load, store

_ZERO = (0.0, 0.0, 0.0)


@helper
def move_bodies(space, q, v):
    """Poses, S and its changes, and twists; the origin is where the first body is."""
    model = bodies(space)
    work = scratch(space)
    state = joint_pass(model, work, q, v)
    if state != OK:
        return state
    start(work, _ZERO)
    origin = _ZERO
    for i in range(1, model.shape[0]):
        row = model[i]
        body = work[i]
        parent = work[row.parent]
        if i == 1:
            origin = load(body.p)
        place(row, body, parent, origin)
        if set_subspace(space, i, q, v) != OK:
            return status(JOINT_FAILED, i)
        x, y = joint_sum(row, body, v)
        store(body.V, add(angular(parent.V), x), add(linear(parent.V), y))
    for j in range(3):
        work[0].world_p[j] = -origin[j]
    return OK


@helper
def move_sites(space):
    """Pose of each frame that constraints act on."""
    work = scratch(space)
    table = sites(closure_of(space))
    for s in range(table.shape[0]):
        site = table[s]
        body = work[site.row]
        compose(body.world_R, body.world_p, site.place_R, site.place_p, site.R, site.p)


@helper
def scaled_wrenches(closure, joint, body, T, W):
    """The rows' wrenches where the joint's pose is T, in the axes of C_b, scaled as they are."""
    state = joint_configuration_from_pose(joint, body.slot, at(T, 0), at(body.coupling, 0))
    if state == OK:
        state = joint_wrenches(joint, body.slot, at(body.coupling, 0), at(W, 0))
    least = 1.0 / (closure.length * closure.length)
    for r in range(6 - joint.num_velocities):
        t = (W[6 * r], W[6 * r + 1], W[6 * r + 2])
        f = (W[6 * r + 3], W[6 * r + 4], W[6 * r + 5])
        size = 1.0 / sqrt(least * dot(t, t) + dot(f, f))
        for j in range(6):
            W[6 * r + j] *= size
    return state


@helper
def moved_pose(body, i, h, T):
    """T = (R, p) exp(h x_i), R, p those of the body; x_i a unit turn or shift."""
    for j in range(3):
        for k in range(3):
            T[3 * j + k] = body.R[j, k]
        T[9 + j] = body.p[j]
    if i < 3:
        b = (i + 1) % 3
        c = (i + 2) % 3
        for j in range(3):
            x = body.R[j, b]
            y = body.R[j, c]
            T[3 * j + b] = cos(h) * x + sin(h) * y
            T[3 * j + c] = cos(h) * y - sin(h) * x
    else:
        for j in range(3):
            T[9 + j] += h * body.R[j, i - 3]


@helper
def pose_of_joint(closure, constraint, body):
    """T into R, p of the joint's memory."""
    table = sites(closure)
    set_relative_pose(table[constraint.first_site], table[constraint.first_site + 1], body)


@helper
def force_changes(closure, constraint, joint, body, multipliers, out):
    """Six numbers for each direction x_i: d(W multipliers)/dx_i, in the axes of C_b."""
    buffer = floats_at(closure.buffer, closure.num_buffer)
    W = buffer[BUFFER_WRENCHES:BUFFER_Q]
    T = buffer[BUFFER_R : BUFFER_R + 12]
    for j in range(36):
        out[j] = 0.0
    if joint.constant != 0:
        return OK
    for i in range(6):
        for k in range(1, 4):
            for sign in range(-1, 2, 2):
                moved_pose(body, i, sign * k * STEP, T)
                state = scaled_wrenches(closure, joint, body, T, W)
                if state != OK:
                    return state
                for r in range(constraint.num_rows):
                    factor = sign * weight(k) * multipliers[constraint.first_row + r]
                    for j in range(6):
                        out[6 * i + j] += factor * W[6 * r + j]
    return OK


@helper
def power_changes(closure, constraint, joint, body, w, u, out):
    """Six numbers for each row: P_i = (dW/dx_i) . (w, u), in the axes of C_b."""
    buffer = floats_at(closure.buffer, closure.num_buffer)
    W = buffer[BUFFER_WRENCHES:BUFFER_Q]
    T = buffer[BUFFER_R : BUFFER_R + 12]
    for j in range(36):
        out[j] = 0.0
    if joint.constant != 0:
        return OK
    for i in range(6):
        for k in range(1, 4):
            for sign in range(-1, 2, 2):
                moved_pose(body, i, sign * k * STEP, T)
                state = scaled_wrenches(closure, joint, body, T, W)
                if state != OK:
                    return state
                for r in range(constraint.num_rows):
                    out[6 * r + i] += sign * weight(k) * power_of(W, r, w, u)
    return OK


@helper
def power_of(W, r, w, u):
    """Wrench r of a row of them, times (w, u)."""
    a = 6 * r
    return dot((W[a], W[a + 1], W[a + 2]), w) + dot((W[a + 3], W[a + 4], W[a + 5]), u)


@helper
def current_wrenches(closure, joint, body):
    """The rows' wrenches into the memory, in the axes of C_b."""
    buffer = floats_at(closure.buffer, closure.num_buffer)
    T = buffer[BUFFER_R : BUFFER_R + 12]
    moved_pose(body, 3, 0.0, T)
    return scaled_wrenches(closure, joint, body, T, buffer[BUFFER_WRENCHES:BUFFER_Q])
