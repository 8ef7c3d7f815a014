"""Dense factors with partial pivoting: P S = L U. Source: Golub and Van Loan 2013, section 3.4.

Of several samples side by side, one whose column has no pivot has a pivot that is not a number, and
so is what is solved by its factors; those of the others are their own.
"""

import math
from typing import Any

from mbkit.kernels.compile import UNCOMPILED, helper, overload  # type: ignore[attr-defined]
from mbkit.kernels.elementary import all_lanes, any_lane, select
from mbkit.kernels.linear_algebra.pivot_orders import exchange
from mbkit.kernels.simd.row_operations import PANEL, subtract_panel
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
    """[S, R] become L U of S, and L^-1 R; the column without a pivot in all samples, or -1.

    `largest` are the largest entries of the columns of S, as these were given. Columns are
    eliminated four by four: first in these alone, then what is right of them, which is read and
    written once for all four. Source: Golub and Van Loan 2013, section 3.2.11.
    """
    n = A.shape[0]
    for first in range(0, n, PANEL):
        end = min(first + PANEL, n)
        lost = eliminate_panel(A, first, end, pivots, largest)
        if lost >= 0:
            return lost
        for i in range(first + 1, end):
            for k in range(first, i):
                factor = A[i, k]
                for j in range(end, A.shape[1]):
                    A[i, j] -= factor * A[k, j]
        if end < A.shape[1]:
            for i in range(end, n):
                subtract_panel(A, i, first)
    return -1


@helper
def eliminate_panel(A, first, end, pivots, largest):
    """Eliminate the columns from first to end in these alone; the one without a pivot, or -1."""
    n = A.shape[0]
    for k in range(first, end):
        best = k
        most = abs(A[k, k])
        for i in range(k + 1, n):
            is_larger = abs(A[i, k]) > most
            best = select(is_larger, i, best)
            most = select(is_larger, abs(A[i, k]), most)
        pivots[k] = best
        is_pivot = most > ROUNDING * largest[k]
        if not any_lane(is_pivot):
            return k
        exchange_rows(A, k, best)
        if not all_lanes(is_pivot):
            A[k, k] = select(is_pivot, A[k, k], math.nan)
        eliminate_column(A[k:, k:], end - k)
    return -1


@helper
def eliminate_column(A, count):
    """Eliminate the first column below the first row, in the first `count` columns, at most four.

    No loop goes through these: it would take longer to begin than to end.
    """
    upper = A[0]
    for i in range(1, A.shape[0]):
        row = A[i]
        factor = row[0] / upper[0]
        row[0] = factor
        if count > 1:
            row[1] -= factor * upper[1]
        if count > 2:
            row[2] -= factor * upper[2]
        if count > 3:
            row[3] -= factor * upper[3]


@helper
def solve(S, pivots, x):
    """x becomes S^-1 x; entries right of the square of S are not read.

    Four rows at once, whose sums do not wait for each other; those that are left one by one.
    """
    n = S.shape[0]
    whole = n - n % PANEL
    for k in range(n):
        exchange_entries(x, k, pivots[k])
    for first in range(0, whole, PANEL):
        solve_lower(S[first:], x, first)
    for i in range(whole, n):
        x[i] -= product(S[i], x, 0, i)
    for i in range(n - 1, whole - 1, -1):
        x[i] = (x[i] - product(S[i], x, i + 1, n)) / S[i, i]
    for first in range(whole - PANEL, -1, -PANEL):
        solve_upper(S[first:], x, first)


@helper
def product(a, x, start, stop):
    """The sum of a_j x_j from start to stop."""
    total = 0.0
    for j in range(start, stop):
        total += a[j] * x[j]
    return total


@helper
def four_products(A, x, start, stop):
    """The same of four rows."""
    a, b, c, d = A[0], A[1], A[2], A[3]
    s = t = u = v = 0.0
    for j in range(start, stop):
        s += a[j] * x[j]
        t += b[j] * x[j]
        u += c[j] * x[j]
        v += d[j] * x[j]
    return s, t, u, v


@helper
def solve_lower(A, x, first):
    """Four entries of x, by the four rows of L that A begins with; those before are solved."""
    s, t, u, v = four_products(A, x, 0, first)
    y = x[first:]
    L = A[:, first:]
    y[0] -= s
    y[1] -= t + L[1, 0] * y[0]
    y[2] -= u + L[2, 0] * y[0] + L[2, 1] * y[1]
    y[3] -= v + L[3, 0] * y[0] + L[3, 1] * y[1] + L[3, 2] * y[2]


@helper
def solve_upper(A, x, first):
    """The same by rows of U; those behind are solved."""
    s, t, u, v = four_products(A, x, first + PANEL, first + A.shape[0])
    y = x[first:]
    U = A[:, first:]
    y[3] = (y[3] - v) / U[3, 3]
    y[2] = (y[2] - u - U[2, 3] * y[3]) / U[2, 2]
    y[1] = (y[1] - t - U[1, 2] * y[2] - U[1, 3] * y[3]) / U[1, 1]
    y[0] = (y[0] - s - U[0, 1] * y[1] - U[0, 2] * y[2] - U[0, 3] * y[3]) / U[0, 0]
