"""Tableaus satisfy the order conditions of their order, and no more than is claimed is refused."""

from functools import cache

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.tableaus import TABLEAUS


@cache
def rooted_trees(order):
    """All rooted trees with `order` vertices; a tree is the sorted tuple of its branches."""
    if order == 1:
        return ((),)
    return forests(order - 1, order - 1)


@cache
def forests(vertices, largest):
    """All multisets of trees with `vertices` vertices in all, none with more than `largest`."""
    if vertices == 0:
        return ((),)
    found = set()
    for size in range(1, min(vertices, largest) + 1):
        for tree in rooted_trees(size):
            for rest in forests(vertices - size, size):
                found.add(tuple(sorted((tree, *rest))))
    return tuple(found)


def vertices(tree):
    """Number of vertices."""
    return 1 + sum(vertices(branch) for branch in tree)


def density(tree):
    """Gamma of the tree."""
    return vertices(tree) * int(np.prod([density(branch) for branch in tree], dtype=int))


def elementary_weights(A, tree):
    """Vector of stage weights: the product over branches of A times the branch's own."""
    weights = np.ones(len(A))
    for branch in tree:
        weights = weights * (A @ elementary_weights(A, branch))
    return weights


def defects(tableau, order):
    """|b . Phi(t) - 1 / gamma(t)| of all trees of an order (Hairer, Norsett, Wanner I, II.2)."""
    return [
        abs(tableau.b @ elementary_weights(tableau.A, tree) - 1.0 / density(tree))
        for tree in rooted_trees(order)
    ]


def test_the_number_of_rooted_trees_is_known():
    """1, 1, 2, 4, 9, 20 trees of 1 to 6 vertices."""
    assert [len(rooted_trees(n)) for n in range(1, 7)] == [1, 1, 2, 4, 9, 20]


@pytest.mark.parametrize("tableau", TABLEAUS.values(), ids=TABLEAUS)
def test_a_tableau_has_its_order_and_not_one_more(tableau):
    """Every order condition up to the order holds; one of the next order does not."""
    for order in range(1, tableau.order + 1):
        assert max(defects(tableau, order)) < 1e-15 * 10
    assert max(defects(tableau, tableau.order + 1)) > 1e-6


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
