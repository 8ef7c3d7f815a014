"""Typed twists, wrenches and accelerations: conversions, sums of like with like, refusals."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.spatial import typed_accelerations, typed_twists, typed_wrenches
from tests.representations.motions import ALL, NAMES

representations = pytest.mark.parametrize("representation", ALL, ids=NAMES)
PLACED = pytest.mark.parametrize("kind", [mb.Twist, mb.Wrench])


@pytest.fixture
def rng():
    return np.random.default_rng(31)


@pytest.fixture
def where(rng):
    return {"pose": SE3.random(rng), "body": "arm"}


@pytest.fixture
def frames(rng):
    return {"body_frame": SE3.random(rng), "world_frame": SE3.random(rng)}


@representations
def test_values_convert_as_their_vectors(rng, where, frames, representation):
    """`to` is the conversion of plain vectors, and says where the new frame stands."""
    V, A, W = rng.standard_normal((3, 6))
    b, C = mb.BodyFixed(), where["pose"]
    twist = mb.Twist(V, b, **where)
    wrench = mb.Wrench(W, b, **where)
    acceleration = mb.Acceleration(A, twist)
    arguments = C, b, representation
    for value, expected in (
        (twist, mb.convert_twist(V, *arguments, **frames)),
        (wrench, mb.convert_wrench(W, *arguments, **frames)),
        (acceleration, mb.convert_acceleration(A, V, *arguments, **frames)),
    ):
        converted = value.to(representation, **frames)
        assert type(converted) is type(value)
        assert converted.representation == representation
        assert converted.body == "arm"
        assert np.allclose(converted.vector, expected, rtol=0.0, atol=1e-14)
        C_new = np.linalg.inv(frames["world_frame"]) @ C @ frames["body_frame"]
        assert np.allclose(converted.pose, C_new, rtol=0.0, atol=1e-14)


@representations
def test_power_is_the_same_in_all(rng, where, frames, representation):
    """W . V, either way round, before and after a change of representation and frames."""
    V, W = rng.standard_normal((2, 6))
    twist, wrench = mb.Twist(V, mb.BodyFixed(), **where), mb.Wrench(W, mb.BodyFixed(), **where)
    assert twist.power(wrench) == wrench.power(twist) == twist @ wrench == wrench @ twist
    assert twist @ wrench == pytest.approx(float(V @ W), abs=1e-14)
    moved = twist.to(representation, **frames) @ wrench.to(representation, **frames)
    assert moved == pytest.approx(float(V @ W), abs=1e-12)


@PLACED
def test_vector_space(rng, where, kind):
    """Sums, differences, multiples and sum() are those of the vectors."""
    a, b = rng.standard_normal((2, 6))
    A, B = kind(a, mb.Mixed(), **where), kind(b, mb.Mixed(), **where)
    combined = 2 * A - B / np.float64(4.0) + np.float64(3.0) * (-B)
    assert np.allclose(combined, 2.0 * a - 0.25 * b - 3.0 * b, rtol=0.0, atol=1e-14)
    assert type(combined) is kind
    assert np.array_equal(sum([A, B]).vector, a + b)


def test_back_and_forth_still_adds(rng, where, frames):
    """Rounding in a pose does not make it another pose."""
    twist = mb.Twist(rng.standard_normal(6), mb.Hybrid(), **where)
    there = twist.to(mb.Spatial(), **frames)
    back = there.to(mb.Hybrid(), **{key: np.linalg.inv(frame) for key, frame in frames.items()})
    assert np.allclose(twist + back, 2.0 * twist.vector, rtol=0.0, atol=1e-12)


@PLACED
def test_as_an_array(rng, where, kind):
    a = rng.standard_normal(6)
    value = kind(a, mb.Hybrid(), **where)
    assert np.array_equal(np.asarray(value), a)
    assert np.asarray(value, dtype=np.float32).dtype == np.float32
    assert np.array([value, value]).shape == (2, 6)
    copy = np.array(value)
    copy[0] = 7.0
    assert value.vector[0] == a[0]
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(value)[0] = 7.0
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        value.body = "leg"


def test_parts_and_text(where):
    twist = mb.Twist([1, 2, 3, 4, 5, 6], mb.Hybrid(), **where)
    wrench = mb.Wrench([1, 2, 3, 4, 5, 6], mb.Mixed(), **where)
    acceleration = mb.Acceleration([1, 2, 3, 4, 5, 6], twist)
    for value, first, second in (
        (twist, twist.angular, twist.linear),
        (wrench, wrench.moment, wrench.force),
        (acceleration, acceleration.angular, acceleration.linear),
    ):
        assert first.tolist() == [1.0, 2.0, 3.0]
        assert second.tolist() == [4.0, 5.0, 6.0]
        assert repr(value).startswith(f"{type(value).__name__}('arm', ")
    assert "moment=[1.0, 2.0, 3.0], force=[4.0, 5.0, 6.0]" in repr(wrench)


def combinations():
    """Return pairs that do not combine, and what the message says."""
    here, there = np.eye(4), mb.spatial.translation((1.0, 0.0, 0.0))
    V = mb.Twist(np.ones(6), mb.Hybrid(), pose=here, body="arm")
    W = mb.Wrench(np.ones(6), mb.Hybrid(), pose=here, body="arm")
    A = mb.Acceleration(np.ones(6), V)
    other = {
        "representation": mb.Twist(np.ones(6), mb.Mixed(), pose=here, body="arm"),
        "body": mb.Twist(np.ones(6), mb.Hybrid(), pose=here, body="leg"),
        "frame": mb.Twist(np.ones(6), mb.Hybrid(), pose=there, body="arm"),
    }
    hybrid = r"Twist of 'arm' \(hybrid\)"
    return {
        "wrench": (V, W, rf"{hybrid} \+ Wrench of 'arm' \(hybrid\): .*twist.power\(wrench\)"),
        "acceleration": (V, A, rf"{hybrid} \+ Acceleration of 'arm' .*different quantities"),
        "array": (V, np.ones(6), rf"{hybrid} \+ ndarray: .*make it a Twist, or take np.asarray"),
        "array first": (np.ones(6), V, rf"{hybrid} \+ ndarray"),
        "number": (V, 1.0, rf"{hybrid} \+ float"),
        "representation": (
            V, other["representation"],
            rf"{hybrid} \+ Twist of 'arm' \(mixed\).*differ, hybrid and mixed.*to\(mb.Hybrid\(\)\)",
        ),
        "body": (V, other["body"], rf"{hybrid} \+ Twist of 'leg'.*different bodies"),
        "frame": (V, other["frame"], rf"{hybrid} \+ .* stands at .*to\(body_frame=...\)"),
        "velocity twice": (A, A, "Acceleration of 'arm' .* both have terms of velocity"),
    }  # fmt: skip


@pytest.mark.parametrize(("a", "b", "message"), combinations().values(), ids=combinations())
def test_unlike_things_do_not_add(a, b, message):
    with pytest.raises(mb.QuantityError, match=message) as caught:
        a + b
    assert isinstance(caught.value, TypeError)


def test_other_refusals(where):
    V = mb.Twist(np.ones(6), mb.Hybrid(), **where)
    W = mb.Wrench(np.ones(6), mb.Hybrid(), **where)
    with pytest.raises(mb.QuantityError, match="representations differ, hybrid and spatial"):
        V.power(W.to(mb.Spatial()))
    with pytest.raises(mb.QuantityError, match=r"give an mb\.Wrench"):
        V @ V
    with pytest.raises(mb.QuantityError, match=r"give an mb\.Twist"):
        W @ np.ones(6)
    with pytest.raises(mb.QuantityError, match=r"Twist of .* - Wrench"):
        V - W
    with pytest.raises(mb.QuantityError, match="only numbers scale; power"):
        V * W
    with pytest.raises(mb.QuantityError, match="only numbers scale"):
        np.ones(2) * V
    with pytest.raises(mb.QuantityError, match="only numbers scale"):
        True * V
    with pytest.raises(mb.QuantityError, match="only numbers divide"):
        V / "2"
    with pytest.raises(mb.QuantityError, match=r"twist must be an mb\.Twist, got ndarray"):
        mb.Acceleration(np.ones(6), np.ones(6))
    with pytest.raises(mb.ShapeError, match=r"Twist: vector must be an array of shape \(6,\)"):
        mb.Twist(np.ones(5), mb.Hybrid(), **where)
    with pytest.raises(mb.GeometryError, match=r"Wrench: vector must be finite, got nan at \[2\]"):
        mb.Wrench([0, 0, np.nan, 0, 0, 0], mb.Hybrid(), **where)
    with pytest.raises(mb.GeometryError, match="Twist: pose must hold a rotation"):
        mb.Twist(np.ones(6), mb.Hybrid(), pose=np.diag([2.0, 1.0, 1.0, 1.0]), body="arm")
    with pytest.raises(mb.UsageError, match="Twist: representation must be a representation"):
        mb.Twist(np.ones(6), "hybrid", **where)
    with pytest.raises(mb.ModelError, match="Body name must not be empty"):
        mb.Twist(np.ones(6), mb.Hybrid(), pose=np.eye(4), body="")


@representations
def test_differences_of_accelerations(rng, where, representation):
    """What sums and differences give commutes with conversion, as it must to mean anything."""
    V, A, B = rng.standard_normal((3, 6))
    twist = mb.Twist(V, mb.BodyFixed(), **where)
    a, b = mb.Acceleration(A, twist), mb.Acceleration(B, twist)

    def to(value):
        return value.to(representation)

    difference = a - b
    assert not difference.twist.vector.any()
    for one, other in (
        (to(difference), to(a) - to(b)),
        (to(b + 0.3 * difference), to(b) + 0.3 * to(difference)),
        (to(b - difference), to(b) - to(difference)),
    ):
        assert np.allclose(one, other, rtol=0.0, atol=1e-13)
        assert np.allclose(one.twist, other.twist, rtol=0.0, atol=1e-13)
    with pytest.raises(mb.QuantityError, match="terms of velocity, which do not scale"):
        2.0 * a
    with pytest.raises(mb.QuantityError, match="at different twists"):
        a - mb.Acceleration(B, 2.0 * twist)


def test_rows_as_values(rng):
    """The helpers keep rows, names and poses together."""
    poses, vectors = SE3.random(rng, (3,)), rng.standard_normal((3, 6))
    names = ("world", "arm", "hand")
    twists = typed_twists(vectors, mb.Hybrid(), names, poses)
    wrenches = typed_wrenches(vectors, mb.Mixed(), names, poses)
    accelerations = typed_accelerations(2.0 * vectors, twists)
    for k, name in enumerate(names):
        for value in (twists[k], wrenches[k], accelerations[k]):
            assert value.body == name
            assert np.array_equal(value.pose, poses[k])
        assert np.array_equal(twists[k].vector, vectors[k])
        assert np.array_equal(accelerations[k].vector, 2.0 * vectors[k])
        assert accelerations[k].twist is twists[k]
        assert wrenches[k].representation == mb.Mixed()
    with pytest.raises(mb.ShapeError, match=r"vectors must be an array of shape \(2, 6\)"):
        typed_twists(vectors, mb.Hybrid(), names[:2], poses)
    with pytest.raises(mb.ShapeError, match=r"poses must be an array of shape \(3, 4, 4\)"):
        typed_wrenches(vectors, mb.Hybrid(), names, poses[:2])
    with pytest.raises(mb.ShapeError, match=r"typed_accelerations: vectors .* shape \(2, 6\)"):
        typed_accelerations(vectors, twists[:2])
