"""Products in sums are rounded once where the rule of the source says so, and nowhere else."""

from fractions import Fraction

import numpy as np
import pytest

from mbkit.kernels.compile import float64, floats, int64, kernel
from mbkit.kernels.compiling.fusing import fuses

pytestmark = pytest.mark.compiled

RESULTS = 10


@kernel(int64(floats, floats, int64))
def sums(x, out, n):
    """One of each form."""
    a, b, c, d = x[0], x[1], x[2], x[3]
    out[0] = a * b + c
    out[1] = c + a * b
    out[2] = a * b - c
    out[3] = c - a * b
    out[4] = c
    out[4] += a * b
    out[5] = c
    out[5] -= a * b
    out[6] = a * b - c * d
    out[7] = a * n + c
    product = a * b
    out[8] = product + c
    out[9] = c + (a * b) / 1.0
    return n * n + n


def expected(x, n):
    """Return the same from exact numbers, each rounded to the nearest double."""
    a, b, c, d = (Fraction(float(each)) for each in x)
    ab, cd, an = a * b, c * d, a * n
    if not fuses():
        ab, cd, an = (Fraction(float(each)) for each in (ab, cd, an))
    rounded = Fraction(float(a * b))
    sums = [ab + c, c + ab, ab - c, c - ab, c + ab, c - ab, rounded - cd, an + c]
    return np.array([float(each) for each in (*sums, rounded + c, c + rounded)])


@pytest.mark.parametrize("seed", range(20))
def test_a_product_in_a_sum_is_rounded_once(seed):
    """Unless it has a name or something else is done with it first; integers stay what they are."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=4)
    x[2] = -x[0] * x[1] * (1.0 + 1e-9 * rng.normal())  # sums that cancel, where rounding shows
    n = int(rng.integers(2, 9))
    out = np.zeros(RESULTS)
    assert sums(x, out, n) == n * n + n
    np.testing.assert_array_equal(out, expected(x, n))


@kernel(float64(float64, float64))
def chosen(x, y):
    """Other blocks stand between the product and the sum."""
    return x * y + (1.0 if y > 0.0 else -x * y)


def test_blocks_are_not_crossed():
    """What is computed in one of two branches has been rounded when they meet."""
    x, y = 1.0 + 2.0**-30, -1.0 - 2.0**-30
    assert chosen(x, y) == 0.0


@kernel(float64(float64, float64))
def changed(x, y):
    """A factor that is given another value before the sum."""
    before = x
    total = x * y + (x := y)
    return total - (before * y + x)


def test_factors_are_those_of_the_product():
    """Not what their names stand for when the sum is made."""
    assert changed(0.3, 0.7) == 0.0
