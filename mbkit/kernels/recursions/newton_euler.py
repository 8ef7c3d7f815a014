"""Inverse dynamics: the recursive Newton-Euler algorithm (RNEA)."""

from mbkit.kernels.compile import helper
from mbkit.kernels.constraints.evaluate import rows_of_motion
from mbkit.kernels.constraints.solve.multipliers import subtract_efforts, subtract_multipliers
from mbkit.kernels.evaluation_form import positions, velocities
from mbkit.kernels.layout import CLOSED, LOADED
from mbkit.kernels.recursions.applied_wrenches import subtract_applied
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import accumulate, angular, linear, load, scale
from mbkit.kernels.workspace import bodies, scratch_of


@helper
def newton_euler(space, option, q, v, vdot, tau, recursion):
    """Forces tau that produce vdot: M vdot + b = tau.

    Calls   start, twist, acceleration, own_wrench, column_power, to_parent, wrench_from_world.
    Reads   model, q, v, vdot; where option has LOADED, the wrenches applied to the bodies in
            scratch; where it has CLOSED, the multipliers.
    Writes  scratch (R, p, V, A, F), tau (nv,); where CLOSED, the rows of the constraints.
    Needs   parent[i] < i, body 0 the world, A_0 = (0, -g).
    Source  Kim 2012, table 2; Mueller 2018, (65) to (76) with the applied wrench subtracted.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    v = velocities(model, v)
    vdot = velocities(model, vdot)
    closed = option & CLOSED
    status = joint_pass(model, scratch, positions(model, q), v)
    if status != OK:
        return status
    recursion.start(scratch, scale(-1.0, load(model[0].gravity)))
    # from the world to the tips: motion, and the wrench that each body alone needs
    for i in range(1, model.shape[0]):
        recursion.twist(model, scratch, i, v)
        recursion.acceleration(model, scratch, i, vdot, recursion)
        recursion.own_wrench(model[i], scratch[i])
        subtract_applied(scratch[i], option & LOADED)
    if closed != 0:
        status = rows_of_motion(space, 0, q, v, vdot)
        if status != OK:
            return status
        subtract_multipliers(space, recursion)
    # from the tips to the world: forces along the joints, wrenches to the parents
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        parent = scratch[row.parent]
        t = angular(body.F)
        f = linear(body.F)
        for c in range(row.num_velocities):
            tau[row.first_velocity + c] = recursion.column_power(row, body, c, t, f)
        if row.parent != 0:
            t, f = recursion.to_parent(body, parent, t, f)
            accumulate(parent.F, t, f)
    if closed != 0:
        subtract_efforts(space, tau)
    return OK
