"""Linear equations with multipliers, J x - A0^T y = r, A1 x = s, where rows may be redundant.

By the Schur complement: with X = J^-1 A0^T and G = A1 X, G y = s - A1 J^-1 r. Where rows depend on
each other G has less than full rank; those that do are found by complete pivoting, and have no
multiplier. J need not be symmetric.
"""

from typing import NamedTuple

from mbkit.kernels.arrays import pivot_row
from mbkit.kernels.compile import floats, helper, integers, matrix
from mbkit.kernels.elementary import sqrt

#: Pivots below, in a matrix with a diagonal of one, are rounding.
DEPENDENT = 1e-10


class Saddle(NamedTuple):
    """The equations, by factors."""

    J: matrix  # (n, n), as `factorise` leaves it
    order: integers  # n, and more
    A1: matrix  # (m, n)
    X: matrix  # (m, n), by rows
    G: matrix  # (m, m), scaled, as `reduce` leaves it
    scale: floats  # m
    row_order: integers  # m
    column_order: integers  # m
    room: floats  # m


@helper
def factorise(J, order):
    """L U of J in its place, rows in the order; the first column without a pivot, or -1."""
    n = J.shape[0]
    for i in range(n):
        order[i] = i
    for k in range(n):
        best = pivot_row(J, k)
        if not abs(J[best, k]) > 0.0:
            return k
        if best != k:
            order[k], order[best] = order[best], order[k]
            for j in range(n):
                J[k, j], J[best, j] = J[best, j], J[k, j]
        for i in range(k + 1, n):
            factor = J[i, k] / J[k, k]
            J[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    J[i, j] -= factor * J[k, j]
    return -1


@helper
def solve(J, n, order, b, x):
    """x = J^-1 b by the factors of n rows and columns; b and x are different arrays."""
    for i in range(n):
        value = b[order[i]]
        for j in range(i):
            value -= J[i, j] * x[j]
        x[i] = value
    for i in range(n - 1, -1, -1):
        value = x[i]
        for j in range(i + 1, n):
            value -= J[i, j] * x[j]
        x[i] = value / J[i, i]


@helper
def reduce(saddle, A0):
    """X, and the factors of G, scaled; return its rank."""
    J, order, A1, X, G, scale, row_order, column_order, _ = saddle
    m = A0.shape[0]
    for r in range(m):
        solve(J, J.shape[0], order, A0[r], X[r])
    for r in range(m):
        for c in range(m):
            value = 0.0
            for k in range(J.shape[0]):
                value += A1[r, k] * X[c, k]
            G[r, c] = value
        row_order[r] = r
        column_order[r] = r
    for r in range(m):
        scale[r] = 1.0 / sqrt(abs(G[r, r])) if G[r, r] != 0.0 else 0.0
    for r in range(m):
        for c in range(m):
            G[r, c] *= scale[r] * scale[c]
    return eliminate(G, row_order, column_order)


@helper
def eliminate(G, row_order, column_order):
    """L U with complete pivoting, in place, as far as pivots count; return how many there are."""
    m = G.shape[0]
    for k in range(m):
        row = k
        column = k
        for i in range(k, m):
            for j in range(k, m):
                if abs(G[i, j]) > abs(G[row, column]):
                    row = i
                    column = j
        if not abs(G[row, column]) > DEPENDENT:
            return k
        row_order[k], row_order[row] = row_order[row], row_order[k]
        column_order[k], column_order[column] = column_order[column], column_order[k]
        for j in range(m):
            G[k, j], G[row, j] = G[row, j], G[k, j]
        for i in range(m):
            G[i, k], G[i, column] = G[i, column], G[i, k]
        for i in range(k + 1, m):
            factor = G[i, k] / G[k, k]
            G[i, k] = factor
            for j in range(k + 1, m):
                G[i, j] -= factor * G[k, j]
    return m


@helper
def solve_saddle(saddle, rank, r, s, x, y):
    """x, y of the equations above; s is overwritten."""
    J, order, A1, X, G, scale, row_order, column_order, room = saddle
    m = A1.shape[0]
    n = J.shape[0]
    solve(J, n, order, r, x)
    for i in range(m):
        for k in range(n):
            s[i] -= A1[i, k] * x[k]
        s[i] *= scale[i]
        y[i] = 0.0
    solve(G, rank, row_order, s, room)
    for i in range(rank):
        y[column_order[i]] = scale[column_order[i]] * room[i]
    for i in range(m):
        for k in range(n):
            x[k] += X[i, k] * y[i]
