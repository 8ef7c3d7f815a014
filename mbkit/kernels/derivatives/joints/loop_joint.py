"""Quantities of bodies and loop joints in the derivatives of constraints."""

from typing import Any, NamedTuple

from mbkit.kernels.compile import at, floats_at, helper
from mbkit.kernels.constraints.kinds.loop_joint import set_relative_pose
from mbkit.kernels.constraints.layout import BUFFER_Q, BUFFER_R, BUFFER_WRENCHES
from mbkit.kernels.constraints.workspace import closure_of, constraints, joints, sites
from mbkit.kernels.derivatives.joints.joint_changes import STEP, weight
from mbkit.kernels.elementary import sin_cos, sqrt
from mbkit.kernels.joints.loop_joint import joint_configuration_from_pose, joint_wrenches
from mbkit.kernels.recursions.poses import compose
from mbkit.kernels.status import CONSTRAINT_FAILED, OK, failure
from mbkit.kernels.vectors import dot
from mbkit.kernels.workspace import scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def move_sites(space):
    """Pose of each frame that constraints act on."""
    scratch = scratch_of(space)
    table = sites(closure_of(space))
    for s in range(table.shape[0]):
        site = table[s]
        body = scratch[site.row]
        compose(body.world_R, body.world_p, site.place_R, site.place_p, site.R, site.p)


class LoopJoint(NamedTuple):
    """A loop joint, and memory for its derivatives.

    Attributes
    ----------
    constraint, joint, body : record
        The constraint, the joint and its scratch memory, with the pose T in R, p.
    a, b : record
        The sites of its predecessor and of its successor.
    least : float
        Moments count in parts of the length: one over its square.
    W : (36,)
        The rows' wrenches, six numbers each.
    changes : (36,)
        What `set_changes` sums up.
    T : (12,)
        A pose.
    """

    constraint: Any
    joint: Any
    body: Any
    a: Any
    b: Any
    least: float
    W: Any
    changes: Any
    T: Any


@helper
def at_loop_joints(space, act, given, out):
    """Call act(space, loop, given, out) for every constraint, all of which are loop joints."""
    every = constraints(closure_of(space))
    for c in range(every.shape[0]):
        if at_loop_joint(space, every[c], act, given, out) != OK:
            return failure(CONSTRAINT_FAILED, c)
    return OK


@helper
def at_loop_joint(space, constraint, act, given, out):
    """Call act(space, loop, given, out) with the joint of a constraint at its pose."""
    # a function that is compiled returns no records
    closure = closure_of(space)
    table = sites(closure)
    table_of_joints, memory = joints(closure)
    a = table[constraint.first_site]
    b = table[constraint.first_site + 1]
    body = memory[constraint.joint]
    set_relative_pose(a, b, body)
    buffer = floats_at(closure.buffer, closure.num_buffer)
    loop = LoopJoint(
        constraint,
        table_of_joints[constraint.joint],
        body,
        a,
        b,
        1.0 / (closure.length * closure.length),
        buffer[BUFFER_WRENCHES:BUFFER_Q],
        buffer[BUFFER_Q:BUFFER_R],
        buffer[BUFFER_R : BUFFER_R + 12],
    )
    return act(space, loop, given, out)


@helper
def set_coordinates(loop):
    """The coordinates of the joint whose pose is T into `coupling` of its memory."""
    joint, body, T = loop.joint, loop.body, loop.T
    return joint_configuration_from_pose(joint, body.slot, at(T, 0), at(body.coupling, 0))


@helper
def set_wrenches(loop):
    """W where the joint's pose is T, in the axes of C_b, scaled as the rows are."""
    status = set_coordinates(loop)
    if status == OK:
        status = set_wrenches_of_coordinates(loop)
    return status


@helper
def set_wrenches_of_coordinates(loop):
    """W where the joint's coordinates are in `coupling` of its memory, scaled as the rows are."""
    joint, body, W = loop.joint, loop.body, loop.W
    status = joint_wrenches(joint, body.slot, at(body.coupling, 0), at(W, 0))
    for r in range(6 - joint.num_velocities):
        t = (W[6 * r], W[6 * r + 1], W[6 * r + 2])
        f = (W[6 * r + 3], W[6 * r + 4], W[6 * r + 5])
        size = 1.0 / sqrt(loop.least * dot(t, t) + dot(f, f))
        for j in range(6):
            W[6 * r + j] *= size
    return status


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
        sine, cosine = sin_cos(h)
        for j in range(3):
            x = body.R[j, b]
            y = body.R[j, c]
            T[3 * j + b] = cosine * x + sine * y
            T[3 * j + c] = cosine * y - sine * x
    else:
        for j in range(3):
            T[9 + j] += h * body.R[j, i - 3]


@helper
def set_changes(loop, add_row, given):
    """Sum up changes of W along the six directions x_i, by differences.

    add_row(loop, i, r, factor, given) adds to `loop.changes` what row r has to do with x_i.
    """
    for j in range(36):
        loop.changes[j] = 0.0
    if loop.joint.constant != 0:
        return OK
    for i in range(6):
        for k in range(1, 4):
            for sign in range(-1, 2, 2):
                moved_pose(loop.body, i, sign * k * STEP, loop.T)
                status = set_wrenches(loop)
                if status != OK:
                    return status
                for r in range(loop.constraint.num_rows):
                    add_row(loop, i, r, sign * weight(k), given)
    return OK


@helper
def add_force(loop, i, r, factor, multipliers):
    """Six numbers for each x_i: d(W multipliers)/dx_i, in the axes of C_b."""
    factor = factor * multipliers[loop.constraint.first_row + r]
    for j in range(6):
        loop.changes[6 * i + j] += factor * loop.W[6 * r + j]


@helper
def add_power(loop, i, r, factor, V):
    """Six numbers for each row: P_i = (dW/dx_i) . V, in the axes of C_b."""
    loop.changes[6 * r + i] += factor * power_of(loop.W, r, V[0], V[1])


@helper
def power_of(W, r, w, u):
    """Wrench r of a row of them, times (w, u)."""
    a = 6 * r
    return dot((W[a], W[a + 1], W[a + 2]), w) + dot((W[a + 3], W[a + 4], W[a + 5]), u)


@helper
def set_current_wrenches(loop):
    """W at the pose that the joint has."""
    moved_pose(loop.body, 3, 0.0, loop.T)
    return set_wrenches(loop)
