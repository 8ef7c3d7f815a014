"""The recursion in hybrid twists.

V = (w, dr/dt) at the body's own frame, both in the world's axes: P = Ad_(I, -d), with d the way
from the parent's origin to the body's, a shift and no rotation. S^h = Ad_R S,
c = ad_(dr_p/dt - dr/dt) V_p + ad_w S^h v + Ad_R S-dot v, bias wrench ad_w M (w; 0),
M^h = Ad_R^-T M Ad_R^-1. Here ad of a 3-vector: ad_w = diag(w~, w~), ad_u = [0 0; u~ 0].
Source: Mueller 2018, (42), (72), (76).
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.layout import SCREW
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.inertias import (
    add_articulated_shifted,
    add_rigid_shifted,
    rigid_times,
    set_rigid,
    set_turned_rigid,
    symmetric_times,
)
from mbkit.kernels.recursions.poses import set_identity, set_world_pose
from mbkit.kernels.recursions.recursion import Recursion
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    linear,
    load,
    rotate,
    scale,
    store,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def from_parent(body, parent, w, u):
    """(w, u + w x d)."""
    return w, add(u, cross(w, load(body.p)))


@helper
def to_parent(body, parent, t, f):
    """(t + d x f, f)."""
    return add(t, cross(load(body.p), f)), f


@helper
def place_in_world(row, parent, body):
    """Pose in the world; p becomes d, in the world's axes; S and S-dot v are turned into them."""
    set_world_pose(parent, body)
    d = rotate(parent.world_R, load(body.p))
    for j in range(3):
        body.p[j] = d[j]
    R = body.world_R
    if row.kind == SCREW:
        z = (R[0, 2], R[1, 2], R[2, 2])
        store(body.S[0], scale(row.rate, z), scale(row.lead, z))
        return
    for c in range(row.num_velocities):
        store(body.S[c], rotate(R, angular(body.S[c])), rotate(R, linear(body.S[c])))
    store(body.bias, rotate(R, angular(body.bias)), rotate(R, linear(body.bias)))


@helper
def twist(model, scratch, i, v):
    """V = P V_p + S v;  A = part of the acceleration by the joint and the moving shift."""
    row = model[i]
    body = scratch[i]
    parent = scratch[row.parent]
    place_in_world(row, parent, body)
    x, y = joint_sum(row, body, v)
    w_parent = angular(parent.V)
    w = add(w_parent, x)
    d_dot = add(cross(w_parent, load(body.p)), y)
    store(body.V, w, add(linear(parent.V), d_dot))
    # ad_w (x, y) - ad_(dd/dt) V_p
    a = cross(w, x)
    b = add(cross(w, y), cross(w_parent, d_dot))
    if row.kind != SCREW:
        a = add(a, angular(body.bias))
        b = add(b, linear(body.bias))
    store(body.A, a, b)


@helper
def bias_wrench(body):
    """ad_w M (w; 0) = (w x Theta w, w x (w x h))."""
    w = angular(body.V)
    t = cross(w, symmetric_times(body.moment, w))
    return t, cross(w, cross(w, load(body.first_moment)))


@helper
def own_wrench(row, body):
    """F = M A + ad_w M (w; 0)."""
    set_turned_rigid(row, body.world_R, body)
    t, f = rigid_times(body, angular(body.A), linear(body.A))
    x, y = bias_wrench(body)
    store(body.F, add(t, x), add(f, y))


@helper
def own_bias(row, body):
    """I = M,  F = ad_w M (w; 0)."""
    set_turned_rigid(row, body.world_R, body)
    set_rigid(body, body)
    t, f = bias_wrench(body)
    store(body.F, t, f)


@helper
def inertia_to_parent(body, parent):
    """I_p += P^T I P."""
    add_articulated_shifted(body, load(body.p), parent)


# ------------------------------------------------------------------------------ mass matrix


@helper
def place(model, scratch, i):
    """Pose in the world, motion subspace and rigid inertia."""
    row = model[i]
    body = scratch[i]
    if i == 0:
        set_identity(body)
    else:
        place_in_world(row, scratch[row.parent], body)
    set_turned_rigid(row, body.world_R, body)


@helper
def columns_to_parent(body, parent, F):
    """P^T F for all columns of a subtree."""
    tx, ty, tz, fx, fy, fz = F
    d = load(body.p)
    for c in range(tx.shape[0]):
        tx[c], ty[c], tz[c] = add((tx[c], ty[c], tz[c]), cross(d, (fx[c], fy[c], fz[c])))


@helper
def composite_to_parent(body, parent):
    """I_p += P^T I P."""
    add_rigid_shifted(body, load(body.p), parent)


# ------------------------------------------------------------------- frames of the user's bodies


@helper
def twist_to_site(body, site, w, u):
    """(w, u + w x s), s the way to the frame in the world's axes."""
    return w, add(u, cross(w, rotate(body.world_R, load(site.p))))


@helper
def rate_to_site(body, site, velocity, w, u):
    """(w', u' + w' x s + w x (w x s))."""
    s = rotate(body.world_R, load(site.p))
    return w, add(u, add(cross(w, s), cross(velocity, cross(velocity, s))))


@helper
def column_at(here, body, w, u):
    """Ad_(I, r_j - r_i) Ad_R_j S. Source: Mueller 2018, (40)."""
    w = rotate(body.world_R, w)
    way = subtract(load(here.p), load(body.world_p))
    return w, add(rotate(body.world_R, u), cross(w, way))


@helper
def wrench_from_site(body, site, t, f):
    """(t + s x f, f)."""
    return add(t, cross(rotate(body.world_R, load(site.p)), f)), f


# ------------------------------------------------------------------------------------- forces


@helper
def twist_in_world(body):
    """(w, u)."""
    return angular(body.V), linear(body.V)


@helper
def acceleration_in_world(body):
    """(w', u')."""
    return angular(body.A), linear(body.A)


@helper
def motion_from_world(body, w, u):
    """(w, u)."""
    return w, u


@helper
def wrench_from_world(body, t, f):
    """(t, f)."""
    return t, f


@helper
def wrench_in_world(body, t, f):
    """(t, f)."""
    return t, f


@helper
def point_wrench(body, r, x, f):
    """((x - p) x f, f)."""
    return cross(subtract(x, load(body.world_p)), f), f


RECURSION = Recursion(
    twist=twist, own_wrench=own_wrench, own_bias=own_bias,
    from_parent=from_parent, to_parent=to_parent, inertia_to_parent=inertia_to_parent,
    place=place, columns_to_parent=columns_to_parent, composite_to_parent=composite_to_parent,
    twist_to_site=twist_to_site, rate_to_site=rate_to_site, column_at=column_at,
    wrench_from_site=wrench_from_site, needs_poses=True, twist_in_world=twist_in_world,
    acceleration_in_world=acceleration_in_world, motion_from_world=motion_from_world,
    wrench_from_world=wrench_from_world, wrench_in_world=wrench_in_world,
    point_wrench=point_wrench,
)  # fmt: skip
