"""All constraints of a state: residuals, rates, and rows as wrenches on the sites."""

from mbkit.kernels.compile import (
    address_kernel,
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.constraints.kinds.called_by_address import table_rows
from mbkit.kernels.constraints.kinds.loop_joint import loop_joint_rows
from mbkit.kernels.constraints.layout import LOOP_JOINT
from mbkit.kernels.constraints.sites import move_sites
from mbkit.kernels.constraints.workspace import (
    closure_of,
    constraints,
)
from mbkit.kernels.evaluation_form import EVALUATION, positions, velocities
from mbkit.kernels.hybrid import operators as hybrid
from mbkit.kernels.layout import SPACE
from mbkit.kernels.recursions.columns import acceleration
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import CONSTRAINT_FAILED, CONSTRAINT_NOT_FINITE, NOT_FINITE, OK, failure
from mbkit.kernels.workspace import bodies, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@address_kernel(EVALUATION)
def constraint_rows(space, _option, q, v, vdot, _out):
    """g, A v + g_t, A v' + (A' v + ...) into the memory, and the wrenches of the rows.

    Needs the sites.
    """
    closure = closure_of(space)
    every = constraints(closure)
    for c in range(every.shape[0]):
        constraint = every[c]
        if constraint.kind == LOOP_JOINT:
            status = loop_joint_rows(closure, constraint)
        else:
            status = table_rows(space, c, q, v, vdot)
        if status != OK:
            return failure(CONSTRAINT_NOT_FINITE if status == NOT_FINITE else CONSTRAINT_FAILED, c)
    return OK


@helper
def rows_at_sites(space, q, v, vdot):
    """The same, called by address: its code is long, and a dozen kernels call it."""
    return call_address(closure_of(space).constraint_rows, (space, 0, q, v, vdot, vdot))


@helper
def rows_of_motion(space, option, q, v, vdot):
    """The sites and the rows, by the motion of the bodies that a recursion has just written."""
    status = call_address(closure_of(space).move_sites, (space, option, q, v, vdot, vdot))
    return rows_at_sites(space, q, v, vdot) if status == OK else status


@helper
def set_time(space, t):
    """Set the time at which constraints and forces are evaluated."""
    time = floats_at(records_at(space, 1, SPACE)[0].time, 1)
    time[0] = t


@helper
def rows_at_state(space, q, v, vdot):
    """The rows, rates and biases at a state, with bodies that move as in `mbkit.kernels.hybrid`.

    Leaves S of the tree and the sites in hybrid twists, whatever the system's representation.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    status = joint_pass(model, scratch, q, v)
    if status != OK:
        return status
    start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        hybrid.twist(model, scratch, i, v)
        acceleration(model, scratch, i, vdot, hybrid.RECURSION)
    move_sites(space, _ZERO, hybrid.RECURSION)
    return rows_at_sites(space, q, v, vdot)


@address_kernel(EVALUATION)
def constraint_state(space, _option, q, v, given, out):
    """g (num_position_rows,), A v + g_t (num_rows,), A vdot + A' v + ... (num_rows,), in a row.

    given is vdot (nv,), then t.
    """
    model = bodies(space)
    q = positions(model, q)
    v = velocities(model, v)
    vdot = velocities(model, given)
    set_time(space, given[model[0].num_velocities])
    status = rows_at_state(space, q, v, vdot)
    if status != OK:
        return status
    closure = closure_of(space)
    np = closure.num_position_rows
    m = closure.num_rows
    residual = floats_at(closure.residual, np)
    rate = floats_at(closure.rate, m)
    bias = floats_at(closure.bias, m)
    for j in range(np):
        out[j] = residual[j]
    for j in range(m):
        out[np + j] = rate[j]
        out[np + m + j] = bias[j]
    return OK
