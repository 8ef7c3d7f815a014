"""Properties that hold at every vector, searched for counter-examples."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mbkit.lie import SE3, SO3, SO3xR3, UnitQuaternion

from_all_groups = st.sampled_from([SO3, SE3, SO3xR3, UnitQuaternion])
repeatable = settings(derandomize=True, deadline=None, max_examples=150)


def vectors(bound):
    """Six numbers, small, tiny and zero ones among them."""
    return st.lists(st.floats(-bound, bound), min_size=6, max_size=6).map(np.array)


def principal(x):
    """Angles by which log finds x again, a little away from pi, where -x is as good."""
    return np.linalg.norm(x[:3]) < np.pi - 1e-9


@repeatable
@given(from_all_groups, vectors(4.0))
def test_logarithm_inverts_exponential(group, x):
    x = x[: group.dimension]
    assume(principal(x))
    np.testing.assert_allclose(group.log(group.exp(x)), x, rtol=0, atol=5e-15)


@repeatable
@given(from_all_groups, vectors(100.0))
def test_exponential_inverts_logarithm(group, x):
    """For rotations of any angle; a quaternion comes back as itself or its negative."""
    g = group.exp(x[: group.dimension])
    again = group.exp(group.log(g))
    if group is UnitQuaternion and np.dot(g, again) < 0:
        again = -again
    np.testing.assert_allclose(again, g, rtol=0, atol=1e-14 * max(1.0, np.max(np.abs(g))))


@repeatable
@given(from_all_groups, vectors(10.0))
def test_cayley_inverse(group, c):
    """The rounding of a rotation near pi is an error of 1e-16 (1 + c.c) of c."""
    c = c[: group.dimension]
    bound = 1e-15 * (1 + c[:3] @ c[:3]) * (1 + np.max(np.abs(c)))
    np.testing.assert_allclose(group.cay_inv(group.cay(c)), c, rtol=0, atol=bound)


@repeatable
@given(from_all_groups, vectors(3.5))
def test_inverse_differential_of_the_exponential(group, x):
    """Up to |x| = 2 pi - 0.2, where the inverse has entries of size 30 (1 + |y|) / 0.2."""
    x = x[: group.dimension]
    forward, back = group.dexp_spatial(x), group.dexp_spatial_inv(x)
    bound = 2e-15 * (np.abs(back) @ np.abs(forward)) + 1e-15
    assert np.all(np.abs(back @ forward - np.eye(group.dimension)) <= bound)


@repeatable
@given(from_all_groups, vectors(3.0), vectors(3.0))
def test_differential_respects_conjugation(group, x, y):
    """dexp_spatial(Ad x) = Ad dexp_spatial(x) Ad^-1: the maps know no preferred frame."""
    x, y = x[: group.dimension], y[: group.dimension]
    Ad = group.Ad(group.exp(y))
    moved = group.dexp_spatial(Ad @ x)
    expected = Ad @ group.dexp_spatial(x) @ np.linalg.inv(Ad)
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-13 * (1 + np.max(np.abs(Ad))) ** 2)
