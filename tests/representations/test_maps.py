"""Representations: twists by their definitions, and maps that are homomorphisms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mbkit as mb
from mbkit.lie import SE3
from tests.at_each import at_each
from tests.representations.motions import (
    ALL,
    NAMES,
    ORDER,
    base_poses,
    derivatives,
    motion,
    rate,
    twist_series,
)

POSES = base_poses()
representations = pytest.mark.parametrize("representation", ALL, ids=NAMES)
at_poses = at_each("C0", POSES)
seeds = st.integers(0, 2**32 - 1)


def close(found, expected, size=None):
    """Say whether arrays agree to rounding, in units of the largest number that is involved."""
    size = np.abs(expected).max() if size is None else size
    return np.abs(np.asarray(found) - expected).max() <= 1e-13 * max(size, 1.0)


@representations
@at_poses
def test_the_map_gives_the_twist_as_it_is_defined(representation, C0):
    """T(C) V_b is the twist of the definition, with V_b = vee(C^-1 dC/dt)."""
    C = motion(np.random.default_rng(1), C0)
    V_b = twist_series("body_fixed", C)[0]
    expected = twist_series(representation.name, C)[0]
    assert close(representation.twist_map(C0) @ V_b, expected, np.abs(C[:2]).max())


@representations
@at_poses
def test_rates_are_derivatives_of_the_map(representation, C0):
    """V = T V_b along a motion: its first two derivatives need T' and T''."""
    C = motion(np.random.default_rng(2), C0)
    V_b, A_b, jerk_b = derivatives("body_fixed", C)
    T = representation.twist_map(C0)
    first = representation.twist_map_rate(C0, V_b)
    second = representation.twist_map_second_rate(C0, V_b, A_b)
    _, A, jerk = derivatives(representation.name, C)
    size = np.abs(C).max() * max(1.0, np.abs(V_b).max() ** 2)
    assert close(T @ A_b + first @ V_b, A, size)
    assert close(T @ jerk_b + 2.0 * first @ A_b + second @ V_b, jerk, 10.0 * size)


@representations
@at_poses
def test_columns_of_the_rate(representation, C0):
    """T(C(t)) as a polynomial in t, column by column: d/dt T e_k = T' e_k for a constant e_k."""
    C = motion(np.random.default_rng(3), C0)
    V_b = twist_series("body_fixed", C)[0]
    h = 1e-5
    ahead, behind = (sum(C[k] * t**k for k in range(ORDER + 1)) for t in (h, -h))
    slope = (representation.twist_map(ahead) - representation.twist_map(behind)) / (2.0 * h)
    # central differences: h^2 of truncation, rounding over h
    size = np.abs(C).max() * np.abs(rate(C)).max() * 10.0
    assert np.abs(representation.twist_map_rate(C0, V_b) - slope).max() <= 1e-9 * size


@pytest.mark.some(2)
@representations
@settings(max_examples=25, deadline=None)
@given(seed=seeds)
def test_the_map_is_a_homomorphism(representation, seed):
    """T(C1 C2) = T(C1) T(C2), and the inverse is the map of the inverse."""
    C1, C2 = SE3.random(np.random.default_rng(seed), (2,))
    T = representation.twist_map
    assert close(T(C1 @ C2), T(C1) @ T(C2), 10.0)
    assert close(representation.inverse_twist_map(C1) @ T(C1), np.eye(6), 10.0)


@representations
@at_poses
def test_transport_to_another_frame(representation, C0):
    """The twist of the frame at C S, from its own motion, is the transported one."""
    rng = np.random.default_rng(4)
    C, S = motion(rng, C0), SE3.random(rng)
    expected = twist_series(representation.name, C @ S)[0]
    V = twist_series(representation.name, C)[0]
    P = representation.frame_transport(C0, S)
    assert close(P @ V, expected, np.abs(C).max() ** 2)


def test_transports_that_are_known():
    """Spatial twists do not see the body frame; hybrid ones see where its origin is."""
    rng = np.random.default_rng(5)
    C, S = SE3.random(rng, (2,))
    assert close(mb.Spatial().frame_transport(C, S), np.eye(6), 10.0)
    assert close(mb.BodyFixed().frame_transport(C, S), SE3.Ad(SE3.inverse(S)), 10.0)
    s = C[:3, :3] @ S[:3, 3]
    expected = np.eye(6)
    expected[3:, :3] = -mb.lie.arrays.hat(s)
    assert close(mb.Hybrid().frame_transport(C, S), expected, 10.0)


@representations
def test_leading_axes_broadcast(representation):
    """Arrays give what their entries give one by one."""
    rng = np.random.default_rng(6)
    C, V, A = SE3.random(rng, (4, 1)), rng.standard_normal((3, 6)), rng.standard_normal((3, 6))
    rates = representation.twist_map_rate(C, V)
    seconds = representation.twist_map_second_rate(C, V, A)
    assert rates.shape == seconds.shape == (4, 3, 6, 6)
    assert representation.twist_map(C).shape == (4, 1, 6, 6)
    for i in range(4):
        assert close(representation.twist_map(C)[i, 0], representation.twist_map(C[i, 0]))
        for k in range(3):
            assert close(rates[i, k], representation.twist_map_rate(C[i, 0], V[k]))
            one = representation.twist_map_second_rate(C[i, 0], V[k], A[k])
            assert close(seconds[i, k], one)


@representations
def test_results_may_be_written_to(representation):
    """No map is a read-only view of a shared array."""
    for matrix in (
        representation.twist_map(np.eye(4)),
        representation.twist_map_rate(np.eye(4), np.ones(6)),
    ):
        matrix[0, 0] = 5.0
    assert representation.twist_map(np.eye(4))[0, 0] == 1.0


@representations
def test_shapes_are_refused(representation):
    with pytest.raises(mb.ShapeError, match=r"twist_map takes an array of shape \(\.\.\., 4, 4\)"):
        representation.twist_map(np.eye(3))
    with pytest.raises(mb.ShapeError, match=r"shape \(\.\.\., 6\); got shape \(5,\)"):
        representation.twist_map_rate(np.eye(4), np.ones(5))
    with pytest.raises(mb.ShapeError, match=r"broadcast; got shapes \(2, 4, 4\) and \(3, 6\)"):
        representation.twist_map_rate(np.zeros((2, 4, 4)), np.ones((3, 6)))


def test_names_are_those_of_the_kernels():
    assert [each.kernel_package for each in ALL] == [f"mbkit.kernels.{name}" for name in NAMES]
    assert len({*ALL}) == len(ALL)
    assert mb.Hybrid() == mb.Hybrid()
