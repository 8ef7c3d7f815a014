"""The configuration space as a group: the product of the joints' own."""

import numpy as np

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import address_kernel, at, call_address, helper, pointer_at
from mbkit.kernels.elementary import any_lane
from mbkit.kernels.evaluation_form import EVALUATION, positions, tangent, velocities
from mbkit.kernels.layout import SCREW
from mbkit.kernels.linear_algebra.pivot_orders import exchange
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.workspace import bodies, scratch_of

# A joint without functions of its own is a vector space: its coordinates add, v = dq/dt.


@helper
def call_joint(row, body, address, x, y, out):
    """Call an operation of a joint by address: out from x and y, pointers to its own entries."""
    return call_address(address, (body.slot, pointer_at(row.parameters), x, y, out))


@helper
def retract_rows(model, scratch, q, dx, out):
    """out = q exp(dx), joint by joint; q + dx for screws."""
    for i in range(1, model.shape[0]):
        row = model[i]
        a = row.first_position
        k = row.first_step
        if row.kind == SCREW:
            out[a] = q[a] + dx[k]
        elif row.retract == 0:
            for j in range(row.ndx):
                out[a + j] = q[a + j] + dx[k + j]
        elif call_joint(row, scratch[i], row.retract, at(q, a), at(dx, k), at(out, a)) != OK:
            return failure(JOINT_FAILED, i)
    return OK


@helper
def dexp_inv_rows(model, scratch, x, w, out):
    """out = dx/dt where q = retract(q0, x) moves with the rates w, joint by joint."""
    for i in range(1, model.shape[0]):
        row = model[i]
        k = row.first_step
        if row.kind == SCREW:
            out[k] = w[k]
        elif row.dexp_inv == 0:
            for j in range(row.ndx):
                out[k + j] = w[k + j]
        elif call_joint(row, scratch[i], row.dexp_inv, at(x, k), at(w, k), at(out, k)) != OK:
            return failure(JOINT_FAILED, i)
    return OK


@helper
def rates_rows(model, scratch, q, v, out):
    """out = rates at which a step leaves q with velocity v: v, but for nonholonomic joints."""
    for i in range(1, model.shape[0]):
        row = model[i]
        a = row.first_position
        k = row.first_velocity
        d = row.first_step
        if row.rates == 0:
            for j in range(row.num_velocities):
                out[d + j] = v[k + j]
        elif call_joint(row, scratch[i], row.rates, at(q, a), at(v, k), at(out, d)) != OK:
            return failure(JOINT_FAILED, i)
    return OK


@helper
def difference_rows(model, scratch, q0, q1, out):
    """The dx that leads from q0 to q1, joint by joint; q1 - q0 for screws."""
    for i in range(1, model.shape[0]):
        row = model[i]
        a = row.first_position
        k = row.first_step
        if row.difference == 0:
            for j in range(row.ndx):
                out[k + j] = q1[a + j] - q0[a + j]
        elif call_joint(row, scratch[i], row.difference, at(q0, a), at(q1, a), at(out, k)) != OK:
            return failure(JOINT_FAILED, i)
    return OK


@address_kernel(EVALUATION)
def retract(space, _option, q, dx, _x, out):
    """The configuration that dx leads to from q, out (nq,)."""
    model = bodies(space)
    return retract_rows(
        model, scratch_of(space), positions(model, q), tangent(model, dx), positions(model, out)
    )


@address_kernel(EVALUATION)
def difference(space, _option, q0, q1, _x, out):
    """The dx that leads from q0 to q1, out (ndx,)."""
    model = bodies(space)
    return difference_rows(
        model, scratch_of(space), positions(model, q0), positions(model, q1), tangent(model, out)
    )


@address_kernel(EVALUATION)
def rates(space, _option, q, v, _x, out):
    """The rates at which a step leaves q with velocity v, out (ndx,)."""
    model = bodies(space)
    return rates_rows(
        model, scratch_of(space), positions(model, q), velocities(model, v), tangent(model, out)
    )


@address_kernel(EVALUATION)
def dexp_inv(space, _option, x, w, _x, out):
    """The rate of x while retract(q, x) moves with the rates w, out (ndx,)."""
    model = bodies(space)
    return dexp_inv_rows(
        model, scratch_of(space), tangent(model, x), tangent(model, w), tangent(model, out)
    )


@helper
def solve_rows(A, b):
    """A^-1 b into b, by elimination with the largest pivot of each column; destroys A."""
    n = b.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            is_larger = abs(A[i, k]) > abs(A[k, k])
            if any_lane(is_larger):
                for j in range(k, n):
                    exchange(A[:, j], i, k, is_larger)
                exchange(b, i, k, is_larger)
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= A[k, j] * b[j]
        b[k] /= A[k, k]


#: Numbers in which dexp_inv of a joint, of up to six steps, becomes a matrix.
BLOCK_SIZE = 48


@helper
def dexp_inv_block(space, i, x, room):
    """A status, and the matrix (n, n) of dexp_inv of joint i at x, which lies in `room`."""
    row = bodies(space)[i]
    n = row.ndx
    A = room[: n * n].reshape((n, n))
    for c in range(n):
        for m in range(n):
            room[36 + m] = 0.0
        room[36 + c] = 1.0
        body = scratch_of(space)[i]
        at_x = at(x, row.first_step)
        status = call_joint(row, body, row.dexp_inv, at_x, at(room, 36), at(room, 42))
        if status != OK:
            return failure(JOINT_FAILED, i), A
        for m in range(n):
            A[m, c] = room[42 + m]
    return OK, A


@address_kernel(EVALUATION)
def dexp(space, _option, x, rate, _x, out):
    """The rates w with which retract(q, x) moves while x does with its rate, out (ndx,).

    Joint by joint dexp_inv is a matrix; it is solved with.
    """
    model = bodies(space)
    x = tangent(model, x)
    out = tangent(model, out)
    assign(out, tangent(model, rate))
    room = np.empty(BLOCK_SIZE)
    for i in range(1, model.shape[0]):
        row = model[i]
        if row.kind != SCREW and row.dexp_inv != 0:
            status, A = dexp_inv_block(space, i, x, room)
            if status != OK:
                return status
            solve_rows(A, out[row.first_step : row.first_step + row.ndx])
    return OK
