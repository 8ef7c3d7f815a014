"""Orders of high-order integrators in numbers of 60 digits; docs/orders.md has all of them."""

from __future__ import annotations

import functools

import attrs
import gmpy2
import numpy as np
import pytest

import mbkit as mb
from benchmarks.catalogue import INTEGRATORS
from benchmarks.digits import PROBLEMS, course_of, dop853, in_digits
from benchmarks.exact_tableaus import exact_tableau
from benchmarks.orders import many_digits
from mbkit.integrators.coefficients.order_conditions import order_defects
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from mbkit.testing.standard_problems import STANDARD_PROBLEMS
from tests.twins import Twins

#: With a loop and its projection; with Newton's method and its first steps.
CELLS = [("RKMK verner6", "top on a free joint"), ("BLieDF 6, stabilised", "heavy top")]


@pytest.fixture(scope="module")
def found():
    return functools.cache(lambda cell: in_digits([cell])[cell])


@pytest.mark.long
@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_orders_that_doubles_have_no_room_for(found, cell):
    orders = found(cell).orders
    assert len(orders) == (3 if "joint" in cell[1] else 2)
    for what, slope in orders.items():
        assert abs(slope.value - 6.0) < 0.1, what
        assert slope.uncertainty < 0.05


@pytest.mark.long
@pytest.mark.parametrize("cell", CELLS, ids="/".join)
def test_the_steps_are_those_of_doubles(found, cell):
    """The compiled loop, in as many steps: what is left is its rounding."""
    name, problem = cell
    course = course_of(name, problem)
    short = attrs.evolve(PROBLEMS[problem], end=course.end)
    run = short.run(INTEGRATORS[name], course.steps[-1])
    np.testing.assert_allclose([*run.q[-1], *run.v[-1]], found(cell).end, atol=2e-12)


@pytest.mark.long
@pytest.mark.parametrize(
    "tableau", [mb.tableaus.VERNER6, dop853()], ids=lambda tableau: tableau.name
)
def test_coefficients_of_many_digits(tableau):
    """Next to the doubles, with the same zeros; conditions hold to what the digits allow."""
    with gmpy2.context(precision=200):
        A, b = exact_tableau(tableau, gmpy2.mpfr, 1e-34)
        defects = [defect for k in range(1, tableau.order + 1) for defect in order_defects(A, b, k)]
        assert max(map(abs, defects)) < 1e-34
    assert np.abs((A - tableau.A).astype(float)).max() < 1e-14
    assert not A[tableau.A == 0.0].any()


def test_a_method_of_scipy_is_that_of_its_coefficients():
    """What stands for it where numbers have many digits: the same steps to rounding."""
    problem = STANDARD_PROBLEMS[1]
    one = problem.run(mb.LocalVectorSpace("DOP853"), 64)
    other = problem.run(mb.RungeKuttaMuntheKaas(dop853()), 64)
    np.testing.assert_allclose(one.q, other.q, atol=1e-13)
    np.testing.assert_allclose(one.v, other.v, atol=1e-12)


def test_which_cells_are_measured_in_digits(monkeypatch):
    asked = []
    monkeypatch.setattr("benchmarks.orders.in_digits", lambda cells: asked.extend(cells) or {})
    chosen = {
        "RKMK rk4": (mb.RungeKuttaMuntheKaas(), 4),
        "RKMK verner6": (mb.RungeKuttaMuntheKaas(mb.tableaus.VERNER6), 6),
        "BLieDF 4, stabilised": (mb.BLieDF(4), 4),
        "my own": (mb.RungeKuttaMuntheKaas(mb.tableaus.VERNER6), 6),
    }
    many_digits(chosen, [STANDARD_PROBLEMS[1], CONSTRAINED_PROBLEMS[0]])
    assert asked == [
        ("RKMK verner6", "heavy top"),
        ("RKMK verner6", "top on a free joint"),
        ("BLieDF 4, stabilised", "top on a free joint"),
    ]


def test_twins_are_for_python_alone():
    with pytest.raises(RuntimeError, match="NUMBA_DISABLE_JIT"):
        Twins(gmpy2.mpfr)
