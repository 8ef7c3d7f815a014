"""Copies of arrays, and their largest entries."""

from mbkit.kernels.compile import helper


@helper
def assign(target, source):
    """target = source, for vectors of one length.

    As a loop: what numba makes of ``target[:] = source`` allocates, counts references and writes
    messages into machine code, which takes a third of a second to compile.
    """
    for i in range(target.shape[0]):
        target[i] = source[i]


@helper
def pivot_row(A, k):
    """The row, k or below, whose entry in column k is the largest."""
    best = k
    for i in range(k + 1, A.shape[0]):
        if abs(A[i, k]) > abs(A[best, k]):
            best = i
    return best
