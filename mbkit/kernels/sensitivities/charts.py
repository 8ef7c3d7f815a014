"""Differentials of the coordinates that steps on the group are taken in, joint by joint.

With A(x) = dexp_inv(x, .), the rate of x where retract(q, x) moves, retract(q, x) moves with x by
E = A(x)^-1 dx, and with q by C = A(x)^-1 A(-x) dq: the step back from there is -x. The rate of x
itself, k = A(x) w(q, v), is differentiated by central differences of sixth order,

    f' = (45 (f(h) - f(-h)) - 9 (f(2h) - f(-2h)) + (f(3h) - f(-3h))) / 60 h + h^6 f^(7) / 140,

at h = 1/32: inverse differentials are series with the radius 2 pi. Where v are the rates w of
steps, k does not change with q, and with v by A(x).
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import at, helper, int64, kernel, matrix
from mbkit.kernels.configuration import call_joint, solve_rows
from mbkit.kernels.derivatives import joint_changes
from mbkit.kernels.derivatives.joint_changes import set_rates, step_from
from mbkit.kernels.layout import SCREW
from mbkit.kernels.space import bodies, scratch_of, trials
from mbkit.kernels.status import JOINT_FAILED, OK, failure

#: h, and what the weights at the steps of `joint_changes` are multiplied by.
STEP = 1.0 / 32.0
PART = joint_changes.STEP / STEP

#: Rows of the memory, each as long as a step, and as the largest block of a joint.
MEMORY = 6


class Place(NamedTuple):
    """A joint, the step x from which its rate is asked at (q, v), and memory (MEMORY, ...)."""

    row: Any
    body: Any
    x: Any
    q: Any
    v: Any
    memory: Any


@helper
def has_blocks(row):
    """Whether the coordinates of a joint do not add, or their rates are not velocities."""
    return row.kind != SCREW and (row.dexp_inv != 0 or row.rates != 0)


@helper
def rate_of(place, x, w, out):
    """out = dexp_inv(x, w) in the entries of the joint."""
    row = place.row
    a = row.first_step
    if row.dexp_inv == 0:
        for j in range(a, a + row.ndx):
            out[j] = w[j]
        return OK
    return call_joint(row, place.body, row.dexp_inv, at(x, a), at(w, a), at(out, a))


@helper
def set_unit(values, first, count, k):
    """Let an entry be one, the others of a joint zero."""
    for j in range(count):
        values[first + j] = 1.0 if j == k else 0.0


@helper
def set_columns(place, sign, A):
    """A = dexp_inv(sign x, .)."""
    a = place.row.first_step
    d = place.row.ndx
    x, unit, out = place.memory[0], place.memory[1], place.memory[2]
    for j in range(a, a + d):
        x[j] = sign * place.x[j]
    for k in range(d):
        set_unit(unit, a, d, k)
        status = rate_of(place, x, unit, out)
        if status != OK:
            return status
        for j in range(d):
            A[j, k] = out[a + j]
    return OK


@helper
def block(values, first, rows, columns):
    """A matrix that begins at an entry, by rows."""
    return values[first : first + rows * columns].reshape((rows, columns))


@helper
def set_product(A, B, out):
    """out = A B."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            total = 0.0
            for j in range(B.shape[0]):
                total += A[i, j] * B[j, k]
            out[i, k] = total


@helper
def set_inverse(A, memory, out):
    """out = A^-1."""
    d = A.shape[0]
    factors = block(memory[3], 0, d, d)
    column = memory[2][:d]
    for k in range(d):
        for i in range(d):
            for j in range(d):
                factors[i, j] = A[i, j]
        set_unit(column, 0, d, k)
        solve_rows(factors, column)
        for i in range(d):
            out[i, k] = column[i]


@helper
def weight(k):
    """The weight of f(k h), k = 1, 2, 3."""
    return PART * joint_changes.weight(k)


@helper
def set_rates_by_step(place, w, K):
    """K, the derivative of dexp_inv(x, w) by x."""
    a = place.row.first_step
    d = place.row.ndx
    x, out = place.memory[0], place.memory[2]
    for j in range(a, a + d):
        x[j] = place.x[j]
    K[:, :] = 0.0
    for c in range(d):
        for k in range(1, 4):
            for sign in range(-1, 2, 2):
                x[a + c] = place.x[a + c] + sign * k * STEP
                status = rate_of(place, x, w, out)
                if status != OK:
                    return status
                for j in range(d):
                    K[j, c] += sign * weight(k) * out[a + j]
        x[a + c] = place.x[a + c]
    return OK


@helper
def set_rates_by_state(place, trial, A, Q, V):
    """Q and V, the derivatives of A w(q, v) along steps of q and by v, of a nonholonomic joint."""
    row, body, _, q, v, memory = place
    there, unit, dx = trial
    a = row.first_step
    d = row.ndx
    out = memory[2]
    product = block(memory[3], 0, d, max(d, row.num_velocities))
    found = product[:, :d]
    found[:, :] = 0.0
    for j in range(a, a + d):
        dx[j] = 0.0
    for c in range(d):
        for k in range(1, 4):
            for sign in range(-1, 2, 2):
                dx[a + c] = sign * k * STEP
                status = step_from(row, body, q, dx, there)
                if status == OK:
                    status = set_rates(row, body, there, v, out)
                if status != OK:
                    return status
                for j in range(d):
                    found[j, c] += sign * weight(k) * out[a + j]
        dx[a + c] = 0.0
    set_product(A, found, Q)
    for c in range(row.num_velocities):
        set_unit(unit, row.first_velocity, row.num_velocities, c)
        status = set_rates(row, body, q, unit, out)
        if status != OK:
            return status
        for j in range(d):
            product[j, c] = out[a + j]
    set_product(A, product[:, : row.num_velocities], V)
    return OK


@helper
def set_joint(place, trial, every, first, out):
    """The blocks of a joint, from an entry on; see `set_differentials`."""
    row, body, _, q, v, memory = place
    d = row.ndx
    nv = row.num_velocities
    A, B = block(memory[4], 0, d, d), block(memory[5], 0, d, d)
    status = set_columns(place, 1.0, A)
    if status == OK:
        status = set_columns(place, -1.0, B)
    if status != OK:
        return status
    E = block(out, first + d * d, d, d)
    set_inverse(A, memory, E)
    set_product(E, B, block(out, first, d, d))
    if every == 0:
        return OK
    w = memory[1]
    status = set_rates(row, body, q, v, w)
    if status == OK:
        status = set_rates_by_step(place, w, block(out, first + 2 * d * d, d, d))
    if status != OK:
        return status
    Q = block(out, first + 3 * d * d, d, d)
    V = block(out, first + 4 * d * d, d, nv)
    if row.rates != 0:
        return set_rates_by_state(place, trial, A, Q, V)
    Q[:, :] = 0.0
    for j in range(d):
        for c in range(nv):
            V[j, c] = A[j, c]
    return OK


@helper
def set_differentials(space, x, q, v, every, memory, out):
    """Matrices of all joints that have them, one after another, by rows.

    How retract(q, x) moves with q and with x, (d, d) each; and where `every`, how dexp_inv(x, w)
    does with x, along steps of q, and with v.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    trial = trials(space)
    first = 0
    for i in range(1, model.shape[0]):
        row = model[i]
        if has_blocks(row):
            place = Place(row, scratch[i], x, q, v, memory)
            if set_joint(place, trial, every, first, out) != OK:
                return failure(JOINT_FAILED, i)
            first += 2 * row.ndx * row.ndx
            if every != 0:
                first += row.ndx * (2 * row.ndx + row.num_velocities)
    return OK


@kernel(int64(int64, matrix, matrix, matrix, int64, matrix, matrix), nogil=True)
def differentials(space, x, q, v, every, memory, out):
    """`set_differentials` of N steps, states and rows."""
    for n in range(x.shape[0]):
        status = set_differentials(space, x[n], q[n], v[n], every, memory, out[n])
        if status != OK:
            return status
    return OK
