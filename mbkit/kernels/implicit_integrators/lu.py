"""Dense factors with partial pivoting: P S = L U. Source: Golub and Van Loan 2013, section 3.4."""

from typing import Any

from mbkit.kernels.compile import UNCOMPILED, helper, overload  # type: ignore[attr-defined]
from mbkit.kernels.elementary import all_lanes, any_lane, select
from mbkit.kernels.pivot_orders import exchange
from mbkit.kernels.status import OK, SINGULAR_STEP, failure

#: A pivot below this part of the largest entry of its column, as it was given, is rounding.
ROUNDING = 1e-14


def exchange_entries(x: Any, k: Any, other: Any) -> None:
    """x[k] and x[other], not before it, change places, where each sample has its own other."""
    x[k], x[other] = x[other], x[k]


def exchange_rows(A: Any, k: Any, other: Any) -> None:
    """Rows k and other of A, not before it, change places, likewise."""
    if other != k:
        for j in range(A.shape[1]):
            A[k, j], A[other, j] = A[other, j], A[k, j]


if not UNCOMPILED:
    _INLINE: Any = {"error_model": "numpy", "forceinline": True}

    @overload(exchange_entries, jit_options=_INLINE)
    def _exchange_entries(x, k, other):
        if not hasattr(x.dtype, "mask"):

            def of_one(x, k, other):
                x[k], x[other] = x[other], x[k]

            return of_one

        def of_lanes(x, k, other):
            if not all_lanes(other == k):
                for i in range(k + 1, x.shape[0]):
                    exchange(x, i, k, other == i)

        return of_lanes

    @overload(exchange_rows, jit_options=_INLINE)
    def _exchange_rows(A, k, other):
        if not hasattr(A.dtype, "mask"):

            def of_one(A, k, other):
                if other != k:
                    for j in range(A.shape[1]):
                        A[k, j], A[other, j] = A[other, j], A[k, j]

            return of_one

        def of_lanes(A, k, other):
            if all_lanes(other == k):
                return
            for i in range(k + 1, A.shape[0]):
                if any_lane(other == i):
                    for j in range(A.shape[1]):
                        exchange(A[:, j], i, k, other == i)

        return of_lanes


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
        best = k
        most = abs(A[k, k])
        for i in range(k + 1, n):
            is_larger = abs(A[i, k]) > most
            best = select(is_larger, i, best)
            most = select(is_larger, abs(A[i, k]), most)
        pivots[k] = best
        if not all_lanes(most > ROUNDING * largest[k]):
            return k
        exchange_rows(A, k, best)
        upper = A[k]
        for i in range(k + 1, n):
            row = A[i]
            if any_lane(row[k] != 0.0):
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
        exchange_entries(x, k, pivots[k])
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
