"""Dense factors with partial pivoting: P S = L U. Source: Golub and Van Loan 2013, section 3.4."""

from mbkit.kernels.arrays import pivot_row
from mbkit.kernels.compile import helper
from mbkit.kernels.status import OK, SINGULAR_STEP, failure

#: A pivot below this part of the largest entry of its column, as it was given, is rounding.
ROUNDING = 1e-14


@helper
def factorise(S, pivots, largest):
    """S becomes L (unit diagonal, below) and U; `pivots` are the rows that were exchanged.

    Memory: largest (n,), of each column.
    """
    n = S.shape[0]
    largest[:] = 0.0
    for i in range(n):
        for j in range(n):
            largest[j] = max(largest[j], abs(S[i, j]))
    lost = eliminate(S, pivots, largest)
    return OK if lost < 0 else failure(SINGULAR_STEP, lost)


@helper
def eliminate(A, pivots, largest):
    """[S, R] become L U of S, and L^-1 R; the column without a pivot, or -1.

    `largest` are the largest entries of the columns of S, as these were given.
    """
    n = A.shape[0]
    wide = A.shape[1]
    for k in range(n):
        best = pivot_row(A, k)
        pivots[k] = best
        if not abs(A[best, k]) > ROUNDING * largest[k]:
            return k
        if best != k:
            for j in range(wide):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        upper = A[k]
        for i in range(k + 1, n):
            row = A[i]
            if row[k] != 0.0:
                factor = row[k] / upper[k]
                row[k] = factor
                for j in range(k + 1, wide):
                    row[j] -= factor * upper[j]
    return -1


@helper
def solve(S, pivots, x):
    """x becomes S^-1 x; what is right of the square of S is not looked at."""
    n = S.shape[0]
    for k in range(n):
        other = pivots[k]
        x[k], x[other] = x[other], x[k]
    for i in range(1, n):
        total = 0.0
        row = S[i]
        for j in range(i):
            total += row[j] * x[j]
        x[i] -= total
    for i in range(n - 1, -1, -1):
        total = 0.0
        row = S[i]
        for j in range(i + 1, n):
            total += row[j] * x[j]
        x[i] = (x[i] - total) / row[i]
