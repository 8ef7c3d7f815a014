"""Efforts and multipliers of least norm by orthogonal factors: nothing is squared.

B P = Q [R11 R12; 0 0] by Householder reflections, the column with most left of it first; what is
left below its limit depends on those before. With W = R11^-1 R12,

    efforts = Q (w, 0),            R11^T w = -target,
    multipliers = P (x, W^T x),    (1 + W W^T) x = R11^-1 w,

of the targets those of the rows that are kept. Source: Golub and Van Loan, Matrix Computations, 4th
edition, sections 5.4.2 and 5.5.
Cost: 2 nv m rank. Memory: `memory_size` numbers.
"""

from mbkit.kernels.compile import address_kernel, as_array, helper
from mbkit.kernels.constraints.dense import (
    DENSE_PREPARE,
    DENSE_SOLVE,
    factorise_normal,
    solve_normal,
)
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.status import OK


def memory_size(nv: int, m: int) -> int:
    """Return how many numbers the factor needs beside B."""
    most = min(nv, m)
    return 1 + 2 * m + most + most * most


@helper
def parts(nv, m, memory):
    """Views of the memory: rank (1,), order (m,), room (m,), scales of reflections, L."""
    most = min(nv, m)
    whole = as_array(memory, 1 + 2 * m + most + most * most)
    start = 1 + 2 * m + most
    return (
        whole[:1], whole[1 : 1 + m], whole[1 + m : 1 + 2 * m], whole[1 + 2 * m : start],
        whole[start:].reshape((most, most)),
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
    """B becomes Q, R11 and W."""
    B = as_array(matrix, nv * m).reshape((nv, m))
    rank, order, room, scales, L = parts(nv, m, memory)
    for i in range(m):
        order[i] = i
        kept[i] = 0.0
    n = 0
    for j in range(min(nv, m)):
        best = largest_column(B, j, order, limits, room)
        if best < 0:
            break
        square = room[best]
        if best != j:
            order[j], order[best] = order[best], order[j]
            for k in range(nv):
                B[k, j], B[k, best] = B[k, best], B[k, j]
        kept[int(order[j])] = 1.0
        scales[j] = reflect(B, j, square, room)
        n = j + 1
    rank[0] = n
    if n < m:
        for i in range(n - 1, -1, -1):
            for k in range(i + 1, n):
                for c in range(n, m):
                    B[i, c] -= B[i, k] * B[k, c]
            for c in range(n, m):
                B[i, c] /= B[i, i]
        factorise_normal(B[:n, n:m], n, L)
    return OK


@address_kernel(DENSE_SOLVE)
def solve(nv, m, matrix, target, efforts, multipliers, memory):
    """See `mbkit.kernels.constraints.dense`."""
    B = as_array(matrix, nv * m).reshape((nv, m))
    rank, order, room, scales, L = parts(nv, m, memory)
    n = int(rank[0])
    w = as_array(efforts, nv)
    for i in range(n):
        value = -target[int(order[i])]
        for j in range(i):
            value -= B[j, i] * w[j]
        w[i] = value / B[i, i]
    for i in range(n, nv):
        w[i] = 0.0
    for i in range(n - 1, -1, -1):
        value = w[i]
        for j in range(i + 1, n):
            value -= B[i, j] * room[j]
        room[i] = value / B[i, i]
    if n < m:
        solve_normal(L, n, room)
    for i in range(n):
        multipliers[int(order[i])] = room[i]
    for c in range(n, m):
        value = 0.0
        for i in range(n):
            value += B[i, c] * room[i]
        multipliers[int(order[c])] = value
    for j in range(n - 1, -1, -1):
        value = w[j]
        for k in range(j + 1, nv):
            value += B[k, j] * w[k]
        value *= scales[j]
        w[j] -= value
        for k in range(j + 1, nv):
            w[k] -= B[k, j] * value
    return OK
