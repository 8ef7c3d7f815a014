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
    call_address,
    floats_at,
    helper,
    integers_at,
    pointer_at,
)
from mbkit.kernels.constraints.solve.factor import set_limits
from mbkit.kernels.constraints.solve.response import floats, gather_efforts
from mbkit.kernels.constraints.solve.strategy import PREPARE, RESOLVE
from mbkit.kernels.constraints.space import (
    closure_of,
    constraints,
    kept_rows,
    response_of,
    rows_of,
)
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK

DENSE_PREPARE = "iipppp"
DENSE_SOLVE = "iippppp"


@helper
def set_matrix(space, B, sizes):
    """B, and the squares of its columns."""
    model = bodies(space)
    work = scratch(space)
    closure = closure_of(space)
    B[:, :] = 0.0
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        rows = integers_at(constraint.support, constraint.num_support)
        y = response_of(closure, constraint)
        for r in range(constraint.num_rows):
            sizes[constraint.first_row + r] = 0.0
        at = 0
        for s in range(rows.shape[0]):
            row = model[rows[s]]
            for c in range(row.num_velocities - 1, -1, -1):
                k = row.first_velocity + c
                root = 1.0 if floats(row, work[rows[s]]) else sqrt(work[k].D)
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
    room[:] = 1.0
    state = call_address(
        closure.dense_prepare, (nv, m, B, limits, room, pointer_at(closure.memory))
    )
    kept = kept_rows(closure)
    for r in range(m):
        kept[r] = 1 if room[r] != 0.0 else 0
    return state


@address_kernel(RESOLVE)
def resolve_dense(space, target, multipliers):
    """The strategy's efforts and multipliers; those of prescribed velocities from the latter."""
    closure = closure_of(space)
    work = scratch(space)
    nv = bodies(space)[0].num_velocities
    m = closure.num_rows
    efforts = floats_at(closure.efforts, nv)
    state = call_address(
        closure.dense_solve,
        (
            nv, m, pointer_at(closure.dense), target, efforts, multipliers,
            pointer_at(closure.memory),
        ),
    )  # fmt: skip
    if state != OK:
        return state
    gather_efforts(space, as_array(multipliers, m))
    model = bodies(space)
    for i in range(1, model.shape[0]):
        body = work[i]
        for c in range(model[i].num_velocities):
            k = model[i].first_velocity + c
            if floats(model[i], body):
                body.bias[5 - c] = efforts[k]
            elif work[k].D != 0.0:
                work[k].u = efforts[k] / sqrt(work[k].D)
    return OK


# ---------------------------------------------------------------------------------- small factors


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
