"""Conversions between representations agree with twists differentiated from their definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mbkit as mb
from mbkit.lie import SE3
from tests.at_each import at_each
from tests.representations.motions import ALL, base_poses, derivatives, motion

POSES = base_poses()
PAIRS = list(itertools.product(ALL, ALL))
pairs = pytest.mark.parametrize(
    ("source", "target"), PAIRS, ids=[f"{a.name}-{b.name}" for a, b in PAIRS]
)
at_poses = at_each("C0", POSES)
seeds = st.integers(0, 2**32 - 1)


def close(found, expected, size):
    """Say whether arrays agree to rounding, in units of the largest number that is involved."""
    return np.abs(np.asarray(found) - expected).max() <= 1e-13 * max(size, 1.0)


def check_derivatives(C, C_new, source, target, **frames):
    """Convert twist, acceleration and jerk of the motion C; compare with those of C_new."""
    V, A, jerk = derivatives(source.name, C)
    V_new, A_new, jerk_new = derivatives(target.name, C_new)
    size = np.abs(C).max() * max(1.0, np.abs(V).max() ** 2, np.abs(A).max() ** 1.5)
    arguments = C[0], source, target
    assert close(mb.convert_twist(V, *arguments, **frames), V_new, size)
    assert close(mb.convert_acceleration(A, V, *arguments, **frames), A_new, 10.0 * size)
    assert close(mb.convert_jerk(jerk, A, V, *arguments, **frames), jerk_new, 100.0 * size)


@pairs
@at_poses
def test_twist_acceleration_jerk(source, target, C0):
    """Rates of twists convert to rates of twists, between all representations."""
    C = motion(np.random.default_rng(21), C0)
    check_derivatives(C, C, source, target)


@pairs
def test_another_body_frame(source, target):
    """C -> C S, for a frame that is fixed to the body."""
    rng = np.random.default_rng(22)
    C, S = motion(rng, SE3.random(rng)), SE3.random(rng)
    check_derivatives(C, C @ S, source, target, body_frame=S)


@pairs
def test_another_world_frame(source, target):
    """C -> U^-1 C, for a world frame at U."""
    rng = np.random.default_rng(23)
    C, U = motion(rng, SE3.random(rng)), SE3.random(rng)
    check_derivatives(C, np.linalg.inv(U) @ C, source, target, world_frame=U)


@pairs
def test_both_frames(source, target):
    rng = np.random.default_rng(24)
    C, (U, S) = motion(rng, SE3.random(rng)), SE3.random(rng, (2,))
    check_derivatives(C, np.linalg.inv(U) @ C @ S, source, target, body_frame=S, world_frame=U)


def test_mueller_20_and_35():
    """A change of the world frame leaves body-fixed twists, one of the body frame spatial ones."""
    rng = np.random.default_rng(25)
    C, S = SE3.random(rng, (2,))
    V = rng.standard_normal(6)
    b, s = mb.BodyFixed(), mb.Spatial()
    assert close(mb.convert_twist(V, C, b, b, world_frame=S), V, 10.0)
    assert close(mb.convert_twist(V, C, s, s, body_frame=S), V, 10.0)
    assert close(mb.convert_twist(V, C, b, b, body_frame=S), SE3.Ad(SE3.inverse(S)) @ V, 10.0)
    assert close(mb.convert_twist(V, C, s, s, world_frame=S), SE3.Ad(SE3.inverse(S)) @ V, 10.0)


def test_acceleration_is_more_than_the_converted_one():
    """Converted as if it were a twist, a hybrid acceleration lacks R (w x v)."""
    rng = np.random.default_rng(26)
    C = SE3.random(rng)
    A, V = rng.standard_normal((2, 6))
    b, h = mb.BodyFixed(), mb.Hybrid()
    missing = mb.convert_acceleration(A, V, C, b, h) - mb.convert_twist(A, C, b, h)
    expected = np.concatenate([np.zeros(3), C[:3, :3] @ np.cross(V[:3], V[3:])])
    assert np.abs(expected).max() > 0.1
    assert close(missing, expected, 10.0)


@pytest.mark.some(4)
@pairs
@settings(max_examples=15, deadline=None)
@given(seed=seeds, reach=st.sampled_from([1.0, 1e3]))
def test_power_and_round_trips(source, target, seed, reach):
    """W . V is the same number, and everything comes back, with changes of both frames."""
    rng = np.random.default_rng(seed)
    C, S, U = SE3.random(rng, (3,))
    C[:3, 3] *= reach
    V, W, A, jerk = rng.standard_normal((4, 6))
    there = {"body_frame": S, "world_frame": U}
    back = {"body_frame": SE3.inverse(S), "world_frame": SE3.inverse(U)}
    C_new = SE3.inverse(U) @ C @ S
    V_new = mb.convert_twist(V, C, source, target, **there)
    W_new = mb.convert_wrench(W, C, source, target, **there)
    A_new = mb.convert_acceleration(A, V, C, source, target, **there)
    jerk_new = mb.convert_jerk(jerk, A, V, C, source, target, **there)
    size = 100.0 * reach * reach
    assert abs(V_new @ W_new - V @ W) <= 1e-14 * size
    assert close(mb.convert_twist(V_new, C_new, target, source, **back), V, size)
    assert close(mb.convert_wrench(W_new, C_new, target, source, **back), W, size)
    A_back = mb.convert_acceleration(A_new, V_new, C_new, target, source, **back)
    assert close(A_back, A, size * reach)
    jerk_back = mb.convert_jerk(jerk_new, A_new, V_new, C_new, target, source, **back)
    assert close(jerk_back, jerk, size * reach**2)


@pairs
def test_jacobians_and_leading_axes(source, target):
    """Columns of Jacobians are twists; arrays give what their entries give one by one."""
    rng = np.random.default_rng(27)
    C, S = SE3.random(rng, (3, 1)), SE3.random(rng)
    J, v = rng.standard_normal((5, 6, 4)), rng.standard_normal(4)
    converted = mb.convert_jacobian(J, C, source, target, body_frame=S)
    assert converted.shape == (3, 5, 6, 4)
    twists = mb.convert_twist(J @ v, C, source, target, body_frame=S)
    assert close(converted @ v, twists, 100.0)
    one = mb.convert_twist(J[4] @ v, C[2, 0], source, target, body_frame=S)
    assert close(twists[2, 4], one, 100.0)
    W = rng.standard_normal((5, 6))
    wrenches = mb.convert_wrench(W, C, source, target, body_frame=S)
    assert close(wrenches[1, 3], mb.convert_wrench(W[3], C[1, 0], source, target, body_frame=S), 9)
    # the transpose of a Jacobian takes wrenches of its own representation to the same forces
    forces = np.swapaxes(converted, -1, -2) @ wrenches[..., None]
    assert close(forces[..., 0], np.einsum("kij,ki->kj", J, W), 100.0)


@pytest.mark.parametrize("dt", [2**-14])
def test_rates_along_a_simulated_motion(dt):
    """Accelerations of the hybrid twist are its difference quotient along a motion of the group."""
    V, A = np.array([0.4, -1.0, 0.3, 0.2, 0.5, -0.7]), np.array([1.0, 0.2, -0.4, 0.3, 0.1, 0.6])
    C0 = SE3.exp([0.3, 0.2, -0.5, 1.0, -2.0, 0.5])
    twists = []
    for t in (-dt, dt):
        # the fourth-order Magnus expansion of dC/dt = C (V + A t)^
        C = C0 @ SE3.exp(V * t + 0.5 * A * t**2 + SE3.ad(V) @ A * t**3 / 12.0)
        twists.append(mb.convert_twist(V + A * t, C, mb.BodyFixed(), mb.Hybrid()))
    slope = (twists[1] - twists[0]) / (2.0 * dt)
    found = mb.convert_acceleration(A, V, C0, mb.BodyFixed(), mb.Hybrid())
    assert np.abs(found - slope).max() <= 10.0 * dt**2


@pytest.mark.parametrize(
    "convert", [mb.convert_twist, mb.convert_wrench, mb.convert_jacobian], ids=lambda f: f.__name__
)
def test_refusals(convert):
    b, h = mb.BodyFixed(), mb.Hybrid()
    good = np.ones((6, 1)) if convert is mb.convert_jacobian else np.ones(6)
    name = convert.__name__
    with pytest.raises(mb.ShapeError, match=f"{name} takes an array of shape"):
        convert(np.ones((5, 1)) if good.ndim == 2 else np.ones(5), np.eye(4), b, h)
    with pytest.raises(mb.UsageError, match=f"{name}: target must be a repr.*got Hybrid; give"):
        convert(good, np.eye(4), b, mb.Hybrid)
    with pytest.raises(mb.UsageError, match=f"{name}: source must be a repr.*'mixed'"):
        convert(good, np.eye(4), "mixed", h)
    with pytest.raises(mb.GeometryError, match=f"{name}: C takes poses.*Orthonormalise"):
        convert(good, np.diag([1.0, 1.0, 1.01, 1.0]), b, h)
    with pytest.raises(mb.GeometryError, match=f"{name}: body_frame takes poses"):
        convert(good, np.eye(4), b, h, body_frame=np.diag([1.0, 1.0, -1.0, 1.0]))
    with pytest.raises(mb.GeometryError, match=r"world_frame takes poses.* at index \[1\]"):
        convert(good, np.eye(4), b, h, world_frame=np.array([np.eye(4), np.full((4, 4), np.nan)]))
    batch = np.ones((2, *good.shape))
    with pytest.raises(mb.ShapeError, match=f"{name} takes arrays whose leading axes broadcast"):
        convert(batch, np.broadcast_to(np.eye(4), (3, 4, 4)), b, h)
