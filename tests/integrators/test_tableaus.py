"""Tableaus satisfy the order conditions of their order, and no more than is claimed is refused."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.integrators.coefficients.order_conditions import dense_defect, order_defect, rooted_trees
from mbkit.integrators.coefficients.tableaus import TABLEAUS


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


def test_there_is_a_tableau_of_every_order():
    """From 1 to 8, and a pair with an error estimate for every order from 2 on but 4."""
    assert {tableau.order for tableau in TABLEAUS.values()} == set(range(1, 9))
    pairs = {tableau.order for tableau in TABLEAUS.values() if tableau.b_embedded is not None}
    assert pairs == {2, 3, 5, 6, 7, 8}


@pytest.mark.parametrize(
    "tableau",
    [tableau for tableau in TABLEAUS.values() if tableau.b_embedded is not None],
    ids=lambda tableau: tableau.name,
)
def test_the_embedded_result_has_its_order_and_not_one_more(tableau):
    """Else the estimate would be of another order than the step control takes it for."""
    for order in range(1, tableau.embedded_order + 1):
        assert order_defect(tableau.A, tableau.b_embedded, order) < 1e-14
    assert order_defect(tableau.A, tableau.b_embedded, tableau.embedded_order + 1) > 1e-6
    assert abs(tableau.embedded_order - tableau.order) == 1


@pytest.mark.parametrize(
    "tableau",
    [tableau for tableau in TABLEAUS.values() if tableau.b_dense is not None],
    ids=lambda tableau: tableau.name,
)
def test_dense_output_ends_where_the_step_does(tableau):
    """Its weights at theta = 1 are b; their rates are the first stage at 0, the last one at 1."""
    degree = tableau.b_dense.shape[1]
    np.testing.assert_allclose(tableau.b_dense.sum(axis=1), tableau.b, atol=1e-15)
    stages = np.eye(tableau.b.size)
    np.testing.assert_allclose(tableau.b_dense[:, 0], stages[0], atol=1e-15)
    rates = tableau.b_dense @ np.arange(1, degree + 1)
    np.testing.assert_allclose(rates, stages[-1], atol=1e-14)  # as Hermite's
    assert dense_defect(tableau.A, tableau.b_dense, tableau.dense_order) < 1e-14
    assert dense_defect(tableau.A, tableau.b_dense, tableau.dense_order + 1) > 1e-6


def test_coefficients_agree_with_those_of_scipy():
    """Bogacki and Shampine's pair and Dormand and Prince's, with their polynomials."""
    from scipy.integrate import RK23, RK45

    for tableau, other in (
        (mb.tableaus.BOGACKI_SHAMPINE3, RK23),
        (mb.tableaus.DORMAND_PRINCE5, RK45),
    ):
        count = other.n_stages
        columns = other.A.shape[1]
        np.testing.assert_allclose(tableau.A[:count, :columns], other.A, atol=1e-16)
        np.testing.assert_allclose(tableau.b[:count], other.B, rtol=1e-15)
        np.testing.assert_allclose(abs(tableau.b - tableau.b_embedded), abs(other.E), atol=1e-16)
        np.testing.assert_allclose(tableau.b_dense, other.P, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"b_embedded": [1.0, 0.0]}, "has b_embedded, and embedded_order=0; say its order"),
        ({"b_embedded": [1.0, 0.0], "embedded_order": 2}, "claims embedded_order 2, but a cond"),
        ({"b_embedded": [1.0], "embedded_order": 1}, "needs b_embedded of the shape of b"),
        ({"b_embedded": [1.0, 0.5], "embedded_order": 1}, "weights b_embedded must add up to 1"),
        ({"b_dense": [[1.0], [0.0]], "dense_order": 1}, "rows of b_dense must add up to b"),
        ({"b_dense": [[0.5], [0.5]], "dense_order": 2}, "claims dense_order 2, but a condition"),
        ({"b_dense": [[0.5], [0.5]]}, "has b_dense, and dense_order=0; say its order"),
        ({"b_dense": [0.5, 0.5], "dense_order": 1}, r"needs b_dense of shape \(2, d\)"),
    ],
)
def test_impossible_pairs_and_polynomials_are_refused(options, message):
    """What is estimated or interpolated with wrong digits would look right."""
    with pytest.raises(mb.UsageError, match=message):
        mb.Tableau("mine", order=2, A=[[0.0, 0.0], [1.0, 0.0]], b=[0.5, 0.5], **options)


def test_straight_lines_are_polynomials_of_order_one():
    """The least that may be said of a dense output, and of embedded weights."""
    step = {"A": [[0.0, 0.0], [1.0, 0.0]], "b": [0.5, 0.5]}
    line = {"b_dense": [[0.5], [0.5]], "dense_order": 1}
    euler = {"b_embedded": [1.0, 0.0], "embedded_order": 1}
    tableau = mb.Tableau("mine", order=2, **step, **line, **euler)
    assert (tableau.dense_order, tableau.embedded_order) == (1, 1)


def test_the_nodes_are_the_row_sums():
    """c = A 1, the condition under which an autonomous system suffices."""
    for tableau in TABLEAUS.values():
        c = np.asarray(tableau.A) @ np.ones(tableau.b.size)
        np.testing.assert_allclose(tableau.c, c, atol=1e-16 * np.abs(tableau.A).max() * c.size)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "2"}, "Tableau 'mine': order must be a whole number from 1 on, got '2'."),
        ({"order": 1.5}, "Tableau 'mine': order must be a whole number from 1 on, got 1.5."),
        ({"order": True}, "Tableau 'mine': order must be a whole number from 1 on, got True."),
        ({"order": 0}, "Tableau 'mine': order must be a whole number from 1 on, got 0."),
        ({"embedded_order": 1.5}, "embedded_order must be a whole number from 0 on, got 1.5."),
        ({"dense_order": "1"}, "dense_order must be a whole number from 0 on, got '1'."),
        ({"A": [[0.0], [1.0, 0.0]]}, "A must be an array of numbers, all its rows of one length"),
        ({"b": ["x", 1.0]}, "b must be an array of numbers, all its rows of one length, got ['x'"),
        ({"b_embedded": "half"}, "b_embedded must be an array of numbers"),
        ({"name": 3}, "Tableau: name must be text that is not empty, got 3."),
        ({"name": ""}, "Tableau: name must be text that is not empty, got ''."),
    ],
)
def test_what_is_no_tableau_is_refused(options, message):
    """By name, rule and value."""
    valid = {"name": "mine", "order": 2, "A": [[0.0, 0.0], [1.0, 0.0]], "b": [0.5, 0.5]}
    with pytest.raises(mb.UsageError) as caught:
        mb.Tableau(**{**valid, **options})
    assert message in str(caught.value)


def test_numbers_of_numpy_are_numbers():
    """Orders and tolerances may come out of arrays."""
    A, b = [[0.0, 0.0], [1.0, 0.0]], [0.5, 0.5]
    made = mb.Tableau("mine", np.int64(2), A, b, b_embedded=[1, 0], embedded_order=np.int8(1))
    assert (type(made.order), type(made.embedded_order)) == (int, int)
    method = mb.RungeKuttaMuntheKaas(made, rtol=np.float32(1e-6), atol=np.float64(1e-9))
    assert (method.rtol, method.atol) == (float(np.float32(1e-6)), 1e-9)
    assert mb.RungeKuttaMuntheKaas(made, rtol=1) == mb.RungeKuttaMuntheKaas(made, rtol=1.0)


def test_coefficients_cannot_be_changed():
    """A tableau is a value: equal by content, read-only."""
    assert mb.Tableau("euler", order=1, A=[[0.0]], b=[1.0]) == mb.tableaus.EULER
    with pytest.raises(ValueError, match="read-only"):
        mb.tableaus.RK4.A[1, 0] = 1.0
