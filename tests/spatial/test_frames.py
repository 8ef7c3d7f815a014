"""Poses: made, inverted, and checked."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3, UnitQuaternion
from mbkit.spatial import (
    inverse,
    nearest_rotation,
    pose_from_quaternion,
    rotation,
    rotation_from_quaternion,
    translation,
)
from mbkit.spatial.arrays import frozen_array
from mbkit.spatial.frames import check_pose


@pytest.mark.parametrize("angle", [0.0, 1e-8, 1.1, np.pi - 1e-8, -2.0, 7.0])
def test_rotation_is_the_exponential_of_its_screw(angle):
    """A turn about an axis through a point is exp of the screw (e, p x e)."""
    axis, point = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.4, -1.2])
    e = axis / np.linalg.norm(axis)
    expected = SE3.exp(angle * np.concatenate([e, np.cross(point, e)]))
    np.testing.assert_allclose(rotation(axis, angle, point), expected, atol=4e-15)


def test_quaternion_agrees_with_the_group():
    """The rotation matrix is that of mbkit.lie, which is computed in another way."""
    Q = UnitQuaternion.random(np.random.default_rng(2))
    np.testing.assert_allclose(rotation_from_quaternion(Q), UnitQuaternion.Ad(Q), atol=2e-15)
    assert pose_from_quaternion((1, 2, 3), Q)[:3, 3].tolist() == [1.0, 2.0, 3.0]


def test_inverse_is_the_inverse():
    """C^-1 C is the identity."""
    C = translation((1.0, 2.0, 3.0)) @ rotation((1, 1, 0), 0.6)
    np.testing.assert_allclose(inverse(C) @ C, np.eye(4), atol=1e-15)


def test_nearest_rotation_mends_few_digits():
    """A rotation with four digits becomes one with sixteen, and moves by no more than it must."""
    R = rotation((1, 2, 3), 0.8)[:3, :3]
    found = nearest_rotation(R.round(4))
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(found, R, atol=1e-4)
    with pytest.raises(mb.GeometryError, match="which mirrors; exchange two axes"):
        nearest_rotation(np.diag([1.0, 1.0, -1.0]))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.eye(3), mb.ShapeError, r"shape \(4, 4\), got shape \(3, 3\)"),
        (np.full((4, 4), np.nan), mb.GeometryError, "be finite"),
        (2.0 * np.eye(4), mb.GeometryError, r"last row \[0, 0, 0, 1\], got \[0.0, 0.0, 0.0, 2.0\]"),
        (np.diag([1, 1, 1 + 1e-6, 1]), mb.GeometryError, "differs from the identity by 2e-06"),
        (np.diag([1, 1, -1, 1]), mb.GeometryError, "mirrors"),
        ("pose", mb.ShapeError, "be real numbers"),
        ([[1, 0], [1]], mb.ShapeError, "be real numbers"),
        (np.eye(4, dtype=complex), mb.ShapeError, "be real numbers"),
        (np.eye(4, dtype=bool), mb.ShapeError, "be real numbers"),
    ],
)
def test_what_is_no_pose_is_refused(value, error, message):
    """The message begins with what it is about."""
    with pytest.raises(error, match=f"^Body 'rod': pose .*{message}"):
        check_pose(frozen_array(value), "Body 'rod': pose")


@pytest.mark.parametrize("Q", [(1.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), (0.7071, 0.7071, 0, 0)])
def test_quaternions_that_are_not_of_length_one_are_refused(Q):
    """The message tells the length, and what to do."""
    length = np.linalg.norm(Q)
    with pytest.raises(mb.GeometryError, match=f"unit quaternion, got .*length {length:.5g}"):
        pose_from_quaternion(quaternion_wxyz=Q)


def test_axes_without_direction_are_refused():
    """A rotation needs an axis."""
    with pytest.raises(
        mb.GeometryError, match=r"axis must have a direction, got \[0.0, 0.0, 0.0\]"
    ):
        rotation((0, 0, 0), 1.0)
    with pytest.raises(mb.GeometryError, match="angle must be finite"):
        rotation((0, 0, 1), np.inf)
