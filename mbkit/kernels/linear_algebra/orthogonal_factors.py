"""Complete orthogonal factors of a matrix whose rows or columns may depend on each other.

A QR factorisation with column pivoting that stops at the rank gives W = Q R, a second R^T = U C;
Q and U have orthonormal columns, and C is upper triangular. Hence W = Q C^T U^T, with the
pseudoinverse

    W^+ = U C^-T Q^T,    (W^T)^+ = Q C^-1 U^T.

Columns of branches that do not meet are orthogonal without work, if what rounding leaves between
them is taken away: entries below `NOTHING`, in parts of their column, become zero. Else products of
such entries fill the factors, down to numbers that processors are slow with.

Source: Golub and Van Loan, Matrix Computations, 4th edition, sections 5.2.8 (modified Gram-Schmidt,
done twice), 5.4.2 (rank) and 5.5 (complete orthogonal decompositions).
Cost: O(rows columns rank) at most; zeros are passed over.
"""

from typing import NamedTuple

from mbkit.kernels.compile import helper, integers, matrix, stack
from mbkit.kernels.elementary import grain, sqrt

#: The part of a column that is less than its rounding.
NOTHING = 1e-17


class Orthogonal(NamedTuple):
    """The factors of N matrices W (k, l), one after another; beyond the rank nothing is read."""

    Q: stack  # (N, most, k), its columns one a row
    U: stack  # (N, most, l), likewise
    C: stack  # (N, most, most)
    rank: integers  # (N,), before the factors are found how large it may be


class OrthogonalMemory(NamedTuple):
    """For the factors of one matrix, or of smaller ones one after another."""

    R: matrix  # (most, l)
    T: matrix  # (l, most)
    sizes: matrix  # (2, l)
    along: matrix  # (1, most)


@helper
def add_multiple(x, factor, y):
    """x += factor y."""
    if factor != 0.0:
        for c in range(x.shape[0]):
            x[c] += factor * y[c]


@helper
def divide(x, number):
    """x /= number."""
    for c in range(x.shape[0]):
        x[c] /= number


@helper
def largest_column(W, sizes):
    """The column of W whose norm is the largest; its square stands in `sizes`."""
    for c in range(W.shape[1]):
        sizes[c] = 0.0
    for i in range(W.shape[0]):
        for c in range(W.shape[1]):
            sizes[c] += W[i, c] * W[i, c]
    largest = 0
    for c in range(1, W.shape[1]):
        if sizes[c] > sizes[largest]:
            largest = c
    return largest


@helper
def set_unit(Q, j, W, column, along):
    """Row j of Q: what a column of W has across the rows before, of length one."""
    q = Q[j]
    for k in range(j):
        along[k] = 0.0
    for i in range(q.shape[0]):
        q[i] = W[i, column]
        if q[i] != 0.0:
            for k in range(j):
                along[k] += Q[k, i] * q[i]
    for k in range(j):
        add_multiple(q, -along[k], Q[k])
    size = 0.0
    for i in range(q.shape[0]):
        size += q[i] * q[i]
    divide(q, sqrt(size))
    least = NOTHING * grain(size)
    for i in range(q.shape[0]):
        if abs(q[i]) < least:
            q[i] = 0.0


@helper
def project_out(W, q, squares, along):
    """along = q^T W, and W -= q along; `squares` are those of the lengths of columns of W."""
    for c in range(W.shape[1]):
        along[c] = 0.0
    for i in range(q.shape[0]):
        add_multiple(along, q[i], W[i])
    for c in range(W.shape[1]):
        least = NOTHING * grain(along[c])
        if along[c] * along[c] < least * least * squares[c]:
            along[c] = 0.0
    for i in range(q.shape[0]):
        add_multiple(W[i], -q[i], along)


@helper
def decompose(W, factors, n, least, memory):
    """The factors of matrix n, which is W and is overwritten.

    They end where no column has more than `least` left, or at the rank that is given.
    """
    Q, U, C = factors.Q[n], factors.U[n], factors.C[n]
    R, T, sizes, along = memory.R, memory.T, memory.sizes[0], memory.along[0]
    squares = memory.sizes[1]
    columns = W.shape[1]
    rank = 0
    for j in range(factors.rank[n]):
        column = largest_column(W, sizes)
        if sqrt(sizes[column]) <= least:
            break
        if j == 0:
            for c in range(columns):
                squares[c] = sizes[c]
        set_unit(Q, j, W, column, along)
        project_out(W, Q[j], squares, R[j])
        rank += 1
    factors.rank[n] = rank
    for c in range(columns):
        for j in range(rank):
            T[c, j] = R[j, c]
    for j in range(rank):
        set_unit(U, j, T, j, along)
        for k in range(rank):
            C[j, k] = 0.0
        for i in range(columns):
            add_multiple(C[j, j:rank], U[j, i], T[i, j:rank])
        for i in range(columns):
            add_multiple(T[i, j:rank], -U[j, i], C[j, j:rank])


@helper
def add_projection(Y, Q, rank, X):
    """Y += Q^T X."""
    for j in range(rank):
        for i in range(X.shape[0]):
            add_multiple(Y[j], Q[j, i], X[i])


@helper
def subtract_combination(X, Q, rank, Y):
    """X -= Q Y."""
    for j in range(rank):
        for i in range(X.shape[0]):
            add_multiple(X[i], -Q[j, i], Y[j])


@helper
def solve_upper(C, rank, Y):
    """Y becomes C^-1 Y."""
    for j in range(rank - 1, -1, -1):
        for k in range(j + 1, rank):
            add_multiple(Y[j], -C[j, k], Y[k])
        divide(Y[j], C[j, j])


@helper
def solve_upper_transposed(C, rank, Y):
    """Y becomes C^-T Y."""
    for j in range(rank):
        for k in range(j):
            add_multiple(Y[j], -C[k, j], Y[k])
        divide(Y[j], C[j, j])
