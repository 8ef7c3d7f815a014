"""Linear equations with multipliers, of rows that may be redundant, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.kernels.compile import floats, int64, integers, kernel, matrix
from mbkit.kernels.constraints.solve import saddle


@kernel(int64(matrix, integers, matrix, matrix, matrix, floats, floats, floats))
def _solved(J, order, A0, A1, room, r, s, x):
    """Solve for x and, into r, y; return the rank, or -1 - k where column k has no pivot."""
    column = saddle.factorise(J, order)
    if column >= 0:
        return -1 - column
    m = A1.shape[0]
    equations = saddle.Saddle(
        J, order, A1, room[:m], room[m:, :m], room[0, :m].copy(), order[:m].copy(),
        order[:m].copy(), room[0, :m].copy(),
    )  # fmt: skip
    y = s.copy()
    rank = saddle.reduce(equations, A0)
    saddle.solve_saddle(equations, rank, r, s, x, y)
    r[:m] = y
    return rank


def solved(J, A0, A1, r, s):
    """Return the rank, x and y of J x - A0^T y = r, A1 x = s."""
    (m, n), x, y = A1.shape, np.zeros(len(J)), r.copy()
    order = np.zeros(n, dtype=np.int64)
    rank = _solved(J.copy(), order, A0, A1, np.zeros((2 * m, n)), y, s.copy(), x)
    return rank, x, y[:m]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 2), (9, 5)])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e7])
def test_solutions_are_those_of_dense_algebra(n, m, size):
    """Without symmetry, whatever the unit; a row that follows from others changes nothing."""
    rng = np.random.default_rng(n)
    J, A0, A1 = size * rng.normal(size=(n, n)), *rng.normal(size=(2, m, n))
    r, s = size * rng.normal(size=n), rng.normal(size=m)
    whole = np.block([[J, -A0.T], [A1, np.zeros((m, m))]])
    expected = np.linalg.solve(whole, np.concatenate([r, s]))
    rank, x, y = solved(J, A0, A1, r, s)
    assert rank == m
    np.testing.assert_allclose(x, expected[:n], rtol=0.0, atol=1e-11 * np.abs(x).max())
    np.testing.assert_allclose(y, expected[n:], rtol=0.0, atol=1e-11 * np.abs(y).max())
    if m < n:
        mix = np.concatenate([np.eye(m), np.full((1, m), 0.5)])
        rank, again, _ = solved(J, mix @ A0, mix @ A1, r, mix @ s)
        assert rank == m
        np.testing.assert_allclose(again, x, rtol=0.0, atol=1e-9 * np.abs(x).max())


def test_halves_are_factors_like_others():
    """Small whole numbers, by which elimination has factors of exactly a half, and of zero."""
    J = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 4.0], [0.0, 1.0, 2.0]])
    A, r, s = np.array([[1.0, 0.0, 2.0]]), np.array([1.0, 2.0, 3.0]), np.array([4.0])
    _, x, y = solved(J, A, A, r, s)
    np.testing.assert_allclose(J @ x - A.T @ y, r, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(A @ x, s, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("k", [0, 2, 3])
def test_a_column_without_a_pivot_is_named(k):
    """The first one of an upper triangle with a zero on its diagonal."""
    J = np.triu(np.arange(1.0, 17.0).reshape(4, 4))
    J[k, k] = 0.0
    assert solved(J, np.ones((1, 4)), np.ones((1, 4)), np.ones(4), np.ones(1))[0] == -1 - k
