"""Exponentials of constant screws, whatever their length: the compiled form of composite joints."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.motions.screw_product import ScrewProduct
from mbkit.lie import SE3
from tests.contracts.test_joint import call
from tests.joints.screws import product_motion, sum_motion

numbers = st.floats(-2.0, 2.0)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
sizes = st.sampled_from([0.0, 1e-300, 1e-12, 1e-3, 1.0, 30.0])
screws = st.builds(lambda size, w, u: np.concatenate([size * w, u]), sizes, vectors, vectors)
lists = st.lists(screws.filter(lambda X: np.abs(X).max() > 1e-3), min_size=1, max_size=6)


def motion(product, q, v):
    """Pose, motion subspace and bias."""
    return product.pose(q), product.motion_subspace(q), product.bias(q, v)


@hypothesis.given(lists, st.integers(0, 100))
@hypothesis.example([np.array([1e-308, 0.0, 0.0, 0.0, 1.0, 0.0])], 0)
def test_the_compiled_product_is_that_of_the_group(given, seed):
    """Pose, motion subspace and bias, with rates from nothing to 30 radians by unit of q."""
    product = ScrewProduct(np.array(given), ("",) * len(given))
    q, v = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(2, len(given)))
    pairs = zip(motion(product, q, v), product_motion(given, q, v), strict=True)
    for found, expected in pairs:
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=2e-12 * scale)


@pytest.mark.parametrize("turns", [1.0, 1e3, 1e6])
def test_many_turns_lose_no_digits_but_those_of_the_angle(turns):
    """A pose after whole turns about an axis far off is the identity to the angle's rounding."""
    X = np.concatenate([[0.0, 0.6, 0.8], np.cross([3.0, 0.0, 0.0], [0.0, 0.6, 0.8])])
    product = ScrewProduct(X.reshape(1, 6), ("rad",))
    angle = 2 * np.pi * turns
    T, _, _ = motion(product, np.array([angle]), np.zeros(1))
    np.testing.assert_allclose(T, np.eye(4), atol=4.0 * (1e-15 + 4e-16 * angle))


@hypothesis.given(st.lists(vectors, min_size=2, max_size=2), st.integers(1, 5))
def test_wrenches_of_a_product_are_reciprocal_and_complete(angles, count):
    """The reflections give an orthonormal basis of what is normal to S."""
    rng = np.random.default_rng(count)
    members = [mb.ScrewJoint(f"{i}", rng.normal(size=6)) for i in range(count)]
    product = mb.CompositeJoint("j", *members)
    q = np.concatenate(angles)[:count]
    W = np.empty(6 * (6 - count))
    call(product.kernels().constraint_wrenches, product.parameters(), q, W)
    W = W.reshape(6 - count, 6)
    np.testing.assert_allclose(W @ W.T, np.eye(6 - count), atol=1e-14)
    S = product.motion_subspace(q)
    np.testing.assert_allclose(W @ S, 0.0, atol=1e-13 * np.abs(S).max())


def test_a_product_is_the_exponential_for_one_screw():
    """exp(X q), by the group."""
    X = np.array([0.3, -1.1, 0.6, 0.2, 0.5, -0.7])
    product = ScrewProduct(X.reshape(1, 6), ("",))
    for q in (0.0, 1e-8, 2.5):
        np.testing.assert_allclose(product.pose(np.array([q])), SE3.exp(q * X), atol=1e-15)


@pytest.mark.parametrize("size", [1e-9, 0.7, 3.9, 4.1, 5.5, 6.2, 9.0])
def test_the_compiled_sum_is_that_of_the_series(size):
    """S and its rate of one exponential, below and beyond where series give way to closed forms."""
    rng = np.random.default_rng(9)
    for joint in (
        mb.SphericalJoint("j", coordinates="first kind"),
        mb.SchoenfliesJoint("j", coordinates="first kind"),
        mb.FreeJoint("j", coordinates="first kind"),
    ):
        product = joint.motion
        q, v = rng.normal(size=(2, joint.num_velocities))
        turns = np.linalg.norm((q @ product.screws)[:3])
        q *= size / turns
        T, S, bias = motion(product, q, v)
        expected_T, *others = sum_motion(product.screws, q, v)
        np.testing.assert_allclose(T, expected_T, atol=1e-14 * np.abs(T).max())
        for found, expected in zip((S, bias), others, strict=True):
            # the terms of the series are as large as e^size
            bound = 1e-15 * np.exp(size) * max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=10.0 * bound)
