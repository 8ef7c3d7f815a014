"""Efforts and multipliers of least norm by orthogonal factors: nothing is squared.

R B P = Q [R11 R12; 0 0] by Householder reflections, the column with most left of it first; what is
left below its limit depends on those before. Of each column the largest entry is turned to: with
light bodies beside heavy ones rows of B differ by the root of any ratio of masses, and what a
reflection leaves of a small row is only then not the rounding of a large one. With W = R11^-1 R12,

    efforts = R^T Q (w, 0),        R11^T w = -target,
    multipliers = P (x, W^T x),    (1 + W W^T) x = R11^-1 w,

of the targets those of the rows that are kept. Source: Golub and Van Loan, Matrix Computations, 4th
edition, sections 5.4.2 and 5.5; the rows: Cox and Higham, "Stability of Householder QR
factorization for weighted least squares problems", Numerical Analysis 1997, 57-73.
Cost: 2 nv m rank. Memory: `memory_size` numbers.
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
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.status import OK


def memory_size(nv: int, m: int) -> int:
    """Return how many numbers the factor needs beside B."""
    most = min(nv, m)
    return 1 + 2 * m + 2 * nv + most + most * most


@helper
def parts(nv, m, memory):
    """Views of the memory: rank, orders of columns and rows, room (m,), (nv,), scales, L."""
    most = min(nv, m)
    whole = as_array(memory, 1 + 2 * m + 2 * nv + most + most * most)
    middle = 1 + 2 * m
    start = middle + 2 * nv
    return (
        whole[:1], whole[1 : 1 + m], whole[middle : middle + nv], whole[1 + m : middle],
        whole[middle + nv : start], whole[start : start + most],
        whole[start + most :].reshape((most, most)),
    )  # fmt: skip


@helper
def largest_column(B, j, order, limits, room):
    """The column from j on with most left of what it was from row j on, -1 if none counts."""
    m = B.shape[1]
    for i in range(j, m):
        room[i] = 0.0
    for k in range(j, B.shape[0]):
        for i in range(j, m):
            room[i] += B[k, i] * B[k, i]
    best = -1
    for i in range(j, m):
        limit = limits[int(order[i])]
        if room[i] > limit and (
            best < 0 or room[i] * limits[int(order[best])] > room[best] * limit
        ):
            best = i
    return best


@helper
def turn_to_largest(B, j, row_order):
    """The row with the largest entry of column j, of those from j on, changes places with row j."""
    best = j
    for k in range(j + 1, B.shape[0]):
        if abs(B[k, j]) > abs(B[best, j]):
            best = k
    exchange(B, j, best, j, row_order, row_order)


@helper
def reflect(B, j, square, room):
    """Turn column j to (beta, 0 ...) from row j on, and the others with it; return the scale."""
    nv, m = B.shape
    alpha = B[j, j]
    beta = -sqrt(square) if alpha > 0.0 else sqrt(square)
    for k in range(j + 1, nv):
        B[k, j] /= alpha - beta
    scale = (beta - alpha) / beta
    B[j, j] = beta
    for i in range(j + 1, m):
        room[i] = B[j, i]
    for k in range(j + 1, nv):
        for i in range(j + 1, m):
            room[i] += B[k, j] * B[k, i]
    for i in range(j + 1, m):
        room[i] *= scale
        B[j, i] -= room[i]
    for k in range(j + 1, nv):
        for i in range(j + 1, m):
            B[k, i] -= B[k, j] * room[i]
    return scale


@address_kernel(DENSE_PREPARE)
def prepare(nv, m, matrix, limits, kept, memory):
    """B becomes Q, R11 and W; see the top for the order of its rows."""
    B = as_array(matrix, nv * m).reshape((nv, m))
    rank, order, row_order, room, _efforts, scales, L = parts(nv, m, memory)
    start_factor(row_order, order, kept)
    n = 0
    for j in range(min(nv, m)):
        best = largest_column(B, j, order, limits, room)
        if best < 0:
            break
        square = room[best]
        exchange(B, j, j, best, row_order, order)
        kept[int(order[j])] = 1.0
        turn_to_largest(B, j, row_order)
        scales[j] = reflect(B, j, square, room)
        n = j + 1
    rank[0] = n
    if n < m:
        solve_dependent(B, n)
        factorise_normal(B[:n, n:m], n, L)
    return OK


@address_kernel(DENSE_SOLVE)
def solve(nv, m, matrix, target, efforts, multipliers, memory):
    """See `mbkit.kernels.constraints.solve.dense`."""
    B = as_array(matrix, nv * m).reshape((nv, m))
    rank, order, row_order, room, w, scales, L = parts(nv, m, memory)
    n = int(rank[0])
    solve_target(B, n, target, order, w)
    for i in range(n, nv):
        w[i] = 0.0
    for i in range(n - 1, -1, -1):
        value = w[i]
        for j in range(i + 1, n):
            value -= B[i, j] * room[j]
        room[i] = value / B[i, i]
    if n < m:
        solve_normal(L, n, room)
    write_multipliers(B, n, room, order, multipliers)
    for j in range(n - 1, -1, -1):
        value = w[j]
        for k in range(j + 1, nv):
            value += B[k, j] * w[k]
        value *= scales[j]
        w[j] -= value
        for k in range(j + 1, nv):
            w[k] -= B[k, j] * value
    for k in range(nv):
        efforts[int(row_order[k])] = w[k]
    return OK
