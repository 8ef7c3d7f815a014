"""Rows of constraints that are independent beyond doubt."""

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.elementary import all_lanes, sqrt
from mbkit.kernels.implicit_integrators.step_memory import matrix_at, memory_of, square
from mbkit.kernels.layout import SPACE

#: The part of a row, squared, that the rows before it leave where nobody would take it for theirs.
CLEAR = 1e-4


@helper
def are_clearly_independent(space, step):
    """Whether each row of A_n is far from the span of those before it.

    Then all of them count, without forward dynamics. By Cholesky's factor of
    A A^T, whose pivots are squares of distances, in the memory of the matrix.
    """
    record = memory_of(step)
    m = record.m
    if record.solve != 0 or records_at(space, 1, SPACE)[0].drive != 0:
        return False  # columns are shared, or left out
    A = matrix_at(record.A_made, m, record.nv)
    G = square(record.matrix, record.n)
    for r in range(m):
        whole = 0.0
        for j in range(record.nv):
            whole += A[r, j] * A[r, j]
        left = whole
        for s in range(r):
            total = 0.0
            for j in range(record.nv):
                total += A[r, j] * A[s, j]
            for k in range(s):
                total -= G[r, k] * G[s, k]
            G[r, s] = total / G[s, s]
            left -= G[r, s] * G[r, s]
        if not all_lanes(left > CLEAR * whole):
            return False
        G[r, r] = sqrt(left)
    return True
