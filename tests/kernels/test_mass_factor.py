"""Elimination and solutions over a tree of columns, on matrices that no mechanism has."""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.kernels.compile import float64, int64, integers, kernel, matrix
from mbkit.kernels.recursions import mass_factor
from mbkit.kernels.status import NOT_FINITE, OK, SINGULAR_INERTIA, WRONG_LENGTH, unpack
from mbkit.kernels.status import failure as packed


@kernel(int64(matrix, integers, integers, float64, matrix))
def _factorise(M, order, parent, limit, L):
    mass_factor.gather(M, order, parent, L)
    for k in range(parent.shape[0] - 1, -1, -1):
        code = mass_factor.eliminate(L, parent, k, limit)
        if code != OK:
            return packed(code, k)
    return OK


def random_factor(rng, n, reach):
    """A tree of columns and (L, D) of its sparsity, D packed on the diagonal of L."""
    parent = np.array([rng.integers(max(-1, k - reach), k) for k in range(n)], dtype=np.int64)
    factor = np.diag(rng.uniform(0.5, 2.0, size=n))
    for k in range(n):
        j = parent[k]
        while j >= 0:
            factor[k, j] = 0.3 * rng.normal()
            j = parent[j]
    return parent, factor


def split(factor):
    """Return (L, D) as dense matrices."""
    return np.tril(factor, -1) + np.eye(len(factor)), np.diag(np.diag(factor))


@pytest.fixture(params=[(1, 1), (6, 1), (20, 3), (60, 60)])
def case(request):
    """Chains and trees: parents, packed factor, and M = L^T D L."""
    parent, factor = random_factor(np.random.default_rng(request.param[0]), *request.param)
    L, D = split(factor)
    return parent, factor, L, D, L.T @ D @ L


def test_the_factor_comes_back(case):
    """L^T D L is unique: elimination finds the L and D that M was made of, in any order of M."""
    parent, factor, _, _, M = case
    n = len(parent)
    order = np.random.default_rng(1).permutation(n)
    shuffled = np.empty_like(M)
    shuffled[np.ix_(order, order)] = M
    found = np.zeros_like(M)
    assert _factorise(shuffled, order, parent, 0.0, found) == OK
    np.testing.assert_allclose(found, factor, rtol=0.0, atol=1e-11 * np.abs(M).max())
    assert ((found != 0.0) <= (factor != 0.0)).all()


@pytest.mark.parametrize("width", [0, 1, 3])
def test_solutions_and_products(case, width):
    """Against dense algebra, of several vectors at once."""
    parent, factor, L, _, M = case
    B = np.random.default_rng(2).normal(size=(len(parent), width))
    for operation, expected in (
        ("solve_L", np.linalg.solve(L, B)),
        ("solve_LT", np.linalg.solve(L.T, B)),
        ("solve", np.linalg.solve(M, B)),
        ("multiply", M @ B),
    ):
        X = B.copy()
        assert getattr(mass_factor, operation)(factor, parent, X) == OK
        size = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(X, expected, rtol=0.0, atol=1e-11 * size)


@pytest.mark.parametrize("operation", ["solve_L", "solve_LT", "solve", "multiply"])
def test_wrong_lengths_are_refused(operation):
    """Nothing is read beyond an array."""
    parent, factor = random_factor(np.random.default_rng(3), 5, 2)
    function = getattr(mass_factor, operation)
    assert function(factor, parent, np.zeros((4, 1))) == WRONG_LENGTH
    assert function(factor[:4].copy(), parent, np.zeros((5, 1))) == WRONG_LENGTH


@pytest.mark.parametrize(
    ("value", "code"), [(0.0, SINGULAR_INERTIA), (-1.0, SINGULAR_INERTIA), (np.nan, NOT_FINITE)]
)
@pytest.mark.parametrize("at", [0, 3, 7])
def test_a_pivot_that_is_none_is_reported_with_its_column(value, code, at):
    """Zero, negative, not a number: at the first, at one between, and at the last column."""
    parent, factor = random_factor(np.random.default_rng(4), 8, 1)
    factor[at, at] = value
    L, D = split(factor)
    M = L.T @ D @ L
    if np.isnan(value):  # in M it stands in its own entry alone
        L, D = split(np.nan_to_num(factor, nan=1.0))
        M = L.T @ D @ L
        M[at, at] = np.nan
    state = _factorise(M, np.arange(8), parent, 1e-10, np.zeros((8, 8)))
    assert unpack(state) == (code, at)
