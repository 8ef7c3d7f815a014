"""Helpers on tuples that the joints' kernels call, against the groups' functions on arrays."""

from __future__ import annotations

import numpy as np
import pytest

from mbkit.kernels.lie import quaternion, se3, so3
from mbkit.lie import SE3, SO3, UnitQuaternion

EPS = np.finfo(float).eps
ANGLES = [0.0, 1e-8, 1.0, np.pi - 1e-6, 5.0, 2 * np.pi - 1e-3]


@pytest.fixture(params=ANGLES)
def X(request):
    """Screw coordinates with this rotation angle."""
    X = np.random.default_rng(11).standard_normal(6)
    X[:3] *= request.param / np.linalg.norm(X[:3])
    return X


def tuples(*arrays):
    return [tuple(map(float, array)) for array in arrays]


def assert_same(result, expected):
    """Equal to the roundings of a few sums of the expected size."""
    bound = 20 * EPS * max(float(np.max(np.abs(expected))), 1e-300)
    np.testing.assert_allclose(result, expected, rtol=0, atol=bound)


def test_quaternion_helpers(X):
    (x,) = tuples(X[:3])
    q = quaternion.quaternion_exp(x)
    assert_same(q, UnitQuaternion.exp(x))
    assert_same(quaternion.quaternion_log(q), UnitQuaternion.log(q))
    assert_same(quaternion.quaternion_rotation(q), SO3.exp(x).ravel())
    other = (0.5, -0.5, 0.5, 0.5)
    assert_same(quaternion.quaternion_product(q, other), UnitQuaternion.compose(q, other))
    assert_same(quaternion.quaternion_conjugate(q), UnitQuaternion.inverse(q))


@pytest.mark.parametrize("factor", [1e-3, 1.0, -5.0, 1e3])
def test_quaternion_logarithm_needs_no_unit_length(factor):
    """An integrator's quaternion may be off the sphere; its rotation vector is that of q / |q|."""
    q = UnitQuaternion.exp([0.4, 0.5, -1.6])
    assert_same(quaternion.quaternion_log(tuple(factor * q)), [0.4, 0.5, -1.6])


def test_rotation_differentials_applied(X):
    """The helpers that apply a differential equal its matrix times the vector."""
    x, u = tuples(X[:3], [0.3, -0.7, 1.1])
    assert_same(so3.so3_dexp_spatial(x, u), SO3.dexp_spatial(x) @ u)
    assert_same(so3.so3_dexp_spatial_inv(x, u), SO3.dexp_spatial_inv(x) @ u)
    assert_same(so3.so3_dexp_body_inv(x, u), SO3.dexp_body_inv(x) @ u)


def test_motion_exponential_and_logarithm(X):
    x, y = tuples(X[:3], X[3:])
    q, r = se3.se3_exp(x, y)
    C = SE3.exp(X)
    assert_same(UnitQuaternion.Ad(q), C[:3, :3])
    assert_same(r, C[:3, 3])
    assert_same(np.ravel(se3.se3_log(q, r)), SE3.log(C))


def test_motion_differential_applied(X):
    """(xdot, ydot) = dexp_-X^-1 (w, v), the map of the time stepping of free bodies."""
    x, y, w, v = tuples(X[:3], X[3:], [0.3, -0.7, 1.1], [2.0, 0.1, -0.4])
    expected = SE3.dexp_body_inv(X) @ (w + v)
    result = np.ravel(se3.se3_dexp_body_inv(x, y, w, v))
    # The entries of the matrix may be larger than what is left of their sum.
    bound = 20 * EPS * np.max(np.abs(SE3.dexp_body_inv(X)) @ np.abs(w + v))
    np.testing.assert_allclose(result, expected, rtol=0, atol=bound)
