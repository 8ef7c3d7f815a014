"""Minima between bounds against the conditions that make a minimum, and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from mbkit.kinematics.bounded_step import bounded_step, null_space


def problem(seed, n):
    """A positive definite H of condition up to 1e4, a gradient, and bounds, some of them zero."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n)) * np.logspace(0, -2, n)
    lower, upper = -rng.uniform(0.0, 2.0, n), rng.uniform(0.0, 2.0, n)
    lower[rng.random(n) < 0.2] = 0.0
    upper[rng.random(n) < 0.2] = 0.0
    lower[rng.random(n) < 0.2] = -np.inf
    return root @ root.T + 1e-4 * np.eye(n), rng.normal(size=n), lower, upper, rng


@pytest.mark.parametrize("n", [1, 2, 7, 30])
@pytest.mark.parametrize("seed", range(10))
def test_minimum_between_bounds(seed, n):
    """The slope vanishes inside and pushes against the bounds that hold."""
    H, g, lower, upper, _ = problem(seed, n)
    x = bounded_step(H, g, lower, upper)
    assert (x >= lower).all()
    assert (x <= upper).all()
    slope = g + H @ x
    # what is lost in solving with H
    scale = 1e-9 * (1.0 + np.abs(g).max())
    inside = (x > lower) & (x < upper)
    assert np.abs(slope[inside]).max(initial=0.0) < scale
    assert (slope[(x <= lower) & (lower < upper)] > -scale).all()
    assert (slope[(x >= upper) & (lower < upper)] < scale).all()


@pytest.mark.parametrize("seed", range(10))
def test_minimum_in_a_null_space(seed):
    """The same as scipy's for bounds and a linear condition."""
    H, g, lower, upper, rng = problem(seed, 7)
    across = rng.normal(size=(3, 7))
    x = bounded_step(H, g, lower, upper, across)
    assert np.abs(across @ x).max() < 1e-12
    found = scipy.optimize.minimize(
        lambda y: 0.5 * y @ H @ y + g @ y,
        np.zeros(7),
        jac=lambda y: H @ y + g,
        method="SLSQP",
        bounds=list(zip(lower, upper, strict=True)),
        constraints={"type": "eq", "fun": lambda y: across @ y, "jac": lambda _: across},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    value = 0.5 * x @ H @ x + g @ x
    assert value <= found.fun + 1e-8 * (1.0 + abs(found.fun))


def test_null_space():
    """Orthonormal, taken to zero, and as large as the rank leaves."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(5, 3)) @ rng.normal(size=(3, 8))
    Z = null_space(matrix)
    assert Z.shape == (8, 5)
    assert np.abs(matrix @ Z).max() < 1e-13
    assert np.abs(Z.T @ Z - np.eye(5)).max() < 1e-14
