"""Strategies on one dense matrix B (nv, m): the columns are the rows y, times the roots of D.

B^T B = A M^-1 A^T, and B is not squared: its condition number is the root of that of the product.
Two functions by address, over numbers alone:

    prepare(nv, m, B, limits, kept, memory)
        B may be overwritten. limits: the squared size (m,) below which what is left of a row is
        nothing; kept: 1.0 for each row (m,) that is independent of those before it.
    solve(nv, m, B, target, efforts, multipliers, memory)
        Efforts (nv,) of least norm with B^T efforts = -target, and the multipliers (m,) of least
        norm with B multipliers = efforts.

Velocities that are prescribed have rows of zeros.
"""

from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    floats_at,
    helper,
    integers_at,
)
from mbkit.kernels.constraints.solve.dense_calls import prepare_matrix, solve_matrix
from mbkit.kernels.constraints.solve.factor import set_limits
from mbkit.kernels.constraints.solve.response import gather_efforts, is_floating
from mbkit.kernels.constraints.solve.strategy import PREPARE, RESOLVE
from mbkit.kernels.constraints.workspace import (
    closure_of,
    constraints,
    kept_rows,
    response_of,
    rows_of,
    set_zero,
)
from mbkit.kernels.elementary import any_lane, select, sqrt
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies, scratch_of

DENSE_PREPARE = "iipppp"
DENSE_SOLVE = "iippppp"


@helper
def set_matrix(space, B, sizes):
    """B, and the squares of its columns."""
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    set_zero(B.reshape(-1))
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        support = integers_at(constraint.support, constraint.num_support)
        y = response_of(closure, constraint)
        for r in range(constraint.num_rows):
            sizes[constraint.first_row + r] = 0.0
        at = 0
        for s in range(support.shape[0]):
            row = model[support[s]]
            for c in range(row.num_velocities - 1, -1, -1):
                k = row.first_velocity + c
                root = 1.0 if is_floating(row, scratch[support[s]]) else sqrt(scratch[k].D)
                for r in range(constraint.num_rows):
                    value = root * y[r, at]
                    B[k, constraint.first_row + r] = value
                    sizes[constraint.first_row + r] += value * value
                at += 1


@address_kernel(PREPARE)
def prepare_dense(space):
    """B, and what the strategy makes of it."""
    closure = closure_of(space)
    nv = bodies(space)[0].num_velocities
    m = closure.num_rows
    B = floats_at(closure.dense, nv * m)
    sizes = rows_of(closure, closure.largest)
    limits = rows_of(closure, closure.limits)
    set_matrix(space, B.reshape((nv, m)), sizes)
    set_limits(space, sizes, limits)
    room = floats_at(closure.room, m)
    for r in range(m):
        room[r] = 1.0
    status = prepare_matrix(closure, (nv, m), B, limits, room)
    kept = kept_rows(closure)
    for r in range(m):
        kept[r] = select(room[r] != 0.0, 1, 0)
    return status


@address_kernel(RESOLVE)
def resolve_dense(space, target, multipliers):
    """The strategy's efforts and multipliers; those of prescribed velocities from the latter."""
    closure = closure_of(space)
    scratch = scratch_of(space)
    nv = bodies(space)[0].num_velocities
    m = closure.num_rows
    efforts = floats_at(closure.efforts, nv)
    found = as_array(multipliers, m)
    B = floats_at(closure.dense, nv * m)
    status = solve_matrix(closure, (nv, m), B, as_array(target, m), (efforts, found))
    if status != OK:
        return status
    gather_efforts(space, found)
    model = bodies(space)
    for i in range(1, model.shape[0]):
        body = scratch[i]
        for c in range(model[i].num_velocities):
            k = model[i].first_velocity + c
            if is_floating(model[i], body):
                body.bias[5 - c] = efforts[k]
            elif any_lane(scratch[k].D != 0.0):
                scratch[k].u = efforts[k] / sqrt(scratch[k].D)
    return OK


# ------------------------------------------------------------------- factors in the place of B
#
# Of rank n: a lower factor and R, upper, in the first n rows and columns, rows and columns of B in
# the orders `row_order` and `column_order`.


@helper
def start_factor(row_order, column_order, kept):
    """Rows and columns are where they are, and none counts."""
    for k in range(row_order.shape[0]):
        row_order[k] = k
    for i in range(column_order.shape[0]):
        column_order[i] = i
        kept[i] = 0.0


@helper
def exchange(B, j, row, column, row_order, column_order):
    """Row and column j change places with these, with what is kept of the factor before."""
    if row != j:
        row_order[j], row_order[row] = row_order[row], row_order[j]
        for i in range(B.shape[1]):
            B[j, i], B[row, i] = B[row, i], B[j, i]
    if column != j:
        column_order[j], column_order[column] = column_order[column], column_order[j]
        for k in range(B.shape[0]):
            B[k, j], B[k, column] = B[k, column], B[k, j]


@helper
def solve_dependent(B, n):
    """The columns after the first n, that depend on these, become W = R^-1 of what they are."""
    m = B.shape[1]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for c in range(n, m):
                B[i, c] -= B[i, k] * B[k, c]
        for c in range(n, m):
            B[i, c] /= B[i, i]


@helper
def solve_target(B, n, target, column_order, x):
    """R^T x = -target, of those columns that are kept."""
    for i in range(n):
        value = -target[int(column_order[i])]
        for j in range(i):
            value -= B[j, i] * x[j]
        x[i] = value / B[i, i]


@helper
def write_multipliers(B, n, x, column_order, multipliers):
    """(x, W^T x), in the order of the rows of the constraints."""
    for i in range(n):
        multipliers[int(column_order[i])] = x[i]
    for c in range(n, B.shape[1]):
        value = 0.0
        for i in range(n):
            value += B[i, c] * x[i]
        multipliers[int(column_order[c])] = value


@helper
def factorise_normal(W, n, L):
    """1 + W W^T = L L^T for the first n rows of W; no pivot is below one."""
    for i in range(n):
        for j in range(i + 1):
            value = 1.0 if i == j else 0.0
            for k in range(W.shape[1]):
                value += W[i, k] * W[j, k]
            for k in range(j):
                value -= L[i, k] * L[j, k]
            L[i, j] = sqrt(value) if i == j else value / L[j, j]


@helper
def solve_normal(L, n, x):
    """x becomes the solution of (1 + W W^T) x = x, its first n entries."""
    for i in range(n):
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= L[j, i] * x[j]
        x[i] /= L[i, i]
