"""Vector-Jacobian products of constraints in Python: a Python method is called once a state.

It gets the arguments of the constraint, and weights w of its quantities, such that

    psi = w . (residual, rate, bias, wrenches, coefficients)

is that of `constraints` in this package at the same motion of bodies and joints. It returns the
derivatives of psi, and the wrenches and coefficients themselves.
"""

from mbkit.kernels.compile import call_address, floats_at, helper, integers_at
from mbkit.kernels.joints.named_joints import copy_state
from mbkit.kernels.layout import (
    DONE,
    JOINT_NUM_POSITIONS,
    JOINT_SIZE,
    PENDING,
    SLOT_STATUS,
)
from mbkit.kernels.status import CONSTRAINT_FAILED, OK, failure
from mbkit.kernels.vector_jacobian_products.python_forces import add_to_joints
from mbkit.kernels.workspace import bodies

#: Entries of the memory of a constraint, after SLOT_STATUS: the address of the function, then t, q,
#: v, poses and twists of the constraint, and w. Results: derivatives by the steps and velocities of
#: its joints, H and G of its bodies, wrenches and coefficients.
ASKED = 1
TIME = 2


@helper
def put_arguments(memory, constraint, own, state, time):
    """Write the arguments of a constraint; return the position behind them."""
    joints = integers_at(constraint.joints, JOINT_SIZE * constraint.num_joints)
    nq = 0
    for i in range(constraint.num_joints):
        nq += joints[JOINT_SIZE * i + JOINT_NUM_POSITIONS]
    memory[TIME] = time
    first = TIME + 1
    copy_state(joints, state.q, state.v, True, memory[first:], nq)
    first += nq + constraint.num_velocities
    for s in range(own.shape[0]):
        for i in range(3):
            for j in range(3):
                memory[first + 4 * i + j] = own[s].R[i, j]
            memory[first + 4 * i + 3] = own[s].p[i]
        first += 16
    for s in range(own.shape[0]):
        for j in range(6):
            memory[first + j] = own[s].V[j]
        first += 6
    return first


@helper
def put_weights(memory, record, constraint, own, given):
    """Write w; return how many numbers these are. given: state, x and factors."""
    state, x, factors = given
    named = integers_at(constraint.velocities, constraint.num_velocities)
    scales = floats_at(constraint.scales, constraint.num_rows)
    p = constraint.num_position_rows
    m = constraint.num_rows
    closes = record.closes != 0
    k = p + 2 * m
    for r in range(m):
        row = constraint.first_row + r
        L = scales[r] * factors[0, row]
        Y = scales[r] * factors[1, row]
        Z = scales[r] * factors[2, row]
        if r < p:
            memory[r] = scales[r] * factors[3, row] if record.with_residuals != 0 else 0.0
        memory[p + r] = Z
        memory[p + m + r] = 0.0 if closes else Y
        for s in range(own.shape[0]):
            body = own[s]
            for j in range(6):
                memory[k] = Y * body.A[j] + Z * body.V[j] - L * body.X[j]
                k += 1
    for r in range(m):
        row = constraint.first_row + r
        L = scales[r] * factors[0, row]
        Y = scales[r] * factors[1, row]
        Z = scales[r] * factors[2, row]
        for j in range(constraint.num_velocities):
            i = named[j]
            memory[k] = Y * state.vdot[i] + Z * state.v[i] - L * x[i]
            k += 1
    return k


@helper
def take_said(memory, constraint, own, factors, nx):
    """E, G, H and K of the bodies by the results of the method; add derivatives by v to slopes."""
    scales = floats_at(constraint.scales, constraint.num_rows)
    nv = constraint.num_velocities
    nb = own.shape[0]
    m = constraint.num_rows
    first = nx + nv
    for s in range(nb):
        for j in range(6):
            own[s].H[j] = memory[first + 6 * s + j]
            own[s].G[j] = memory[first + 6 * (nb + s) + j]
            own[s].E[j] = own[s].K[j] = 0.0
    wrenches = memory[first + 12 * nb :]
    coefficients = wrenches[6 * m * nb :]
    for r in range(m):
        row = constraint.first_row + r
        L = scales[r] * factors[0, row]
        Y = scales[r] * factors[1, row]
        Z = scales[r] * factors[2, row]
        for s in range(nb):
            for j in range(6):
                W = wrenches[6 * (r * nb + s) + j]
                own[s].E[j] -= L * W
                own[s].K[j] += Y * W
                own[s].G[j] += Z * W
        for j in range(nv):
            memory[nx + j] += Z * coefficients[r * nv + j]


@helper
def ask_constraint(space, records, which, own, given, out):
    """E, G, H and K of the bodies of a constraint in Python, `own`; derivatives by joints: out.

    records: `ROWS` and `CALLED_CONSTRAINT`; which: the constraint and its number; given: the state,
    weights x of efforts, and factors (5, m).
    """
    record, called = records
    constraint, c = which
    state, _, factors = given
    by_q, by_v = out
    model = bodies(space)
    rows = integers_at(called.rows, called.num_rows)
    memory = floats_at(called.said, called.room)
    first = put_arguments(memory, constraint, own, state, record.time)
    first += put_weights(memory[first:], record, constraint, own, given)
    memory[SLOT_STATUS] = PENDING
    call_address(int(memory[ASKED]), (called.said,))
    if memory[SLOT_STATUS] != DONE:
        return failure(CONSTRAINT_FAILED, c)
    nx = 0
    for i in rows:
        nx += model[i].ndx
    said = memory[first:]
    take_said(said, constraint, own, factors, nx)
    add_to_joints(model, rows, said, by_q, by_v)
    return OK
