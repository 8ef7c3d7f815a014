"""Derivatives of one loop joint on dual numbers, for the adjoint: see `called_loop_joints` here.

At given motion of the bodies, and with R = A - [V_a, V], psi (`loops`) is

    psi = -L . X + Y . (R - b_J) + Z . V + G . log(T_J^-1 T).

Compiled for dual numbers alone (`mbkit.kernels.duals`).
"""

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.constraints.kinds.loop_joint import close_joint
from mbkit.kernels.constraints.workspace import closure_of, constraints
from mbkit.kernels.derivatives.joints.loop_joint import at_loop_joint, set_wrenches_of_coordinates
from mbkit.kernels.duals import DIRECTIONS, along, moving
from mbkit.kernels.elementary import value_of
from mbkit.kernels.status import OK
from mbkit.kernels.vector_jacobian_products.called_loop_joints import CALLED_LOOPS
from mbkit.kernels.vector_jacobian_products.slopes_of_loop_joints import joint_bias, power, total
from mbkit.kernels.vectors import angular, linear

#: The forms of `slopes_of_loop_joint` and `slopes_by_numbers`.
FORM = "sii"
FORM_BY_NUMBERS = "siic"


@helper
def put_pose(record, body):
    """Set the pose of the joint to that of the record."""
    for j in range(3):
        body.p[j] = moving(record.T_p[j], 0, 0.0)
        for k in range(3):
            body.R[j, k] = moving(record.T_R[j, k], 0, 0.0)


@helper
def put_moving_pose(record, body):
    """Let T = (R, p) move along turns and shifts of its own frame: dR = R w~, dp = R u."""
    for j in range(3):
        x, y, z = record.T_R[j, 0], record.T_R[j, 1], record.T_R[j, 2]
        body.R[j, 0] = moving(x, 1, -z) + moving(0.0, 2, y)
        body.R[j, 1] = moving(y, 2, -x) + moving(0.0, 0, z)
        body.R[j, 2] = moving(z, 0, -y) + moving(0.0, 1, x)
        shift = moving(record.T_p[j], 3, x)
        body.p[j] = shift + moving(0.0, 4, y) + moving(0.0, 5, z)


@helper
def pair(V):
    """A twist in memory as a pair of tuples."""
    return angular(V), linear(V)


@helper
def value_at_pose(loop, record, factors, residuals, buffer):
    """psi at the pose in R, p of the joint's memory; a status, psi, and Y."""
    status, w, u = close_joint(loop.joint, loop.body, buffer)
    if status == OK:
        status = set_wrenches_of_coordinates(loop)
    L, Y = total(loop, factors[0]), total(loop, factors[1])
    Z, G = total(loop, factors[2]), total(loop, factors[3])
    psi = moving(0.0, 0, 0.0) + power(Y, pair(record.R)) + power(Z, pair(record.V))
    psi -= power(L, pair(record.X))
    if residuals != 0:
        psi += power(G, (w, u))
    if record.has_bias != 0 and status == OK:
        status, b = joint_bias(loop, pair(record.V), buffer)
        psi -= power(Y, b)
    return status, psi, Y


@helper
def values_of(a):
    """The values of three numbers."""
    return value_of(a[0]), value_of(a[1]), value_of(a[2])


@helper
def write_slopes_by_twist(loop, record, Y, buffer):
    """beta, the derivative of Y . b_J by V at a fixed pose; needs the coordinates."""
    q, V = loop.body.coupling, record.V
    for j in range(loop.joint.num_positions):
        q[j] = moving(value_of(q[j]), 0, 0.0)
    w = moving(V[0], 0, 1.0), moving(V[1], 1, 1.0), moving(V[2], 2, 1.0)
    u = moving(V[3], 3, 1.0), moving(V[4], 4, 1.0), moving(V[5], 5, 1.0)
    status, b = joint_bias(loop, (w, u), buffer)
    value = power((values_of(Y[0]), values_of(Y[1])), b)
    for i in range(6):
        record.by_twist[i] = along(value, i)
    return status


@helper
def given_at(space, memory):
    """The factors of the rows, and room."""
    closure = closure_of(space)
    m = closure.num_rows
    factors = floats_at(records_at(memory, 1, CALLED_LOOPS)[0].factors, 5 * m).reshape((5, m))
    return factors, floats_at(closure.buffer, closure.num_buffer)


@helper
def write_slopes(space, loop, memory, _out):
    """kappa and beta into the record."""
    record = records_at(memory, 1, CALLED_LOOPS)[0]
    factors, buffer = given_at(space, memory)
    put_moving_pose(record, loop.body)
    status, psi, Y = value_at_pose(loop, record, factors, record.opens, buffer)
    for i in range(6):
        record.by_pose[i] = along(psi, i)
        record.by_twist[i] = 0.0
    if status == OK and record.has_bias != 0:
        status = write_slopes_by_twist(loop, record, Y, buffer)
    return status


@helper
def add_slopes_by_numbers(space, loop, memory, out):
    """Add the derivatives along the directions of the numbers of the joint."""
    record = records_at(memory, 1, CALLED_LOOPS)[0]
    factors, buffer = given_at(space, memory)
    put_pose(record, loop.body)
    status, psi, _ = value_at_pose(loop, record, factors, record.with_residuals, buffer)
    for j in range(DIRECTIONS):
        out[j] += along(psi, j)
    return status


def slopes_of_loop_joint(space, memory, c):
    """kappa and beta of loop joint c, at `CALLED_LOOPS` in memory."""
    constraint = constraints(closure_of(space))[c]
    return at_loop_joint(space, constraint, write_slopes, memory, memory)


def slopes_by_numbers(space, memory, c, out):
    """Add the derivatives along the seven directions of its numbers to out."""
    constraint = constraints(closure_of(space))[c]
    return at_loop_joint(space, constraint, add_slopes_by_numbers, memory, out)
