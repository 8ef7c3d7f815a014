"""Dense factors with partial pivoting, and rows that are subtracted from another."""

import numpy as np
import pytest
import scipy.linalg

from mbkit.kernels.compile import floats, helper, int64, integers, kernel, matrix
from mbkit.kernels.linear_algebra.lu import factorise, solve
from mbkit.kernels.simd.row_operations import PANEL, subtract_panel
from mbkit.kernels.status import OK, SINGULAR_STEP, code_of


@kernel(int64(matrix, integers, floats))
def _factorise(S, pivots, memory):
    return factorise(S, pivots, memory)


@kernel(int64(matrix, integers, floats))
def _solve(S, pivots, x):
    solve(S, pivots, x)
    return 0


@kernel(int64(matrix, int64, int64))
def _subtract(A, i, first):
    subtract_panel(A, i, first)
    return 0


@helper
def _row_by_row(A, i, first):
    for k in range(first, first + PANEL):
        factor = A[i, k]
        for j in range(first + PANEL, A.shape[1]):
            A[i, j] -= factor * A[k, j]


@kernel(int64(matrix, int64, int64))
def _subtract_one_by_one(A, i, first):
    _row_by_row(A, i, first)
    return 0


def factors(S):
    n = len(S)
    LU, pivots = S.copy(), np.zeros(n, np.int64)
    return _factorise(LU, pivots, np.zeros(n)), LU, pivots


@pytest.mark.parametrize("n", [*range(1, 14), 43, 80])
def test_factors_are_those_of_lapack_and_solve(n):
    """Sizes with every number of rows and columns that are left beside panels."""
    rng = np.random.default_rng(n)
    S, x = rng.normal(size=(n, n)), rng.normal(size=n)
    expected, order = scipy.linalg.lu_factor(S)
    status, LU, pivots = factors(S)
    assert status == OK
    assert (pivots == order).all()
    np.testing.assert_allclose(LU, expected, rtol=0, atol=1e-14 * n * np.abs(expected).max())
    b = S @ x
    _solve(LU, pivots, b)
    np.testing.assert_allclose(b, x, rtol=0, atol=1e-15 * n * np.linalg.cond(S))


@pytest.mark.parametrize("lost", [0, 2, 5, 9])
def test_a_column_that_depends_on_those_before_it_is_named(lost):
    S = np.random.default_rng(lost).normal(size=(11, 11))
    S[:, lost] = S[:, :lost] @ np.arange(1.0, lost + 1.0)
    status, _, _ = factors(S)
    assert code_of(status) == SINGULAR_STEP
    assert status == factors(S * 8.0)[0]


@pytest.mark.parametrize("width", range(PANEL + 1, PANEL + 12))
def test_four_rows_are_subtracted_as_one_after_the_other(width):
    """To the bit, and nothing else is touched."""
    A = np.random.default_rng(width).normal(size=(9, width + 1))
    expected = A.copy()
    _subtract(A, 7, 1)
    _subtract_one_by_one(expected, 7, 1)
    assert (expected == A).all()
