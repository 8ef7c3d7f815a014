"""The formulas behind BLieDF, in rational arithmetic: power series of a motion on SE(3)."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.bliedf import BackwardDifferences

STEPS = range(1, 7)

#: Powers of h that are kept: the formulas are looked at to h^6.
TERMS = 9


# --------------------------------------------------------------------- series of 4 x 4 matrices


def _zero() -> Any:
    return np.full((4, 4), Fraction(0), dtype=object)


def _times(a: list[Any], b: list[Any]) -> list[Any]:
    """The product of two series."""
    return [
        sum((a[i] @ b[n - i] for i in range(n + 1) if a[i].any() and b[n - i].any()), _zero())
        for n in range(TERMS)
    ]


def _plus(a: list[Any], b: list[Any], factor: Any = 1) -> list[Any]:
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def _bracket(a: list[Any], b: list[Any]) -> list[Any]:
    return _plus(_times(a, b), _times(b, a), -1)


def _twist(w: Any, u: Any) -> Any:
    x, y, z = w
    rows = [[0, -z, y, u[0]], [z, 0, -x, u[1]], [-y, x, 0, u[2]], [0, 0, 0, 0]]
    return np.array([[Fraction(e) for e in row] for row in rows], dtype=object)


#: A velocity that turns and grows: v(t), a polynomial, so that all its derivatives count.
VELOCITY = [
    _twist((1, 2, -1), (0, 1, 3)),
    _twist((-2, 1, 1), (1, 0, -1)),
    _twist((0, -1, 2), (2, 1, 0)),
    _twist((1, 1, 0), (-1, 2, 1)),
    _twist((Fraction(1, 2), 0, -1), (0, 0, 1)),
    _twist((0, 1, 1), (1, -1, 0)),
] + [_zero()] * (TERMS - 6)

ONE = [np.array(np.eye(4, dtype=int), dtype=object) * Fraction(1)] + [_zero()] * (TERMS - 1)


def _motion() -> list[Any]:
    """g(t) with g' = g v, g(0) = 1."""
    g = [ONE[0]]
    for n in range(TERMS - 1):
        total = sum((g[i] @ VELOCITY[n - i] for i in range(n + 1)), _zero())
        g.append(total / Fraction(n + 1))
    return g


def _logarithm(g: list[Any]) -> list[Any]:
    rest, power, total = _plus(g, ONE, -1), ONE, [_zero()] * TERMS
    for k in range(1, TERMS):
        power = _times(power, rest)
        total = _plus(total, power, Fraction((-1) ** (k + 1), k))
    return total


def _at(series: list[Any], node: int) -> list[Any]:
    """The series f(node h) in powers of h, of f in powers of t."""
    return [term * Fraction(node) ** n for n, term in enumerate(series)]


def _by_h(series: list[Any]) -> list[Any]:
    return [*series[1:], _zero()]


def _differential(x: list[Any], y: list[Any]) -> list[Any]:
    """T(x) y = sum (-ad_x)^j y / (j + 1)!."""
    term, total = y, y
    for j in range(1, TERMS):
        term = _bracket(x, term)
        total = _plus(total, term, Fraction((-1) ** j, factorial(j + 1)))
    return total


def _first_power(series: list[Any]) -> int:
    return next(n for n, term in enumerate(series) if term.any())


@pytest.fixture(scope="module")
def motion() -> list[Any]:
    return _motion()


@pytest.fixture(scope="module")
def coordinates(motion: list[Any]) -> list[Any]:
    """x(t), the logarithm of g about t = 0, which is t_n."""
    return _logarithm(motion)


# ------------------------------------------------------------------------------- coefficients


@pytest.mark.parametrize("k", STEPS)
def test_alpha_differentiates_polynomials(k: int) -> None:
    """Of degree up to k, and not of the next one, at t = 0 from values at 0, -1, ..., -k."""
    alpha = BackwardDifferences(k).alpha
    for degree in range(k + 2):
        rate = sum(a * Fraction(-i) ** degree for i, a in enumerate(alpha))
        assert (rate == (1 if degree == 1 else 0)) is (degree <= k)


@pytest.mark.parametrize("k", STEPS)
def test_gamma_are_weights_of_increments(k: int) -> None:
    """They add up to one, and differentiate as alpha does; moments about the midpoints."""
    formula = BackwardDifferences(k)
    gamma = formula.gamma
    differences = [*gamma, Fraction(0)]
    assert formula.alpha == tuple(
        b - a for a, b in zip([Fraction(0), *gamma], differences, strict=True)
    )
    half = Fraction(1, 2)
    moments = [sum(g * (j + half) ** power for j, g in enumerate(gamma)) for power in range(4)]
    for power, moment in enumerate((1, 0, Fraction(-1, 12), 0)):
        if k > power:
            assert moments[power] == moment


@pytest.mark.parametrize("k", STEPS)
def test_what_is_foreseen_is_exact_for_polynomials(k: int) -> None:
    """Of degree up to k that begin with x_1 = 0."""
    formula = BackwardDifferences(k)
    for degree in range(1, k + 2):
        value = formula.slope * (1 if degree == 1 else 0)
        value += sum(w * Fraction(-i) ** degree for i, w in enumerate(formula.nodes, 1))
        assert (value == 1) is (degree <= k)


@pytest.mark.parametrize("steps", [0, 7, 2.0, True, "2"])
def test_other_numbers_of_steps_are_refused(steps: Any) -> None:
    with pytest.raises(mb.UsageError, match="1 to 6 steps"):
        BackwardDifferences(steps)


# ------------------------------------------------------------------------------ order on SE(3)


def test_logarithm_and_differential_belong_together(coordinates: list[Any]) -> None:
    """v = T(x) x' for the x of the motion: both series are right."""
    rate = [*[n * term for n, term in enumerate(coordinates)][1:], _zero()]
    defect = _plus(_differential(coordinates, rate), VELOCITY, -1)
    assert not any(term.any() for term in defect[: TERMS - 1])


@pytest.mark.parametrize("k", STEPS)
def test_velocity_by_coordinates_has_order_k(k: int, coordinates: list[Any]) -> None:
    """T(foreseen x_0) sum alpha_i x_i / h misses v_{n+1} by h^k: and not by more or less."""
    formula = BackwardDifferences(k)
    nodes = [_at(coordinates, 1 - i) for i in range(k + 1)]
    rate = [_zero()] * TERMS
    for a, x in zip(formula.alpha, nodes, strict=True):
        rate = _plus(rate, _by_h(x), a)
    foreseen = [_zero(), formula.slope * VELOCITY[0]] + [_zero()] * (TERMS - 2)
    for w, x in zip(formula.nodes, nodes[2:], strict=True):
        foreseen = _plus(foreseen, x, w)
    defect = _plus(_differential(foreseen, rate), _at(VELOCITY, 1), -1)
    assert _first_power(defect[: TERMS - 1]) == k


@pytest.mark.some(3)
@pytest.mark.parametrize("k", STEPS)
def test_velocity_by_increments_loses_a_bracket(k: int, motion: list[Any]) -> None:
    """sum gamma_j D_j misses v_{n+1} by h^2/12 [v, v'] from k = 3 on."""
    total = [_zero()] * TERMS
    for j, g in enumerate(BackwardDifferences(k).gamma):
        increment = _times(_inverse(_at(motion, -j)), _at(motion, 1 - j))
        total = _plus(total, _by_h(_logarithm(increment)), g)
    defect = _plus(total, _at(VELOCITY, 1), -1)
    assert _first_power(defect[: TERMS - 1]) == min(k, 2)
    if k > 2:
        v, vdot = VELOCITY[0], VELOCITY[1]
        assert (defect[2] == (v @ vdot - vdot @ v) / Fraction(12)).all()


def _inverse(g: list[Any]) -> list[Any]:
    """1 / g as a series: 1 - r + r^2 - ..., with r = g - 1."""
    rest, power, total = _plus(g, ONE, -1), ONE, ONE
    for k in range(1, TERMS):
        power = _times(power, rest)
        total = _plus(total, power, Fraction((-1) ** k))
    return total
