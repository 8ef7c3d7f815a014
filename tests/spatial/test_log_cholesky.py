"""Log-Cholesky parameters: there and back, their derivative, and what bodies they leave out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

import mbkit as mb
from mbkit.joints.defaults.differences import derivative
from mbkit.spatial import from_log_cholesky, log_cholesky, log_cholesky_jacobian, translation
from tests.trees import random_inertia


def test_there_and_back():
    rng = np.random.default_rng(1)
    pi = np.array([random_inertia(rng).parameters for _ in range(50)]).reshape(5, 10, 10)
    theta = log_cholesky(pi)
    np.testing.assert_allclose(from_log_cholesky(theta), pi, rtol=1e-12, atol=1e-14)
    again = log_cholesky(from_log_cholesky(0.5 * theta))
    np.testing.assert_allclose(again, 0.5 * theta, rtol=0.0, atol=1e-11)


def test_second_moments_of_point_masses():
    """J = sum m (x, 1) (x, 1)^T of eight points, whose factor U is unique."""
    rng = np.random.default_rng(2)
    masses, points = rng.uniform(0.1, 1.0, 8), rng.normal(size=(8, 3))
    body = mb.SpatialInertia.zero()
    for m, x in zip(masses, points, strict=True):
        body = body + mb.SpatialInertia.from_com(m, x)
    ones = np.c_[points, np.ones(8)]
    J = (masses[:, None] * ones).T @ ones
    a, d1, d2, d3, s12, s23, s13, *t = log_cholesky(body.parameters)
    U = np.array([[np.exp(d1), s12, s13, t[0]], [0, np.exp(d2), s23, t[1]],
                  [0, 0, np.exp(d3), t[2]], [0, 0, 0, 1.0]])  # fmt: skip
    np.testing.assert_allclose(np.exp(2 * a) * U @ U.T, J, rtol=0.0, atol=1e-12)


def test_any_numbers_are_of_a_possible_body():
    rng = np.random.default_rng(3)
    for theta in rng.normal(size=(200, 10)):
        inertia = mb.SpatialInertia.from_parameters(from_log_cholesky(theta))
        assert not inertia.unphysical
        assert inertia.mass > 0.0


def test_derivative():
    rng = np.random.default_rng(4)
    theta = rng.normal(size=(3, 10))
    steps = np.eye(10)
    columns = [derivative(lambda e, s=s: from_log_cholesky(theta + e * s)) for s in steps]
    found = log_cholesky_jacobian(theta)
    np.testing.assert_allclose(found, np.stack(columns, axis=-1), rtol=1e-9, atol=1e-9)
    assert np.linalg.cond(found).max() < 1e6


@pytest.mark.parametrize(
    ("inertia", "message"),
    [
        (mb.SpatialInertia.zero(), "positive mass"),
        (mb.SpatialInertia.from_com(1.0, (0, 0, 1.0)), "fills space"),
        (mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag([1.0, 1.0, 0.0])), "fills space"),
    ],
)
def test_bodies_at_infinity(inertia, message):
    """A point and a rod of no thickness."""
    with pytest.raises(mb.InertiaError, match=message):
        log_cholesky(inertia.parameters)


def test_shapes():
    for function in (from_log_cholesky, log_cholesky, log_cholesky_jacobian):
        with pytest.raises(mb.ShapeError, match=r"\(\.\.\., 10\), got \(9,\)"):
            function(np.zeros(9))


def test_identification_stays_among_bodies():
    """Noisy efforts of two links: least squares in log-Cholesky parameters find bodies."""
    rng = np.random.default_rng(5)
    mech = mb.Mechanism("arm")
    inner, reference = mech.world, np.eye(4)
    for k in range(2):
        body = mech.add_body(mb.Body(f"link{k}", random_inertia(rng)))
        mech.add_joint(mb.SphericalJoint(f"joint{k}"), inner, body, reference=reference)
        inner, reference = body, translation((0.5, 0, 0))
    system = mech.assemble()
    start = system.reference_configuration()
    q = np.array([system.retract(start, x) for x in rng.normal(size=(50, 6))])
    Y = system.inertial_regressor(q, *rng.normal(size=(2, 50, 6))).reshape(-1, 20)
    tau = Y @ system.inertial_parameters
    tau = tau + 0.05 * np.abs(tau).max() * rng.normal(size=tau.shape)
    box = mb.SpatialInertia.box(1.0, size=(0.5, 0.5, 0.5)).parameters

    def left(theta):
        return Y @ from_log_cholesky(theta.reshape(2, 10)).ravel() - tau

    def slopes(theta):
        blocks = Y.reshape(-1, 2, 1, 10) @ log_cholesky_jacobian(theta.reshape(2, 10))
        return blocks.reshape(-1, 20)

    found = least_squares(left, np.tile(log_cholesky(box), 2), slopes)
    linear = np.linalg.lstsq(Y, tau)[0]
    best = np.sum((Y @ linear - tau) ** 2)
    assert best <= 2.0 * found.cost < 1.05 * best
    for pi in from_log_cholesky(found.x.reshape(2, 10)):
        assert not mb.SpatialInertia.from_parameters(pi).unphysical
