"""Efforts of least norm as a particular solution, projected along the null space of B^T.

P B Q = [L11; L21] [U11 U12] by elimination, the largest entry first. In efforts scaled by the roots
of D the kinetic energy is half the square, so that the motions that the constraints allow,

    N = P^T (-S^T, 1),   S = L21 L11^-1,   N^T M N = 1 + S S^T,

have a matrix of as many rows as the mechanism has freedoms. The particular solution is
(c, 0), L11^T c = y, U11^T y = -target; projected it is

    z = P^T (c - S^T a, a),   (1 + S S^T) a = S c.

Source: Jalon and Bayo, Kinematic and Dynamic Simulation of Multibody Systems, 1994, chapter 5.
Cost: nv m rank, and the cube of the number of freedoms. Memory: `memory_size` numbers.
"""

from mbkit.kernels.compile import address_kernel, as_array, helper
from mbkit.kernels.constraints.solve.dense import (
    DENSE_PREPARE,
    DENSE_SOLVE,
    exchange,
    factorise_normal,
    solve_dependent,
    solve_normal,
    solve_target,
    start_factor,
    write_multipliers,
)
from mbkit.kernels.status import OK


def memory_size(nv: int, m: int) -> int:
    """Return how many numbers the factors need beside B."""
    return 1 + 3 * nv + m + nv * nv + min(nv, m) ** 2


@helper
def parts(nv, m, memory):
    """Views of the memory: rank, both orders, room (2, nv), and two triangular factors."""
    most = min(nv, m)
    whole = as_array(memory, 1 + 3 * nv + m + nv * nv + most * most)
    start = 1 + nv + m
    end = start + 2 * nv + nv * nv
    return (
        whole[:1], whole[1 : 1 + nv], whole[1 + nv : start],
        whole[start : start + nv], whole[start + nv : start + 2 * nv],
        whole[start + 2 * nv : end].reshape((nv, nv)), whole[end:].reshape((most, most)),
    )  # fmt: skip


@helper
def largest_entry(B, j, order, limits):
    """Where the entry from (j, j) on is that is largest by its limit; -1 if none counts."""
    row = -1
    column = -1
    best = 0.0
    least = 1.0
    for k in range(j, B.shape[0]):
        for i in range(j, B.shape[1]):
            square = B[k, i] * B[k, i]
            limit = limits[int(order[i])]
            if square > limit and square * least > best * limit:
                row, column, best, least = k, i, square, limit
    return row, column


@address_kernel(DENSE_PREPARE)
def prepare(nv, m, matrix, limits, kept, memory):
    """B becomes L11, U11, S and W = U11^-1 U12."""
    B = as_array(matrix, nv * m).reshape((nv, m))
    rank, row_order, column_order, _room, _more, free, bound = parts(nv, m, memory)
    start_factor(row_order, column_order, kept)
    n = 0
    for j in range(min(nv, m)):
        row, column = largest_entry(B, j, column_order, limits)
        if row < 0:
            break
        exchange(B, j, row, column, row_order, column_order)
        kept[int(column_order[j])] = 1.0
        for k in range(j + 1, nv):
            B[k, j] /= B[j, j]
            for i in range(j + 1, m):
                B[k, i] -= B[k, j] * B[j, i]
        n = j + 1
    rank[0] = n
    for k in range(n, nv):
        for j in range(n - 1, -1, -1):
            for i in range(j + 1, n):
                B[k, j] -= B[k, i] * B[i, j]
    factorise_normal(B[n:nv, :n], nv - n, free)
    solve_dependent(B, n)
    factorise_normal(B[:n, n:m], n, bound)
    return OK


@helper
def project(B, n, z, a, free):
    """z (n,) = c becomes c - S^T a, the first n entries, and a (nv - n,) what follows."""
    nv = B.shape[0]
    for k in range(n, nv):
        value = 0.0
        for j in range(n):
            value += B[k, j] * z[j]
        a[k - n] = value
    solve_normal(free, nv - n, a)
    for k in range(n, nv):
        for j in range(n):
            z[j] -= B[k, j] * a[k - n]
        z[k] = a[k - n]


@address_kernel(DENSE_SOLVE)
def solve(nv, m, matrix, target, efforts, multipliers, memory):
    """See `mbkit.kernels.constraints.solve.dense`."""
    B = as_array(matrix, nv * m).reshape((nv, m))
    rank, row_order, column_order, z, room, free, bound = parts(nv, m, memory)
    n = int(rank[0])
    solve_target(B, n, target, column_order, z)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            z[i] -= B[j, i] * z[j]
    project(B, n, z, room, free)
    for k in range(nv):
        efforts[int(row_order[k])] = z[k]
    # multipliers of the rows that are kept, then those of least norm
    for i in range(n):
        for j in range(i):
            z[i] -= B[i, j] * z[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            z[i] -= B[i, j] * z[j]
        z[i] /= B[i, i]
    solve_normal(bound, n, z)
    write_multipliers(B, n, z, column_order, multipliers)
    return OK
