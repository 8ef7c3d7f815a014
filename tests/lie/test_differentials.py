"""Differentials against curves on the group, differentiated numerically."""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.lie import UnitQuaternion

# Central differences of order 8: their error is h^8 f^(9) / 630, below 1e-12 for the Cayley map,
# the less smooth one; roundings leave 2e-16 / h.
STEP = 0.005
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
TOLERANCE = 2e-12


def derivative(curve):
    """d/dt curve(t) at t = 0."""
    total = 0.0
    for k, weight in WEIGHTS.items():
        total = total + weight * (curve(k * STEP) - curve(-k * STEP))
    return total / STEP


def assert_velocity(result, expected):
    scale = max(1.0, float(np.max(np.abs(expected))))
    np.testing.assert_allclose(result, expected, rtol=0, atol=TOLERANCE * scale)


@pytest.fixture(params=["exp", "cay"])
def coordinates(request, group):
    """A coordinate map psi with dpsi in both trivialisations."""
    name = request.param
    return tuple(getattr(group, f) for f in (name, f"d{name}_spatial", f"d{name}_body"))


def test_body_velocity(group, vectors, coordinates, rng):
    """V^b = vee(g^-1 dg/dt) = dpsi_body(x) xdot, for g = g0 psi(x), at any g0."""
    psi, _, dpsi_body = coordinates
    xdot = rng.standard_normal(vectors.shape)
    g0 = group.random(rng)
    back = group.inverse(group.compose(g0, psi(vectors)))

    def motion(t):
        g = group.compose(g0, psi(vectors + t * xdot))
        return group.log(group.compose(back, g))

    assert_velocity((dpsi_body(vectors) @ xdot[..., None])[..., 0], derivative(motion))


def test_spatial_velocity(group, vectors, coordinates, rng):
    """V^s = vee(dg/dt g^-1) = dpsi_spatial(x) xdot, for g = psi(x) g0, at any g0."""
    psi, dpsi_spatial, _ = coordinates
    xdot = rng.standard_normal(vectors.shape)
    g0 = group.random(rng)
    back = group.inverse(group.compose(psi(vectors), g0))

    def motion(t):
        g = group.compose(psi(vectors + t * xdot), g0)
        return group.log(group.compose(g, back))

    assert_velocity((dpsi_spatial(vectors) @ xdot[..., None])[..., 0], derivative(motion))


@pytest.mark.parametrize("name", ["exp", "cay"])
def test_trivialisations_differ_by_the_adjoint(group, vectors, name):
    """V^s = Ad(g) V^b."""
    g = getattr(group, name)(vectors)
    spatial = getattr(group, f"d{name}_spatial")(vectors)
    body = getattr(group, f"d{name}_body")(vectors)
    np.testing.assert_allclose(
        spatial, group.Ad(g) @ body, rtol=0, atol=1e-14 * np.max(np.abs(spatial))
    )


@pytest.mark.parametrize("name", ["dexp_spatial", "dexp_body", "dcay_spatial", "dcay_body"])
def test_inverse_differentials(group, vectors, name):
    """The names in _inv are inverse matrices."""
    forward = getattr(group, name)(vectors)
    back = getattr(group, name + "_inv")(vectors)
    # Entrywise products of matrices of size |y| bound what rounding leaves.
    bound = 1e-15 * (np.abs(forward) @ np.abs(back))
    assert np.all(np.abs(forward @ back - np.eye(group.dimension)) <= bound + 1e-15)


def test_quaternion_rates():
    """2 Q* o Qdot = (0, w^b): the vectors of unit quaternions are rotation vectors, not halves."""
    x, xdot = np.array([0.3, -0.5, 0.9]), np.array([1.0, 0.2, -0.4])
    rate = derivative(lambda t: UnitQuaternion.exp(x + t * xdot))
    conjugate = UnitQuaternion.inverse(UnitQuaternion.exp(x))
    velocity = 2 * UnitQuaternion.compose(conjugate, rate)
    assert_velocity(velocity, np.array([0.0, *(UnitQuaternion.dexp_body(x) @ xdot)]))
