"""Weighted sums of numbers side by side."""

import numpy as np
import pytest

from mbkit.kernels.compile import floats, int64, kernel
from mbkit.kernels.simd.weighted_sums import SIDE_BY_SIDE, solve_and_spread, weigh


@kernel(int64(floats, floats))
def _six(blocks, x):
    weigh(blocks, 3, (x[0], x[1], x[2], x[3], x[4], x[5]), 70)
    return 0


@kernel(int64(floats, floats))
def _two_into_the_first(blocks, x):
    weigh(blocks, 3, (x[0], x[1]), 3)
    return 0


@pytest.mark.parametrize(
    ("function", "count", "target"), [(_six, 6, 70), (_two_into_the_first, 2, 3)]
)
def test_it_is_the_weighted_sum_and_touches_nothing_else(function, count, target):
    """Blocks may begin anywhere, and the sum may take the place of a term."""
    rng = np.random.default_rng(5)
    blocks, x = rng.normal(size=90), rng.normal(size=count)
    expected = blocks.copy()
    terms = blocks[3 : 3 + SIDE_BY_SIDE * count].reshape((count, SIDE_BY_SIDE))
    expected[target : target + SIDE_BY_SIDE] = x @ terms
    function(blocks, x)
    np.testing.assert_allclose(blocks, expected, rtol=0, atol=1e-14)
    expected[target : target + SIDE_BY_SIDE] = blocks[target : target + SIDE_BY_SIDE]
    assert (blocks == expected).all()


@kernel(int64(floats, floats, floats, floats))
def _solve_and_spread(blocks, weights, steps, entries):
    by = (weights[0], weights[1], weights[2])
    solve_and_spread(blocks, 5, by, (steps[0], steps[1], steps[2]), entries, 2)
    return 0


def test_unknowns_are_solved_for_and_spread_and_nothing_else_is_touched():
    """x = u + w . a, then a += s x."""
    rng = np.random.default_rng(6)
    blocks, weights, steps, entries = (rng.normal(size=n) for n in (40, 3, 3, 13))
    of_blocks, of_entries = blocks.copy(), entries.copy()
    a = of_blocks[5 : 5 + 3 * SIDE_BY_SIDE].reshape((3, SIDE_BY_SIDE))
    x = weights @ a + entries[2 : 2 + SIDE_BY_SIDE]
    a += np.outer(steps, x)
    of_entries[2 : 2 + SIDE_BY_SIDE] = x
    _solve_and_spread(blocks, weights, steps, entries)
    for found, expected, changed in (
        (blocks, of_blocks, slice(5, 5 + 3 * SIDE_BY_SIDE)),
        (entries, of_entries, slice(2, 2 + SIDE_BY_SIDE)),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
        expected[changed] = found[changed]
        assert (found == expected).all()


@kernel(int64(floats, floats, floats))
def _solve(blocks, weights, entries):
    solve_and_spread(blocks, 5, (weights[0], weights[1], weights[2]), (), entries, 2)
    return 0


def test_unknowns_are_solved_for_alone():
    rng = np.random.default_rng(7)
    blocks, weights, entries = (rng.normal(size=n) for n in (40, 3, 13))
    before, expected = blocks.copy(), entries.copy()
    solved = slice(2, 2 + SIDE_BY_SIDE)
    expected[solved] += weights @ blocks[5 : 5 + 3 * SIDE_BY_SIDE].reshape((3, SIDE_BY_SIDE))
    _solve(blocks, weights, entries)
    np.testing.assert_allclose(entries, expected, rtol=0, atol=1e-14)
    expected[solved] = entries[solved]
    assert (entries == expected).all()
    assert (blocks == before).all()
