"""The coefficients against 50 digits, and the numbers in their tables against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from mbkit.kernels.lie import exact_products, series


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(60):
        yield


# Dense where the formulas change (1, 4, 2 pi) and where closed forms would cancel.
ANGLES = [
    *np.geomspace(1e-9, 0.5, 12),
    *np.linspace(0.6, 6.2, 41),
    *(1 - 1e-9, 1 + 1e-9, 4 - 1e-9, 4 + 1e-9),
    *(2 * np.pi - 10.0 ** -np.arange(1.0, 8.0)),
]


def taylor(first, z):
    """Sum over j of (-1)^j first(j) z^j."""
    return mp.fsum((-1) ** j * first(j) * z**j for j in range(100))


def a(k, z):
    return taylor(lambda j: 1 / mp.factorial(2 * j + k), z)


def b(k, z):
    """a_k' / phi, by its own series."""
    return taylor(lambda j: -2 * (j + 1) / mp.factorial(2 * j + 2 + k), z)


def e_f(z):
    """e and e' / phi by closed form, with digits to spare for its cancellation."""
    with mp.workdps(120):
        phi = mp.sqrt(z)
        gamma = phi / 2 * mp.cot(phi / 2)
        beta = (mp.sin(phi / 2) / (phi / 2)) ** 2
        return (1 - gamma) / z, (1 / beta + gamma - 2) / z**2


# a_1 and a_2 and so b_2 have their zeros at 2 pi (a_1 at pi too), where only the absolute error
# stays small: it is compared with the coefficient's size at 0.
COEFFICIENTS = {
    "a1": (lambda x, z: series.a1_a2(z)[0], lambda z: a(1, z), 1.0),
    "a2": (lambda x, z: series.a1_a2(z)[1], lambda z: a(2, z), 1 / 2),
    "a3": (lambda x, z: series.a2_a3(z)[1], lambda z: a(3, z), 0.0),
    "b2": (lambda x, z: series.b2_b3(z)[0], lambda z: b(2, z), 1 / 12),
    "b3": (lambda x, z: series.b2_b3(z)[1], lambda z: b(3, z), 0.0),
    "e": (series.e_of, lambda z: e_f(z)[0], 0.0),
    "e with f": (lambda x, z: series.e_f_of(x, z)[0], lambda z: e_f(z)[0], 0.0),
    "f": (lambda x, z: series.e_f_of(x, z)[1], lambda z: e_f(z)[1], 0.0),
}


@pytest.mark.some(4)
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients_have_all_digits(name):
    """The relative error is below 1e-15 at every angle up to 2 pi - 1e-7."""
    computed, definition, size = COEFFICIENTS[name]
    for phi in ANGLES:
        x = (float(phi), 0.0, 0.0)
        # e and f know x itself; the others know the rounded z = x.x.
        z = mpf(x[0]) ** 2 if name[0] in "ef" else mpf(x[0] * x[0])
        expected = definition(z)
        deviation = abs(mpf(float(computed(x, x[0] * x[0]))) - expected)
        assert deviation <= 1e-15 * max(abs(expected), size), phi


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients_at_zero(name):
    """Nothing is divided by zero at the identity."""
    values = {"a1": 1, "a2": 1 / 2, "a3": 1 / 6, "b2": -1 / 12, "b3": -1 / 60,
              "e": 1 / 12, "e with f": 1 / 12, "f": 1 / 360}  # fmt: skip
    computed, _, _ = COEFFICIENTS[name]
    assert computed((0.0, 0.0, 0.0), 0.0) == pytest.approx(values[name], rel=3e-16)


def test_table_of_partial_fractions():
    """s_j = 2 (zeta(2j + 2) - 1) / (2 pi)^(2j + 2), to the last digit."""
    for j, s in enumerate(series._S):
        n = 2 * j + 2
        assert s == float(2 * (mp.zeta(n) - 1) / (2 * mp.pi) ** n)


def test_pole_is_split_exactly():
    """(2 pi)^2 in units of 2^-40, and the rest."""
    square = 4 * mp.pi**2
    assert float(square) == exact_products.POLE
    assert int(mp.floor(square * 2**40)) == exact_products._POLE_UNITS
    assert float(square - mpf(exact_products._POLE_UNITS) / 2**40) == exact_products._POLE_REST


def test_scalar_products_near_the_pole_are_exact():
    """(2 pi)^2 - x.x and x.y have absolute errors of 1e-20, where plain sums have 1e-15."""
    rng = np.random.default_rng(2)
    for size in (1e-300, 1e-5, 1.0, 1e5, 1e300):
        axis = rng.standard_normal(3)
        x = (2 * np.pi - 1e-6) * axis / np.linalg.norm(axis)
        y = np.cross(x, rng.standard_normal(3))
        y *= size / np.max(np.abs(y))
        xx, xy = (mp.fsum(mpf(p) * mpf(q) for p, q in zip(x, u, strict=True)) for u in (x, y))
        distance = 4 * mp.pi**2 - xx
        x, y = tuple(map(float, x)), tuple(map(float, y))
        z = float(xx)
        assert abs(exact_products.distance_from_pole(x, z) - distance) < 1e-20
        assert abs(exact_products.dot_near_pole(x, z, y) - xy) < 1e-20 * size
