"""Tableaus satisfy the order conditions of their order, and no more than is claimed is refused."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.order_conditions import order_defect, rooted_trees
from mbkit.integrators.tableaus import TABLEAUS


def test_the_number_of_rooted_trees_is_known():
    """1, 1, 2, 4, 9, 20, 48, 115 trees of 1 to 8 vertices."""
    assert [len(rooted_trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]


def test_a_condition_of_each_order_is_the_known_one():
    """The third and the fourth order, written out as in any textbook."""
    rng = np.random.default_rng(4)
    A, b = np.tril(rng.normal(size=(4, 4)), -1), rng.normal(size=4)
    c = A @ np.ones(4)
    third = [b @ c**2 - 1 / 3, b @ A @ c - 1 / 6]
    fourth = [
        b @ c**3 - 1 / 4,
        b @ (c * (A @ c)) - 1 / 8,
        b @ A @ c**2 - 1 / 12,
        b @ A @ A @ c - 1 / 24,
    ]
    assert np.isclose(order_defect(A, b, 3), np.abs(third).max(), rtol=1e-12)
    assert np.isclose(order_defect(A, b, 4), np.abs(fourth).max(), rtol=1e-12)


def test_an_order_that_the_coefficients_do_not_have_is_refused():
    """The order that fails first is named."""
    with pytest.raises(mb.UsageError, match="claims order 7, but a condition of order 2 is missed"):
        mb.Tableau("bad", order=7, A=[[0.0]], b=[1.0])
    A, b = mb.tableaus.RK4.A.copy(), mb.tableaus.RK4.b
    A[2, 1] = 0.5000001
    with pytest.raises(mb.UsageError, match="claims order 4, but a condition of order"):
        mb.Tableau("typed wrongly", order=4, A=A, b=b)


@pytest.mark.parametrize("tableau", TABLEAUS.values(), ids=TABLEAUS)
def test_a_tableau_has_its_order_and_not_one_more(tableau):
    """Every order condition up to the order holds; one of the next order does not."""
    for order in range(1, tableau.order + 1):
        assert order_defect(tableau.A, tableau.b, order) < 1e-14
    assert order_defect(tableau.A, tableau.b, tableau.order + 1) > 1e-6


def test_the_nodes_are_the_row_sums():
    """c = A 1, the condition under which an autonomous system suffices."""
    for tableau in TABLEAUS.values():
        np.testing.assert_allclose(tableau.c, np.asarray(tableau.A) @ np.ones(tableau.b.size))


@pytest.mark.parametrize(
    ("A", "b", "message"),
    [
        ([[0.0, 0.0]], [1.0], "needs A of shape"),
        ([[0.0, 1.0], [0.0, 0.0]], [0.5, 0.5], "is not explicit"),
        ([[0.5]], [1.0], "is not explicit"),
        ([[0.0, 0.0], [1.0, 0.0]], [0.5, 0.6], "must add up to 1; got 1.1"),
        ([[0.0, 0.0], [np.nan, 0.0]], [0.5, 0.5], "not finite"),
    ],
)
def test_impossible_coefficients_are_refused(A, b, message):
    """Wrong shapes, implicit stages, weights that do not add up: each says so by name."""
    with pytest.raises(mb.UsageError, match="Tableau 'mine'") as caught:
        mb.Tableau("mine", order=1, A=A, b=b)
    assert message in str(caught.value)


def test_coefficients_cannot_be_changed():
    """A tableau is a value: equal by content, read-only."""
    assert mb.Tableau("euler", order=1, A=[[0.0]], b=[1.0]) == mb.tableaus.EULER
    with pytest.raises(ValueError, match="read-only"):
        mb.tableaus.RK4.A[1, 0] = 1.0
