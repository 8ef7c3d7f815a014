"""The series of the maps with as many terms as their numbers want, against closed forms."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from mbkit.kernels.lie import series
from mbkit.kernels.lie.arbitrary_precision import endless_sum
from mbkit.kernels.lie.exact_products import POLE


def closed_forms(z):
    """By the number of the table."""
    phi = mpmath.sqrt(z)
    half = phi / 2
    a1, a2 = mpmath.sin(phi) / phi, (1 - mpmath.cos(phi)) / z
    a3 = (1 - a1) / z
    b1, b2, b3 = (mpmath.cos(phi) - a1) / z, (a1 - 2 * a2) / z, (a2 - 3 * a3) / z
    gamma = half * mpmath.cot(half)
    pole = mpmath.mpf(POLE) - z
    return {
        "_A1": a1, "_A2": a2, "_A3": a3, "_B2": b2, "_B3": b3,
        "_C2": (b1 - 4 * b2) / z, "_C3": (b2 - 5 * b3) / z,
        "_E": (1 - gamma) / z - 2 / pole,
        "_F": ((half / mpmath.sin(half)) ** 2 + gamma - 2) / z**2 - 4 / pole**2,
    }  # fmt: skip


@pytest.mark.parametrize("z", [1e-6, 0.3, 2.0, 12.0])
def test_sums_have_the_digits_of_their_numbers(z):
    with mpmath.workdps(80):
        expected = closed_forms(mpmath.mpf(z))
        for name, value in expected.items():
            coefficient = series._ENDLESS[getattr(series, name)]
            found = endless_sum(coefficient, mpmath.mpf(z))
            # closed forms of c_k cancel by z^3, and tables of the pole are what is left of it
            assert abs(found - value) < 1e-40 * max(1, abs(value)), name


def test_tables_of_doubles_are_the_first_of_their_coefficients():
    for numbers, coefficient in series._ENDLESS.items():
        found = [float(coefficient(j)) for j in reversed(range(len(numbers)))]
        scale = 1e-16 if numbers in (series._E, series._F) else 0.0
        np.testing.assert_allclose(numbers, found, rtol=1e-15, atol=scale)
