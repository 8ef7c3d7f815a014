"""Rows of three numbers in vector instructions, against the same operations number by number."""

import numpy as np
import pytest

from mbkit.kernels.compile import int64, kernel, matrix
from mbkit.kernels.recursions import inertias
from mbkit.kernels.simd import rows
from mbkit.kernels.vectors import cross, load, plus_cross, row_cross


@kernel(int64(matrix, matrix))
def _by_rows(given, out):
    a, b, c = load(given[0]), load(given[1]), load(given[2])
    for k, row in enumerate(
        (
            rows.times(a, b),
            rows.times(a[0], b),
            rows.plus_times(c, a, b),
            rows.plus_times(c, a[1], b),
            row_cross(a, b),
            plus_cross(c, a, b),
        )
    ):
        for j in range(3):
            out[k, j] = row[j]
    return 0


@kernel(int64(matrix, matrix))
def _by_numbers(given, out):
    a, b, c = given[0], given[1], given[2]
    x = cross(load(a), load(b))
    for j in range(3):
        k = (j + 1) % 3
        m = (j + 2) % 3
        out[0, j] = a[j] * b[j]
        out[1, j] = a[0] * b[j]
        out[2, j] = c[j] + a[j] * b[j]
        out[3, j] = c[j] + a[1] * b[j]
        out[4, j] = x[j]
        partial = c[j] + a[k] * b[m]
        out[5, j] = partial - a[m] * b[k]
    return 0


def test_they_have_the_bits_of_single_numbers():
    """So that samples in lanes, where each number is a register, have those of single calls."""
    given = np.random.default_rng(4).normal(size=(3, 3))
    found, expected = np.zeros((6, 3)), np.zeros((6, 3))
    _by_rows(given, found)
    _by_numbers(given, expected)
    assert (found == expected).all()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_not_a_number_stays_in_its_place(place):
    """The fourth place of a register is nobody's."""
    given = np.ones((3, 3))
    given[0, place] = np.nan
    found = np.zeros((6, 3))
    _by_rows(given, found)
    others = [k for k in range(3) if k != place]
    assert np.isnan(found[[0, 2], place]).all()
    assert np.isfinite(found[[0, 2]][:, others]).all()


@kernel(int64(matrix, matrix))
def _added(given, memory):
    a, b, c = load(given[0]), load(given[1]), load(given[2])
    rows.add_to(memory[1], (*a, *b, *c))
    rows.add_to(memory[3], (*a, *b))
    return 0


def test_sums_touch_nothing_else():
    """Nine numbers, and six of nine."""
    rng = np.random.default_rng(5)
    given, memory = rng.normal(size=(3, 3)), rng.normal(size=(5, 9))
    expected = memory.copy()
    expected[1] += given.ravel()
    expected[3, :6] += given[:2].ravel()
    _added(given, memory)
    assert (memory == expected).all()


@kernel(int64(matrix, matrix, matrix))
def _congruent(R, X, out):
    turned = inertias.congruent(R, (load(X[0]), load(X[1]), load(X[2])))
    for i, row in enumerate(turned):
        for j in range(3):
            out[i, j] = row[j]
    return 0


def test_a_matrix_in_other_axes():
    """R X R^T, of an X that need not be symmetric."""
    R, X, out = np.random.default_rng(6).normal(size=(3, 3, 3))
    _congruent(R, X, out)
    np.testing.assert_allclose(out, R @ X @ R.T, rtol=0, atol=1e-14)
