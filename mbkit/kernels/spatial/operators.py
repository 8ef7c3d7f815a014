"""The recursion in spatial twists.

P = I: twists, wrenches and inertias of all bodies are measured at the world's origin in the world's
axes, and add as they are. S^s = Ad_C S,  c = ad_V S^s v + Ad_C S-dot v,  bias wrench -ad_V^T M V,
M^s = Ad_C^-T M Ad_C^-1.
Source: Mueller 2018, (30), (69), (71).
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.layout import SCREW
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.inertias import (
    add_articulated,
    add_rigid,
    as_rows,
    gyroscopic,
    set_moved_rigid,
    set_rigid,
)
from mbkit.kernels.recursions.poses import set_identity, set_world_pose
from mbkit.kernels.recursions.recursion import Recursion
from mbkit.kernels.simd.rows import times
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    linear,
    load,
    motion_bracket,
    motion_to_parent,
    plus_cross,
    rotate,
    rotate_back,
    row_cross,
    row_times,
    scale,
    store,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def from_parent(body, parent, w, u):
    """(w, u)."""
    return w, u


@helper
def to_parent(body, parent, t, f):
    """(t, f)."""
    return t, f


@helper
def move_subspace(row, body):
    """S becomes Ad_C S, S-dot v becomes Ad_C S-dot v."""
    R = body.world_R
    p = body.world_p
    if row.kind == SCREW:
        z = (R[0, 2], R[1, 2], R[2, 2])
        w = scale(row.rate, z)
        store(body.S[0], w, add(scale(row.lead, z), cross(load(p), w)))
        return
    for c in range(row.num_velocities):
        w, u = motion_to_parent(R, p, angular(body.S[c]), linear(body.S[c]))
        store(body.S[c], w, u)
    w, u = motion_to_parent(R, p, angular(body.bias), linear(body.bias))
    store(body.bias, w, u)


@helper
def twist(model, scratch, i, v):
    """V = V_p + S v;  A = ad_V S v + S-dot v, the joint's part of the acceleration."""
    row = model[i]
    body = scratch[i]
    parent = scratch[row.parent]
    set_world_pose(parent, body)
    move_subspace(row, body)
    x, y = joint_sum(row, body, v)
    w = add(angular(parent.V), x)
    u = add(linear(parent.V), y)
    store(body.V, w, u)
    a, b = motion_bracket(w, u, x, y)
    if row.kind != SCREW:
        a = add(a, angular(body.bias))
        b = add(b, linear(body.bias))
    store(body.A, a, b)


@helper
def acceleration(model, scratch, i, vdot, recursion):
    """A = A_p + S vdot + A, where A is the part that `twist` has written."""
    row = model[i]
    body = scratch[i]
    parent = scratch[row.parent]
    x, y = joint_sum(row, body, vdot)
    accumulate(body.A, add(angular(parent.A), x), add(linear(parent.A), y))


@helper
def own_wrench(row, body):
    """F = M A - ad_V^T M V, by Newton and Euler about the frame's origin p.

    f = m c + a x h + w x (w x h),  t = Theta a + w x Theta w + h x c + p x f, with c the origin's
    acceleration. What the moments of inertia give is found in the body's axes, and turned; all
    else in the world's: fewer products than to turn the inertia, or to move it.
    """
    R = body.world_R
    w = angular(body.V)
    a, c = acceleration_in_world(body)
    h = rotate(R, load(row.first_moment))
    f = plus_cross(plus_cross(times(row.mass, c), a, h), w, row_cross(w, h))
    own_w = rotate_back(R, w)
    Theta = as_rows(row.moment)
    t = plus_cross(row_times(rotate_back(R, a), Theta), own_w, row_times(own_w, Theta))
    t = plus_cross(plus_cross(rotate(R, t), h, c), load(body.world_p), f)
    store(body.F, t, f)


@helper
def own_bias(row, body):
    """I = M,  F = -ad_V^T M V."""
    set_moved_rigid(row, body.world_R, body.world_p, body)
    set_rigid(body, body)
    t, f = gyroscopic(body, angular(body.V), linear(body.V))
    store(body.F, t, f)


@helper
def inertia_to_parent(body, parent):
    """I_p += I."""
    add_articulated(body, parent)


# ------------------------------------------------------------------------------ mass matrix


@helper
def place(model, scratch, i):
    """Pose in the world, motion subspace and rigid inertia."""
    row = model[i]
    body = scratch[i]
    if i == 0:
        set_identity(body)
    else:
        set_world_pose(scratch[row.parent], body)
        move_subspace(row, body)
    set_moved_rigid(row, body.world_R, body.world_p, body)


@helper
def columns_to_parent(body, parent, F):
    """F: nothing changes on the way."""


@helper
def composite_to_parent(body, parent):
    """I_p += I."""
    add_rigid(body, parent)


# ------------------------------------------------------------------- frames of the user's bodies


@helper
def twist_to_site(body, site, w, u):
    """V: it does not depend on where the frame of the body sits."""
    return w, u


@helper
def rate_to_site(body, site, velocity, w, u):
    """A: nor does its rate."""
    return w, u


@helper
def column_at(here, body, w, u):
    """Ad_C_j S. Source: Mueller 2018, (28)."""
    return motion_to_parent(body.world_R, body.world_p, w, u)


@helper
def wrench_from_site(body, site, t, f):
    """W."""
    return t, f


# ------------------------------------------------------------------------------------- forces


@helper
def twist_in_world(body):
    """(w, u + w x p): the velocity of the frame's origin."""
    w = angular(body.V)
    return w, add(linear(body.V), cross(w, load(body.world_p)))


@helper
def acceleration_in_world(body):
    """(w', u' + w' x p + w x dp/dt), with dp/dt the velocity of the frame's origin."""
    w = angular(body.V)
    a = angular(body.A)
    p = load(body.world_p)
    p_dot = add(linear(body.V), cross(w, p))
    return a, add(linear(body.A), add(cross(a, p), cross(w, p_dot)))


@helper
def motion_from_world(body, w, u):
    """(w, u - w x p): the velocity of the point at the world's origin."""
    return w, subtract(u, cross(w, load(body.world_p)))


@helper
def wrench_from_world(body, t, f):
    """(t + p x f, f): the moment about the world's origin."""
    return add(t, cross(load(body.world_p), f)), f


@helper
def wrench_in_world(body, t, f):
    """(t - p x f, f): the moment about the frame's origin."""
    return subtract(t, cross(load(body.world_p), f)), f


@helper
def point_wrench(body, r, x, f):
    """(x x f, f): the moment about the world's origin."""
    return cross(x, f), f


RECURSION = Recursion(
    twist=twist, acceleration=acceleration, own_wrench=own_wrench, own_bias=own_bias,
    from_parent=from_parent, to_parent=to_parent, inertia_to_parent=inertia_to_parent,
    place=place, columns_to_parent=columns_to_parent, composite_to_parent=composite_to_parent,
    twist_to_site=twist_to_site, rate_to_site=rate_to_site, column_at=column_at,
    wrench_from_site=wrench_from_site, needs_poses=False, twist_in_world=twist_in_world,
    acceleration_in_world=acceleration_in_world, motion_from_world=motion_from_world,
    wrench_from_world=wrench_from_world, wrench_in_world=wrench_in_world,
    point_wrench=point_wrench,
)  # fmt: skip
