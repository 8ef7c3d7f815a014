"""The recursion in body-fixed twists.

P = Ad_C^-1,  c = ad_V S v + S-dot v,  bias wrench -ad_V^T M V; the inertia is constant. A screw is
S = (0, 0, rate, 0, 0, lead), with S-dot = 0, and is never looked up.
Source: Kim 2012, (42)-(44); Mueller 2018, (65).
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.layout import CARRIES, COMMON, SCREW
from mbkit.kernels.lie.matrices import load_matrix, matrix_times
from mbkit.kernels.recursions import columns
from mbkit.kernels.recursions.columns import joint_column, joint_sum
from mbkit.kernels.recursions.hinges import is_hinge
from mbkit.kernels.recursions.inertias import (
    add_articulated_to_parent,
    add_rigid_to_parent,
    copy_rigid,
    gyroscopic,
    inertial_wrench,
    rigid_times,
    set_rigid,
    trace,
)
from mbkit.kernels.recursions.poses import set_identity, set_world_pose
from mbkit.kernels.recursions.recursion import Recursion
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    force_to_parent,
    linear,
    load,
    motion_bracket,
    motion_to_child,
    motion_to_parent,
    rotate,
    rotate_back,
    store,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def from_parent(body, parent, w, u):
    """Ad_C^-1 (w, u)."""
    return motion_to_child(body.R, body.p, w, u)


@helper
def to_parent(body, parent, t, f):
    """Ad_C^-T (t, f)."""
    return force_to_parent(body.R, body.p, t, f)


@helper
def twist(model, scratch, i, v):
    """V = Ad_C^-1 V_p + S v;  A = ad_V S v + S-dot v, the joint's part of the acceleration."""
    row = model[i]
    body = scratch[i]
    parent = scratch[row.parent]
    w, u = from_parent(body, parent, angular(parent.V), linear(parent.V))
    if row.kind == SCREW:
        rate = row.rate * v[row.first_velocity]
        lead = row.lead * v[row.first_velocity]
        # ad_V (0, 0, rate, 0, 0, lead)
        store(
            body.A,
            (w[1] * rate, -w[0] * rate, 0.0),
            (u[1] * rate + w[1] * lead, -u[0] * rate - w[0] * lead, 0.0),
        )
        store(body.V, (w[0], w[1], w[2] + rate), (u[0], u[1], u[2] + lead))
        return
    x, y = joint_sum(row, body, v)
    w = add(w, x)
    u = add(u, y)
    store(body.V, w, u)
    a, b = motion_bracket(w, u, x, y)
    store(body.A, add(a, angular(body.bias)), add(b, linear(body.bias)))


@helper
def acceleration(model, scratch, i, vdot, recursion):
    """A = Ad_C^-1 A_p + S vdot + A, where A is the part that `twist` has written."""
    row = model[i]
    body = scratch[i]
    parent = scratch[row.parent]
    w, u = from_parent(body, parent, angular(parent.A), linear(parent.A))
    if row.kind == SCREW:
        a = vdot[row.first_velocity]
        accumulate(body.A, (w[0], w[1], w[2] + row.rate * a), (u[0], u[1], u[2] + row.lead * a))
        return
    x, y = joint_sum(row, body, vdot)
    accumulate(body.A, add(w, x), add(u, y))


@helper
def own_wrench(row, body):
    """F = M A - ad_V^T M V."""
    V = body.V
    A = body.A
    t, f = inertial_wrench(row, angular(V), linear(V), angular(A), linear(A))
    store(body.F, t, f)


@helper
def own_bias(row, body):
    """I = M,  F = -ad_V^T M V."""
    set_rigid(body, row)
    t, f = gyroscopic(row, angular(body.V), linear(body.V))
    store(body.F, t, f)


@helper
def inertia_to_parent(body, parent):
    """I_p += Ad_C^-T I Ad_C^-1."""
    add_articulated_to_parent(body, parent)


@helper
def column_power(row, body, c, t, f):
    """S . (t, f)."""
    if row.kind == SCREW:
        return row.rate * t[2] + row.lead * f[2]
    return columns.column_power(row, body, c, t, f)


@helper
def add_column(row, body, c, a, w, u):
    """(w, u) + S a."""
    if row.kind == SCREW:
        return (w[0], w[1], w[2] + row.rate * a), (u[0], u[1], u[2] + row.lead * a)
    return columns.add_column(row, body, c, a, w, u)


@helper
def column_inertia(row, body, c, U):
    """U = I S; return S.U, and |S|^2 tr(I)."""
    if row.kind == SCREW:
        X = body.rotational
        H = body.coupling
        M = body.translational
        r = row.rate
        s = row.lead
        store(
            U,
            (r * X[2] + s * H[2], r * X[4] + s * H[5], r * X[5] + s * H[8]),
            (r * H[6] + s * M[2], r * H[7] + s * M[4], r * H[8] + s * M[5]),
        )
        return r * U[2] + s * U[5], r * r * trace(X) + s * s * trace(M)
    return columns.column_inertia(row, body, c, U)


# ------------------------------------------------------------------------------ mass matrix


@helper
def place(model, scratch, i):
    """Rigid inertia; S is there already."""
    copy_rigid(scratch[i], model[i])


@helper
def column_wrench(row, body, c):
    """I S."""
    w, u = joint_column(row, body, c)
    return rigid_times(body, w, u)


@helper
def columns_power(row, body, k, F, entries):
    """S . F for all columns of a subtree."""
    if row.kind == SCREW:
        tz = F[2]
        fz = F[5]
        rate = row.rate
        lead = row.lead
        for c in range(tz.shape[0]):
            entries[c] = rate * tz[c] + lead * fz[c]
    else:
        columns.columns_power(row, body, k, F, entries)


@helper
def columns_to_parent(body, parent, F):
    """Ad_C^-T F for all columns of a subtree."""
    tx, ty, tz, fx, fy, fz = F
    R = load_matrix(body.R)
    p = load(body.p)
    for c in range(tx.shape[0]):
        f = matrix_times(R, (fx[c], fy[c], fz[c]))
        t = add(matrix_times(R, (tx[c], ty[c], tz[c])), cross(p, f))
        tx[c], ty[c], tz[c] = t
        fx[c], fy[c], fz[c] = f


@helper
def composite_to_parent(body, parent):
    """I_p += Ad_C^-T I Ad_C^-1."""
    add_rigid_to_parent(body, body.R, body.p, parent)


# ------------------------------------------------------------------- frames of the user's bodies


@helper
def twist_to_site(body, site, w, u):
    """Ad_C^-1 V."""
    return motion_to_child(site.R, site.p, w, u)


@helper
def rate_to_site(body, site, velocity, w, u):
    """Ad_C^-1 A: the frame's pose in the body is constant."""
    return motion_to_child(site.R, site.p, w, u)


@helper
def column_at(here, body, w, u):
    """Ad_C_i^-1 Ad_C_j S. Source: Mueller 2018, (16)."""
    w, u = motion_to_parent(body.world_R, body.world_p, w, u)
    return motion_to_child(here.R, here.p, w, u)


@helper
def wrench_from_site(body, site, t, f):
    """Ad_C^-T W."""
    return force_to_parent(site.R, site.p, t, f)


# ------------------------------------------------------------------------------------- forces


@helper
def twist_in_world(body):
    """(R w, R u)."""
    return rotate(body.world_R, angular(body.V)), rotate(body.world_R, linear(body.V))


@helper
def acceleration_in_world(body):
    """(R w', R (u' + w x u)), from A with A the rate of V."""
    b = add(linear(body.A), cross(angular(body.V), linear(body.V)))
    return rotate(body.world_R, angular(body.A)), rotate(body.world_R, b)


@helper
def motion_from_world(body, w, u):
    """(R^T w, R^T u)."""
    return rotate_back(body.world_R, w), rotate_back(body.world_R, u)


@helper
def wrench_from_world(body, t, f):
    """(R^T t, R^T f)."""
    return rotate_back(body.world_R, t), rotate_back(body.world_R, f)


@helper
def wrench_in_world(body, t, f):
    """(R t, R f)."""
    return rotate(body.world_R, t), rotate(body.world_R, f)


@helper
def point_wrench(body, r, x, f):
    """(r x R^T f, R^T f)."""
    f = rotate_back(body.world_R, f)
    return cross(r, f), f


@helper
def place_for_forces(model, scratch, i):
    """Pose in the world, which only forces need here, where they need it.

    Springs between bodies need it in any frame that both have in common.
    """
    carries = scratch[i].carries
    if carries == CARRIES:
        set_world_pose(scratch[model[i].parent], scratch[i])
    elif carries == COMMON:
        set_identity(scratch[i])


RECURSION = Recursion(
    twist=twist, acceleration=acceleration, own_wrench=own_wrench, own_bias=own_bias,
    from_parent=from_parent, to_parent=to_parent, inertia_to_parent=inertia_to_parent,
    place=place, columns_to_parent=columns_to_parent, composite_to_parent=composite_to_parent,
    twist_to_site=twist_to_site, rate_to_site=rate_to_site, column_at=column_at,
    wrench_from_site=wrench_from_site, needs_poses=False, twist_in_world=twist_in_world,
    acceleration_in_world=acceleration_in_world, motion_from_world=motion_from_world,
    wrench_from_world=wrench_from_world, wrench_in_world=wrench_in_world,
    point_wrench=point_wrench, column_power=column_power, add_column=add_column,
    column_inertia=column_inertia, column_wrench=column_wrench, columns_power=columns_power,
    place_for_forces=place_for_forces, is_hinge=is_hinge,
)  # fmt: skip
