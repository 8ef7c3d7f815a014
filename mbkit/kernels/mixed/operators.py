"""The recursion in mixed twists.

V = (w, dr/dt), w in the body's axes and dr/dt in the world's. With (R, p) the pose in the parent
and R_p the parent's rotation in the world, P = [R^T 0; -R_p p~ I]; S^m = diag(I, R_i) S,
c = (w x x; R_p w_p x dd/dt + R_i (w x y)) + diag(I, R_i) S-dot v, with (x, y) = S v body-fixed and
d = R_p p; M^m = [Theta, h~ R_i^T; -R_i h~, m I], bias wrench (w x Theta w; R_i (w x (w x h))).
Source: Mueller 2018, (51) corrected; the recursion of accelerations is derived from it.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.layout import SCREW
from mbkit.kernels.lie.matrices import load_matrix, matrix_times
from mbkit.kernels.recursions import columns
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.inertias import (
    add_articulated_mixed,
    add_rigid_to_parent,
    copy_rigid,
    set_rigid_mixed,
    symmetric_times,
    trace,
)
from mbkit.kernels.recursions.poses import set_identity, set_world_pose
from mbkit.kernels.recursions.recursion import Recursion
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    rotate,
    rotate_back,
    scale,
    store,
    subtract,
)


@helper
def from_parent(body, parent, w, u):
    """(R^T w, u + R_p (w x p))."""
    return rotate_back(body.R, w), add(u, rotate(parent.world_R, cross(w, load(body.p))))


@helper
def to_parent(body, parent, t, f):
    """(R t + p x R_p^T f, f)."""
    return add(rotate(body.R, t), cross(load(body.p), rotate_back(parent.world_R, f))), f


@helper
def place_in_world(row, parent, body):
    """Pose in the world; the linear parts of S and of S-dot v are turned into the world's axes."""
    set_world_pose(parent, body)
    R = body.world_R
    if row.kind == SCREW:
        z = (R[0, 2], R[1, 2], R[2, 2])
        store(body.S[0], (0.0, 0.0, row.rate), scale(row.lead, z))
        return
    for c in range(row.num_velocities):
        store(body.S[c], angular(body.S[c]), rotate(R, linear(body.S[c])))
    store(body.bias, angular(body.bias), rotate(R, linear(body.bias)))


@helper
def twist(model, scratch, i, v):
    """V = P V_p + S v;  A = part of the acceleration by the joint and the moving axes."""
    row = model[i]
    body = scratch[i]
    parent = scratch[row.parent]
    place_in_world(row, parent, body)
    x, y = joint_sum(row, body, v)  # y in the world's axes
    w_parent = angular(parent.V)
    w = add(rotate_back(body.R, w_parent), x)
    d_dot = add(rotate(parent.world_R, cross(w_parent, load(body.p))), y)
    store(body.V, w, add(linear(parent.V), d_dot))
    a = cross(w, x)
    b = cross(rotate(parent.world_R, w_parent), d_dot)
    b = add(b, cross(rotate(body.world_R, w), y))
    if row.kind != SCREW:
        a = add(a, angular(body.bias))
        b = add(b, linear(body.bias))
    store(body.A, a, b)


@helper
def rigid_times_mixed(row, R, w, u):
    """M (w, u) = (Theta w + h x R^T u, m u + R (w x h)), R the body's rotation in the world."""
    h = load(row.first_moment)
    t = add(symmetric_times(row.moment, w), cross(h, rotate_back(R, u)))
    return t, add(scale(row.mass, u), rotate(R, cross(w, h)))


@helper
def bias_wrench(row, body):
    """(w x Theta w, R (w x (w x h)))."""
    w = angular(body.V)
    t = cross(w, symmetric_times(row.moment, w))
    return t, rotate(body.world_R, cross(w, cross(w, load(row.first_moment))))


@helper
def own_wrench(row, body):
    """F = M A + bias."""
    t, f = rigid_times_mixed(row, body.world_R, angular(body.A), linear(body.A))
    x, y = bias_wrench(row, body)
    store(body.F, add(t, x), add(f, y))


@helper
def own_bias(row, body):
    """I = M,  F = (w x Theta w, R (w x (w x h)))."""
    set_rigid_mixed(body, row)
    t, f = bias_wrench(row, body)
    store(body.F, t, f)


@helper
def inertia_to_parent(body, parent):
    """I_p += P^T I P."""
    add_articulated_mixed(body, parent)


# ---------------------------------------------- columns: that of a screw is (0, 0, rate; lead z)


@helper
def column_power(row, body, c, t, f):
    """S . (t, f)."""
    if row.kind == SCREW:
        return row.rate * t[2] + dot(linear(body.S[c]), f)
    return columns.column_power(row, body, c, t, f)


@helper
def add_column(row, body, c, a, w, u):
    """(w, u) + S a."""
    if row.kind == SCREW:
        return (w[0], w[1], w[2] + row.rate * a), add(u, scale(a, linear(body.S[c])))
    return columns.add_column(row, body, c, a, w, u)


@helper
def column_inertia(row, body, c, U):
    """U = I S; return S.U, and |S|^2 tr(I)."""
    if row.kind == SCREW:
        X = body.rotational
        H = body.coupling
        M = body.translational
        r = row.rate
        y = linear(body.S[c])
        t = add(scale(r, (X[2], X[4], X[5])), matrix_times(H, y))
        f = add(scale(r, (H[6], H[7], H[8])), symmetric_times(M, y))
        store(U, t, f)
        return r * t[2] + dot(y, f), r * r * trace(X) + dot(y, y) * trace(M)
    return columns.column_inertia(row, body, c, U)


# ------------------------------------------------------------------------------ mass matrix


@helper
def place(model, scratch, i):
    """Pose in the world, motion subspace and rigid inertia: (m, h, Theta) in the body's axes."""
    row = model[i]
    body = scratch[i]
    if i == 0:
        set_identity(body)
    else:
        place_in_world(row, scratch[row.parent], body)
    copy_rigid(body, row)


@helper
def column_wrench(row, body, c):
    """I S."""
    return rigid_times_mixed(body, body.world_R, angular(body.S[c]), linear(body.S[c]))


@helper
def columns_to_parent(body, parent, F):
    """P^T F for all columns of a subtree."""
    tx, ty, tz, fx, fy, fz = F
    R = load_matrix(body.R)
    R_back = load_matrix(parent.world_R.T)
    p = load(body.p)
    for c in range(tx.shape[0]):
        f = matrix_times(R_back, (fx[c], fy[c], fz[c]))
        tx[c], ty[c], tz[c] = add(matrix_times(R, (tx[c], ty[c], tz[c])), cross(p, f))


@helper
def composite_to_parent(body, parent):
    """I_p += P^T I P, which leaves (m, h, Theta) in the parent's axes."""
    add_rigid_to_parent(body, body.R, body.p, parent)


# ------------------------------------------------------------------- frames of the user's bodies


@helper
def twist_to_site(body, site, w, u):
    """(R_s^T w, u + R (w x p_s))."""
    return rotate_back(site.R, w), add(u, rotate(body.world_R, cross(w, load(site.p))))


@helper
def rate_to_site(body, site, velocity, w, u):
    """(R_s^T w', u' + R (w' x p_s + w x (w x p_s)))."""
    p = load(site.p)
    moved = add(cross(w, p), cross(velocity, cross(velocity, p)))
    return rotate_back(site.R, w), add(u, rotate(body.world_R, moved))


@helper
def column_at(here, body, w, u):
    """diag(R_i^T, I) Ad_(I, r_j - r_i) Ad_R_j S. Source: Mueller 2018, (50)."""
    w = rotate(body.world_R, w)
    way = subtract(load(here.p), load(body.world_p))
    return rotate_back(here.R, w), add(rotate(body.world_R, u), cross(w, way))


@helper
def wrench_from_site(body, site, t, f):
    """(R_s t + p_s x R^T f, f)."""
    return add(rotate(site.R, t), cross(load(site.p), rotate_back(body.world_R, f))), f


# ------------------------------------------------------------------------------------- forces


@helper
def twist_in_world(body):
    """(R w, u)."""
    return rotate(body.world_R, angular(body.V)), linear(body.V)


@helper
def acceleration_in_world(body):
    """(R w', u')."""
    return rotate(body.world_R, angular(body.A)), linear(body.A)


@helper
def motion_from_world(body, w, u):
    """(R^T w, u)."""
    return rotate_back(body.world_R, w), u


@helper
def wrench_from_world(body, t, f):
    """(R^T t, f)."""
    return rotate_back(body.world_R, t), f


@helper
def wrench_in_world(body, t, f):
    """(R t, f)."""
    return rotate(body.world_R, t), f


@helper
def point_wrench(body, r, x, f):
    """(r x R^T f, f)."""
    return cross(r, rotate_back(body.world_R, f)), f


RECURSION = Recursion(
    twist=twist, own_wrench=own_wrench, own_bias=own_bias,
    from_parent=from_parent, to_parent=to_parent, inertia_to_parent=inertia_to_parent,
    place=place, columns_to_parent=columns_to_parent, composite_to_parent=composite_to_parent,
    twist_to_site=twist_to_site, rate_to_site=rate_to_site, column_at=column_at,
    wrench_from_site=wrench_from_site, needs_poses=True, twist_in_world=twist_in_world,
    acceleration_in_world=acceleration_in_world, motion_from_world=motion_from_world,
    wrench_from_world=wrench_from_world, wrench_in_world=wrench_in_world,
    point_wrench=point_wrench, column_wrench=column_wrench, column_power=column_power,
    add_column=add_column, column_inertia=column_inertia,
)  # fmt: skip
