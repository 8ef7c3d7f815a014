"""Screws as values: axis, pitch and magnitude of twists, wrenches and displacements."""

from __future__ import annotations

import math

import attrs
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mbkit as mb
from mbkit.lie import SE3
from mbkit.spatial import rotation, translation

number = st.floats(-10.0, 10.0, allow_subnormal=False)
vector = st.tuples(number, number, number).map(np.array)
direction = vector.filter(lambda x: np.linalg.norm(x) > 1e-3)
angle = st.one_of(
    st.floats(1e-6, math.pi), st.sampled_from([1e-10, 1e-8, math.pi - 1e-9, math.pi - 1e-12])
)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def unit(x):
    return x / np.linalg.norm(x)


def close(a, b, tolerance=1e-12, size=1.0):
    return bool(np.abs(np.asarray(a) - b).max(initial=0.0) <= tolerance * size)


@given(direction, vector, st.floats(-5.0, 5.0), st.floats(1e-3, 100.0), vector)
def test_twist_of_a_screw(e, p, pitch, rate, point):
    """Every point goes round the axis and along it: velocity = rate (e x (point - p) + pitch e)."""
    screw = mb.Screw(e, p, pitch, rate)
    V = screw.twist()
    velocity = V[3:] + np.cross(V[:3], point)
    expected = rate * (np.cross(unit(e), point - p) + pitch * unit(e))
    assert close(velocity, expected, size=rate * 50.0)
    assert close(V[:3], rate * unit(e), size=rate)


@given(direction, vector, st.floats(-5.0, 5.0), st.floats(1e-3, 100.0))
def test_screw_of_a_twist(e, p, pitch, rate):
    """Points of the axis move along it, by pitch times rate."""
    e = unit(e)
    V = rate * np.concatenate([e, np.cross(p, e) + pitch * e])
    screw = mb.Screw.from_twist(V)
    on_axis = V[3:] + np.cross(V[:3], screw.point)
    assert close(on_axis, pitch * rate * e, size=50.0 * rate)
    assert close(screw.direction, e)
    assert close(screw.magnitude, rate, size=rate)
    assert close(screw.pitch, pitch, size=50.0)
    assert abs(screw.point @ e) < 1e-12 * 20.0  # next to the origin
    assert close(np.cross(screw.point - p, e), np.zeros(3), size=50.0)  # on the same line
    assert close(screw.twist(), V, size=50.0 * rate)
    assert close(screw.angle, rate, size=rate)
    assert close(screw.shift, pitch * rate, size=50.0 * rate)


@given(direction, vector, st.floats(-5.0, 5.0), angle)
def test_screw_of_a_pose(e, p, shift, angle):
    """Points of the axis are shifted along it, and the trace is that of the angle."""
    C = rotation(e, angle, p)
    C[:3, 3] += shift * unit(e)
    screw = mb.Screw.from_pose(C)
    assert close(screw.angle, angle)
    assert close(screw.pose(), C, 1e-13, 50.0)
    moved = C[:3, :3] @ screw.point + C[:3, 3]
    far = 1.0 + np.linalg.norm(screw.point)
    assert close(moved - screw.point, screw.shift * screw.direction, 1e-13, far)
    assert close(C[:3, :3] @ screw.direction, screw.direction)
    if angle < math.pi - 1e-6:  # at pi both directions are right
        assert close(screw.direction, unit(e), 1e-12 + 1e-15 / angle)
        assert close(screw.shift, shift, 1e-12, 50.0)


@pytest.mark.parametrize("angle", [1e-9, 0.3, 2.0, 3.14])
def test_against_forty_digits(angle):
    """The exponential of the 4x4 matrix as a power series, in numbers of 40 digits."""
    e, p, shift = unit(np.array([1.0, -2.0, 0.5])), np.array([0.3, 0.1, -0.2]), 0.7
    screw = mb.Screw(e, p, pitch=shift / angle, magnitude=angle)
    with mpmath.workdps(40):
        V = screw.twist()
        X = mpmath.matrix(4, 4)
        X[2, 1], X[0, 2], X[1, 0] = V[0], V[1], V[2]
        X[1, 2], X[2, 0], X[0, 1] = -V[0], -V[1], -V[2]
        X[0, 3], X[1, 3], X[2, 3] = V[3], V[4], V[5]
        exact = mpmath.expm(X, method="taylor")
        C = np.array(exact.tolist(), dtype=float)
    assert close(screw.pose(), C, 1e-15, 4.0)
    found = mb.Screw.from_pose(C)
    # 1e-16 in a rotation turns an axis by 1e-16 / angle, and moves it by shift / angle times that
    assert close(found.twist(), V, 1e-15, 4.0)
    assert close(found.direction, screw.direction, 1e-15 * (1.0 + 1.0 / angle))
    assert found.angle == pytest.approx(angle, rel=1e-14, abs=2e-16)


def test_translations():
    V = np.array([0.0, 0.0, 0.0, 3.0, 0.0, -4.0])
    screw = mb.Screw.from_twist(V)
    assert screw.pitch == np.inf
    assert screw.magnitude == 5.0
    assert (screw.angle, screw.shift) == (0.0, 5.0)
    assert screw.direction.tolist() == [0.6, 0.0, -0.8]
    assert screw.point.tolist() == [0.0, 0.0, 0.0]
    assert close(screw.twist(), V, 1e-15)
    assert close(screw.pose(), translation(V[3:]), 1e-15)
    assert close(mb.Screw.from_pose(translation(V[3:])).twist(), V, 1e-15)
    # where it is given does not matter
    assert mb.Screw((3, 0, -4), (7, 8, 9), np.inf, 5.0) == screw


def test_zero_screws():
    for screw in (
        mb.Screw.from_twist(np.zeros(6)),
        mb.Screw.from_twist(1e-160 * np.ones(6)),
        mb.Screw.from_wrench(np.zeros(6)),
        mb.Screw.from_pose(np.eye(4)),
    ):
        fields = (screw.direction, screw.point, screw.pitch, screw.magnitude)
        assert not any(np.any(field) for field in fields)
        assert not screw.twist().any()
        assert np.array_equal(screw.pose(), np.eye(4))
    # an axis that is known is kept
    at_rest = mb.Screw((0, 0, 2), (1, 0, 3), magnitude=0.0)
    assert at_rest.direction.tolist() == [0.0, 0.0, 1.0]
    assert at_rest.point.tolist() == [1.0, 0.0, 0.0]
    assert not at_rest.twist().any()


def test_rounding():
    """Below 1e-12 rad/m of the linear part an angular part is left out, above it is kept."""
    slow = np.array([0.0, 0.0, 2e-12, 0.0, 1.0, 0.0])
    screw = mb.Screw.from_twist(slow)
    assert screw.magnitude == 2e-12
    assert close(screw.twist(), slow, 1e-15)
    slow[2] = 1e-12
    screw = mb.Screw.from_twist(slow)
    assert screw.pitch == np.inf
    assert screw.twist().tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]
    assert mb.Screw.from_twist(slow, rounding=0.0).magnitude == 1e-12
    assert mb.Screw.from_twist([0, 0, 1e-6, 0, 1, 0], rounding=1e-5).pitch == np.inf
    assert mb.Screw.from_twist([0, 0, 1e-200, 0, 1, 0], rounding=0.0).pitch == np.inf
    # a pose has rounding of its own: ten turns by a tenth of a turn are none
    C = np.linalg.matrix_power(rotation((1, 2, 3), math.pi / 5), 10)
    C[:3, 3] = [0.0, 0.0, 1e-4]
    assert np.abs(C[:3, :3] - np.eye(3)).max() > 0.0
    assert mb.Screw.from_pose(C).pitch == np.inf


@given(direction, vector, st.floats(-5.0, 5.0), st.floats(1e-3, 10.0))
def test_sizes_beyond_squares(e, p, pitch, rate):
    """Twists of 1e-140 and of 1e200 have the same axis as those between."""
    V = mb.Screw(e, p, pitch, rate).twist()
    plain = mb.Screw.from_twist(V)
    for factor in (1e-140, 1e200):
        screw = mb.Screw.from_twist(factor * V)
        assert close(screw.point, plain.point, size=50.0)
        assert close(screw.pitch, plain.pitch, size=50.0)
        assert close(screw.magnitude / factor, rate, size=rate)


@given(direction, vector, st.floats(-5.0, 5.0), st.floats(-10.0, 10.0))
def test_one_form(e, p, pitch, magnitude):
    """Another point of the axis, another length, both turned round: the same screw."""
    screw = mb.Screw(e, p, pitch, magnitude)
    again = mb.Screw(-2.0 * e, p + 3.0 * e, pitch, -magnitude)
    assert close(screw.twist(), again.twist(), size=1e3)
    if magnitude != 0.0:
        assert close(screw.direction, again.direction)
        assert screw.magnitude == again.magnitude == abs(magnitude)
    assert close(np.linalg.norm(screw.direction), 1.0)


# ------------------------------------------------------------------------------ reciprocal product


def common_normal(a, b):
    """Return the angle from one axis to the other about their common normal, and the distance."""
    n = unit(np.cross(a.direction, b.direction))
    distance = float(n @ (b.point - a.point))
    return math.atan2(n @ np.cross(a.direction, b.direction), a.direction @ b.direction), distance


@given(direction, vector, direction, vector, st.floats(-5, 5), st.floats(-5, 5), st.floats(0.1, 9))
def test_reciprocal_product_is_that_of_geometry(e1, p1, e2, p2, h1, h2, size):
    """((h1 + h2) cos a - d sin a) times both magnitudes (Ball)."""
    a, b = mb.Screw(e1, p1, h1, size), mb.Screw(e2, p2, h2, 2.0)
    if np.linalg.norm(np.cross(a.direction, b.direction)) < 1e-3:
        return
    alpha, distance = common_normal(a, b)
    expected = 2.0 * size * ((h1 + h2) * math.cos(alpha) - distance * math.sin(alpha))
    assert close(mb.reciprocal_product(a, b), expected, 1e-10, 100.0 * size)
    assert mb.reciprocal_product(b, a) == pytest.approx(mb.reciprocal_product(a, b), abs=1e-10)


def test_reciprocal_product_is_power(rng):
    """Of a motion about one screw and a wrench on the other; the same in any frame."""
    V, W = rng.standard_normal((2, 5, 6))
    C = SE3.random(rng)
    turn, pull = mb.Screw.from_twist(V), mb.Screw.from_wrench(W)
    power = (V * W).sum(axis=-1)
    assert close(mb.reciprocal_product(turn, pull), power)
    assert close(mb.reciprocal_product(V, pull), power)
    there = mb.reciprocal_product(turn.transformed(C), pull.transformed(C))
    assert close(there, power)
    assert close(pull.wrench(), W)
    assert mb.reciprocal_product(V[0], pull).shape == (5,)


def test_a_couple_and_a_central_axis():
    couple = mb.Screw.from_wrench([0, 0, 4, 0, 0, 0])
    assert couple.pitch == np.inf
    assert couple.magnitude == 4.0
    # a force and a moment across it: only the line of action moves
    screw = mb.Screw.from_wrench([0, 0, 6, 3, 0, 0])
    assert screw.pitch == 0.0
    assert close(np.cross(screw.point, [3, 0, 0]), [0, 0, 6])


# ------------------------------------------------------------------------------ frames and batches


def test_seen_from_another_frame(rng):
    V = rng.standard_normal(6)
    C = SE3.random(rng)
    there = mb.Screw.from_twist(V).transformed(C)
    assert close(there.twist(), SE3.Ad(C) @ V)
    assert close(there.point @ there.direction, 0.0)
    slide = mb.Screw((1, 0, 0), pitch=np.inf).transformed(C)
    assert slide.pitch == np.inf
    assert close(slide.twist(), np.concatenate([np.zeros(3), C[:3, 0]]))


def test_many_at_once(rng):
    """Every function on a batch is what it is on each."""
    V = rng.standard_normal((2, 3, 6))
    V[0, 0, :3] = 0.0
    V[0, 1] = 0.0
    C = SE3.exp(V)
    twists, poses = mb.Screw.from_twist(V), mb.Screw.from_pose(C)
    parts = twists.pose([0.1, 0.5, 1.0])
    for k in np.ndindex(2, 3):
        one = mb.Screw.from_twist(V[k])
        for name in ("direction", "point", "pitch", "magnitude", "angle", "shift"):
            assert np.array_equal(getattr(twists, name)[k], getattr(one, name))
        assert close(twists.twist()[k], V[k])
        assert np.array_equal(twists.transformed(C).twist()[k], one.transformed(C[k]).twist())
        assert np.array_equal(parts[k], one.pose([0.1, 0.5, 1.0][k[1]]))
        assert close(poses.twist()[k], mb.Screw.from_pose(C[k]).twist(), 1e-15)
    assert mb.Screw((0, 0, 1), np.zeros((4, 3)), [[1.0], [2.0]]).twist().shape == (2, 4, 6)
    assert mb.Screw.from_twist(np.zeros((0, 6))).pose().shape == (0, 4, 4)


def test_typed_quantities(rng):
    """A twist gives the screw in the frame in which it is; where that is, is the same."""
    C = SE3.random(rng)
    twist = mb.Twist(rng.standard_normal(6), mb.BodyFixed(), pose=C, body="arm")
    in_world = mb.Screw.from_twist(twist.to(mb.Spatial()))
    assert close(mb.Screw.from_twist(twist).transformed(C).twist(), in_world.twist())
    hybrid = mb.Screw.from_twist(twist.to(mb.Hybrid()))
    assert close(hybrid.transformed(translation(C[:3, 3])).twist(), in_world.twist())
    wrench = mb.Wrench(rng.standard_normal(6), mb.Spatial(), pose=C, body="arm")
    power = mb.reciprocal_product(twist.to(mb.Spatial()), mb.Screw.from_wrench(wrench))
    assert power == pytest.approx(twist.to(mb.Spatial()) @ wrench)


def test_frozen_and_shown():
    screw = mb.Screw((0, 0, 1), (1, 0, 0), 0.5, 2.0)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        screw.pitch = 1.0
    with pytest.raises(ValueError, match="read-only"):
        screw.point[0] = 2.0
    assert attrs.evolve(screw, magnitude=-1.0).direction.tolist() == [0.0, 0.0, -1.0]
    assert repr(screw).endswith("point=[1.0, 0.0, 0.0], pitch=0.5, magnitude=2.0)")
    assert isinstance(screw.pitch, float)
    assert f"{screw.angle:.1f} {screw.shift:.1f}" == "2.0 1.0"


def refusals():
    """Return what is refused, with which error, in which words."""
    V = mb.Twist(np.ones(6), mb.Mixed(), pose=np.eye(4), body="arm")
    W = mb.Wrench(np.ones(6), mb.Hybrid(), pose=np.eye(4), body="arm")
    nan = [0, 0, np.nan]
    screw = mb.Screw
    return {
        "shape": (lambda: screw((1, 2)), mb.ShapeError, r"direction must be .*\(\.\.\., 3\), got"),
        "text": (lambda: screw((0, 0, 1), pitch="far"), mb.ShapeError, "pitch must be numbers"),
        "axes": (
            lambda: screw(np.ones((2, 3)), np.ones((4, 3))), mb.ShapeError, "axes that broadcast",
        ),
        "nan": (lambda: screw(nan), mb.GeometryError, r"direction must be finite, got nan at \[2"),
        "nan pitch": (lambda: screw((0, 0, 1), pitch=np.nan), mb.GeometryError, "pitch must be"),
        "minus infinite": (
            lambda: screw((0, 0, 1), pitch=-np.inf), mb.GeometryError, "pitch must be finite",
        ),
        "no direction": (
            lambda: screw([[0, 0, 1], [0, 0, 0]], magnitude=2.0), mb.GeometryError,
            r"must not be zero where the magnitude is 2.0 at \[1\]",
        ),
        "twist shape": (lambda: screw.from_twist(np.ones(5)), mb.ShapeError, "from_twist: V"),
        "twist nan": (lambda: screw.from_twist(np.full(6, np.nan)), mb.GeometryError, "V must be"),
        "mixed": (lambda: screw.from_twist(V), mb.UsageError, r"mixed twist.*\.to\(mb.Spatial"),
        "wrench": (lambda: screw.from_twist(W), mb.UsageError, "must be a twist, got Wrench of"),
        "twist": (lambda: screw.from_wrench(V), mb.UsageError, "must be a wrench, got Twist of"),
        "product": (lambda: mb.reciprocal_product(W, W), mb.UsageError, "must be a twist"),
        "rounding": (
            lambda: screw.from_twist(np.ones(6), rounding=-1.0), mb.UsageError, "rounding must be",
        ),
        "no pose": (lambda: screw.from_pose(np.ones((4, 4))), mb.GeometryError, "from_pose: C"),
        "part": (lambda: screw((0, 0, 1)).pose("half"), mb.ShapeError, "pose: part"),
    }  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), refusals().values(), ids=refusals())
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()
