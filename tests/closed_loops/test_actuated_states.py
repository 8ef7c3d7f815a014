"""Equations for efforts of actuators against the pseudoinverse of all equations at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mbkit.closed_loops.actuated_states import ActuatedStates, ForceSides

#: Rows, velocities, rank of the rows, actuated velocities.
SHAPES = {
    "regular": (4, 6, 4, [0, 3]),
    "rows that depend on others": (7, 6, 4, [0, 3]),
    "more actuators than freedoms": (7, 6, 4, [0, 2, 3, 5]),
    "all are actuated": (5, 4, 3, [0, 1, 2, 3]),
    "passive motions that no actuator feels": (3, 6, 2, [1]),
    "no rows": (0, 3, 0, [0, 1, 2]),
    "no actuators": (5, 4, 4, []),
}
WEIGHTS = {"least efforts": 1.0, "least weighted efforts": 10.0, "minimum-norm multipliers": None}


def equations(rng: Any, shape: str, weights: float | None) -> tuple[Any, Any, Any]:
    """Actuators, three Jacobians of one rank, and sizes of velocities."""
    rows, nv, rank, actuated = SHAPES[shape]
    A = rng.normal(size=(3, rows, rank)) @ rng.normal(size=(3, rank, nv))
    roots = None
    if weights is not None:
        roots = np.sqrt(weights ** rng.uniform(-1.0, 1.0, len(actuated)))
    passive = [k for k in range(nv) if k not in actuated]
    actuation = SimpleNamespace(actuated=actuated, passive=passive, roots=roots)
    return actuation, A, rng.uniform(0.3, 3.0, nv)


def whole(actuation: Any, A: Any, sizes: Any) -> Any:
    """The pseudoinverse of the symmetric matrix of u, l and y; see `mbkit.closed_loops`."""
    a, (m, nv) = actuation.actuated, A.shape
    roots = np.ones(len(a)) if actuation.roots is None else actuation.roots
    first = len(a) + m
    K = np.zeros((first + nv, first + nv))
    of_efforts = actuation.roots is not None
    least = range(len(a)) if of_efforts else range(len(a), first)
    K[least, least] = 1.0
    K[first + np.array(a, dtype=int), range(len(a))] = 1.0 / (sizes[a] * roots)
    K[first:, len(a) : first] = (A / sizes).T
    K[:first, first:] = K[first:, :first].T
    return np.linalg.pinv(K, rcond=1e-10, hermitian=True)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_solutions_and_adjoints_are_those_of_the_pseudoinverse(shape: str, weights: str) -> None:
    rng = np.random.default_rng(len(shape))
    actuation, Jacobians, sizes = equations(rng, shape, WEIGHTS[weights])
    states = ActuatedStates.of(actuation, Jacobians, sizes)
    count, m, nv = Jacobians.shape
    forces, turned = rng.normal(size=(count, nv, 2)), rng.normal(size=(count, m, 2))
    hidden = rng.normal(size=(count, m, 2)) if states.is_hidden else None
    efforts, multipliers = states.solve(ForceSides(forces, turned, hidden))
    own, least = (x[..., 0] for x in states.solve(ForceSides(forces[..., :1])))
    y, mu = states.adjoints(own, least)
    a = actuation.actuated
    roots = np.ones(len(a)) if actuation.roots is None else actuation.roots
    for n, A in enumerate(Jacobians):
        inverse = whole(actuation, A, sizes)
        sides = np.concatenate([np.zeros((len(a), 2)), -turned[n], forces[n] / sizes[:, None]])
        found = inverse @ sides
        expected = np.zeros((nv, 2))
        expected[a] = found[: len(a)] / roots[:, None]
        free = np.eye(m) - A @ np.linalg.pinv(A, rcond=1e-10)
        behind = 0.0 if hidden is None else free @ hidden[n]
        size = np.abs(found).max(initial=1.0) * roots.max(initial=1.0)
        of_rows = found[len(a) : len(a) + m] + behind
        np.testing.assert_allclose(multipliers[n], of_rows, atol=1e-11 * size)
        np.testing.assert_allclose(efforts[n], expected, atol=1e-11 * size)
        needed = np.concatenate([np.zeros(len(a) + m), forces[n, :, 0] / sizes])
        adjoint = (inverse @ needed)[len(a) + m :] / sizes
        np.testing.assert_allclose(y[n], adjoint, atol=1e-10 * size * roots.max(initial=1.0))
        behind = np.linalg.pinv(A / sizes, rcond=1e-10) @ least[n] / sizes
        np.testing.assert_allclose(mu[n], behind, atol=1e-10 * size)


def test_the_number_of_efforts_to_be_chosen() -> None:
    """The rank of the rows, less that of their passive columns."""
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        actuation, A, sizes = equations(rng, shape, 1.0)
        states = ActuatedStates.of(actuation, A, sizes)
        rank = np.linalg.matrix_rank(A) - np.linalg.matrix_rank(A[:, :, actuation.passive])
        np.testing.assert_array_equal(states.redundancy, rank)
