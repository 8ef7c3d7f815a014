"""Twists, accelerations, Jacobians and wrenches at the frames of the user's bodies."""

from mbkit.kernels.compile import helper
from mbkit.kernels.evaluation_form import as_matrix, positions, velocities
from mbkit.kernels.recursions.columns import joint_column
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import compose, world_pass
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import accumulate, angular, linear, store
from mbkit.kernels.workspace import at_rest, bodies, frames, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def twists(space, q, v, out, recursion):
    """Twist of each of the user's bodies, out (bodies + 1, 6).

    Calls   start, twist, twist_to_site.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    sites = frames(space)
    v = velocities(model, v)
    status = joint_pass(model, scratch, positions(model, q), v)
    if status != OK:
        return status
    recursion.start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        recursion.twist(model, scratch, i, v)
    out = as_matrix(out, sites.shape[0], 6)
    for b in range(sites.shape[0]):
        body = scratch[sites[b].row]
        w, u = recursion.twist_to_site(body, sites[b], angular(body.V), linear(body.V))
        store(out[b], w, u)
    return OK


@helper
def accelerations(space, q, v, vdot, out, recursion):
    """Component-wise rate of the twist of each of the user's bodies, out (bodies + 1, 6).

    Calls   start, twist, acceleration, rate_to_site.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    sites = frames(space)
    v = velocities(model, v)
    vdot = velocities(model, vdot)
    status = joint_pass(model, scratch, positions(model, q), v)
    if status != OK:
        return status
    recursion.start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        recursion.twist(model, scratch, i, v)
        recursion.acceleration(model, scratch, i, vdot, recursion)
    out = as_matrix(out, sites.shape[0], 6)
    for b in range(sites.shape[0]):
        body = scratch[sites[b].row]
        w, u = recursion.rate_to_site(
            body, sites[b], angular(body.V), angular(body.A), linear(body.A)
        )
        store(out[b], w, u)
    return OK


@helper
def jacobian(space, body, q, out, recursion):
    """J of one of the user's bodies, V = J v, out (6, nv): one column a velocity that carries it.

    Calls   column_at.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    status = joint_pass(model, scratch, positions(model, q), at_rest(space))
    if status != OK:
        return status
    world_pass(model, scratch)
    site = frames(space)[body]
    # the pose of the user's frame, in the room that body 0 has and never uses
    here = scratch[0]
    i = site.row
    compose(scratch[i].world_R, scratch[i].world_p, site.R, site.p, here.R, here.p)
    out = as_matrix(out, 6, model[0].num_velocities)
    out[:, :] = 0.0
    while i != 0:
        row = model[i]
        for c in range(row.num_velocities):
            w, u = joint_column(row, scratch[i], c)
            w, u = recursion.column_at(here, scratch[i], w, u)
            store(out[:, row.first_velocity + c], w, u)
        i = row.parent
    return OK


@helper
def apply_wrenches(space, q, wrenches, recursion):
    """Leave the wrenches on the user's bodies (bodies + 1, 6) where dynamics will find them.

    Calls   wrench_from_site, needs_poses.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    if recursion.needs_poses:
        status = joint_pass(model, scratch, positions(model, q), at_rest(space))
        if status != OK:
            return status
        world_pass(model, scratch)
    for i in range(model.shape[0]):
        store(scratch[i].wrench, _ZERO, _ZERO)
    sites = frames(space)
    wrenches = as_matrix(wrenches, sites.shape[0], 6)
    for b in range(1, sites.shape[0]):
        body = scratch[sites[b].row]
        W = wrenches[b]
        t, f = recursion.wrench_from_site(body, sites[b], angular(W), linear(W))
        accumulate(body.wrench, t, f)
    return OK
