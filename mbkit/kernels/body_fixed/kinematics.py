"""Kinematics in body-fixed twists, at the frames of the user's bodies."""

from mbkit.kernels.body_fixed.outward import acceleration, twist_pass
from mbkit.kernels.compile import floats, int64, kernel, matrix
from mbkit.kernels.joint_pass import checked_joint_pass
from mbkit.kernels.layout import SCREW
from mbkit.kernels.poses import compose, world_pass
from mbkit.kernels.space import at_rest, bodies, frames, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.validation import check_columns, check_rows, check_velocities
from mbkit.kernels.vectors import (
    accumulate,
    angular,
    force_to_parent,
    linear,
    motion_to_child,
    motion_to_parent,
    store,
)

_ZERO = (0.0, 0.0, 0.0)


@kernel(int64(int64, floats, floats, matrix))
def twists(space, q, v, out):
    """Twist of each of the user's bodies, out (bodies + 1, 6)."""
    model = bodies(space)
    work = scratch(space)
    sites = frames(space)
    state = check_rows(sites, out, 6)
    if state == OK:
        state = checked_joint_pass(model, work, q, v)
    if state != OK:
        return state
    twist_pass(model, work, v)
    for b in range(sites.shape[0]):
        V = work[sites[b].row].V
        w, u = motion_to_child(sites[b].R, sites[b].p, angular(V), linear(V))
        store(out[b], w, u)
    return OK


@kernel(int64(int64, floats, floats, floats, matrix))
def accelerations(space, q, v, vdot, out):
    """Component-wise rate of the twist of each of the user's bodies, out (bodies + 1, 6).

    The change to the user's frame is constant in the body, so that it serves rates as well.
    """
    model = bodies(space)
    work = scratch(space)
    sites = frames(space)
    state = check_rows(sites, out, 6)
    if state == OK:
        state = check_velocities(model, vdot, vdot, vdot)
    if state == OK:
        state = checked_joint_pass(model, work, q, v)
    if state != OK:
        return state
    twist_pass(model, work, v)
    store(work[0].A, _ZERO, _ZERO)
    for i in range(1, model.shape[0]):
        acceleration(model, work, i, vdot)
    for b in range(sites.shape[0]):
        A = work[sites[b].row].A
        w, u = motion_to_child(sites[b].R, sites[b].p, angular(A), linear(A))
        store(out[b], w, u)
    return OK


@kernel(int64(int64, int64, floats, matrix))
def jacobian(space, body, q, out):
    """J of one of the user's bodies, V = J v, out (6, nv): column Ad_C_i^-1 Ad_C_j S_k.

    Source: Mueller 2018, (16).
    """
    model = bodies(space)
    work = scratch(space)
    state = check_columns(model, out, 6)
    if state == OK:
        state = checked_joint_pass(model, work, q, at_rest(space))
    if state != OK:
        return state
    world_pass(model, work)
    site = frames(space)[body]
    # the pose of the user's frame, in the room that row 0 has and never uses
    here = work[0]
    i = site.row
    compose(work[i].world_R, work[i].world_p, site.R, site.p, here.R, here.p)
    out[:, :] = 0.0
    while i != 0:
        row = model[i]
        for c in range(row.num_velocities):
            if row.kind == SCREW:
                w = (0.0, 0.0, row.rate)
                u = (0.0, 0.0, row.lead)
            else:
                w = angular(work[i].S[c])
                u = linear(work[i].S[c])
            w, u = motion_to_parent(work[i].world_R, work[i].world_p, w, u)
            w, u = motion_to_child(here.R, here.p, w, u)
            store(out[:, row.first_velocity + c], w, u)
        i = row.parent
    return OK


@kernel(int64(int64, matrix))
def apply_wrenches(space, wrenches):
    """Leave the wrenches on the user's bodies (bodies + 1, 6) where dynamics will find them."""
    model = bodies(space)
    work = scratch(space)
    for i in range(model.shape[0]):
        store(work[i].wrench, _ZERO, _ZERO)
    sites = frames(space)
    for b in range(1, sites.shape[0]):
        site = sites[b]
        W = wrenches[b]
        t, f = force_to_parent(site.R, site.p, angular(W), linear(W))
        accumulate(work[site.row].wrench, t, f)
    return OK
