"""Inverse dynamics in body-fixed twists: the recursive Newton-Euler algorithm."""

from mbkit.kernels.body_fixed.outward import acceleration, twist
from mbkit.kernels.compile import boolean, floats, helper, int64, kernel
from mbkit.kernels.inertias import gyroscopic, rigid_times
from mbkit.kernels.joint_pass import checked_joint_pass
from mbkit.kernels.layout import SCREW
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.validation import check_velocities
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    force_to_parent,
    linear,
    load,
    pairing,
    scale,
    store,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def own_wrench(row, body, loaded):
    """F = M A - ad_V^T M V - W, W the wrench applied from outside."""
    t, f = rigid_times(row, angular(body.A), linear(body.A))
    x, y = gyroscopic(row, angular(body.V), linear(body.V))
    t = add(t, x)
    f = add(f, y)
    if loaded:
        t = subtract(t, angular(body.wrench))
        f = subtract(f, linear(body.wrench))
    store(body.F, t, f)


@kernel(int64(int64, floats, floats, floats, boolean, floats))
def inverse_dynamics(space, q, v, vdot, loaded, tau):
    """Forces tau that produce vdot: M vdot + b = tau.

    Reads   model, q, v, vdot; where `loaded`, the wrenches applied to the bodies in work.
    Writes  work (R, p, V, A, F in body frames), tau (nv,).
    Needs   parent[i] < i, row 0 the world, A_0 = (0, -g).
    Source  Kim 2012, table 2; Mueller 2018, (65), (67) with the applied wrench subtracted.
    """
    model = bodies(space)
    work = scratch(space)
    state = check_velocities(model, v, vdot, tau)
    if state == OK:
        state = checked_joint_pass(model, work, q, v)
    if state != OK:
        return state
    store(work[0].V, _ZERO, _ZERO)
    store(work[0].A, _ZERO, scale(-1.0, load(model[0].gravity)))
    # from the world to the tips: motion, and the wrench that each body alone needs
    for i in range(1, model.shape[0]):
        twist(model, work, i, v)
        acceleration(model, work, i, vdot)
        own_wrench(model[i], work[i], loaded)
    # from the tips to the world: forces along the joints, wrenches to the parents
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = work[i]
        t = angular(body.F)
        f = linear(body.F)
        if row.kind == SCREW:
            tau[row.first_velocity] = row.rate * t[2] + row.lead * f[2]
        else:
            for c in range(row.num_velocities):
                tau[row.first_velocity + c] = pairing(body.S[c], t, f)  # S^T F
        t, f = force_to_parent(body.R, body.p, t, f)
        accumulate(work[row.parent].F, t, f)
    return OK
