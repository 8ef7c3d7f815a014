"""Manipulability: closed forms of planar arms, and what singular values mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mbkit as mb
from tests.kinematics.arms import panda, planar_arm, tip
from tests.trees import random_mechanism, random_state

angles = st.floats(-3.0, 3.0)
lengths = st.floats(0.1, 3.0)


@settings(max_examples=20)
@given(lengths, lengths, angles, angles)
def test_planar_arm_of_two_links(first, second, q1, q2):
    """The measure of the tip's velocities is l1 l2 |sin q2| (Yoshikawa 1985)."""
    system = planar_arm(first, second)
    found = mb.manipulability(system, "link1", [q1, q2], "linear", frame=tip(second))
    expected = first * second * abs(np.sin(q2))
    assert found.measure == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.singular_directions[-1] == pytest.approx([0, 0, 0, 0, 0, 1], abs=1e-9)


def test_planar_arm_of_three_links():
    """In its plane: sqrt(det(J J^T)) of the planar Jacobian, written out."""
    system = planar_arm(1.0, 0.8, 0.5)
    q = np.array([0.3, -0.7, 1.1])
    a = np.cumsum(q)
    ends = [(1.0, a[0]), (0.8, a[1]), (0.5, a[2])]
    J = np.array(
        [
            [-sum(size * np.sin(t) for size, t in ends[k:]) for k in range(3)],
            [sum(size * np.cos(t) for size, t in ends[k:]) for k in range(3)],
        ]
    )
    plane = [[1, 0, 0], [0, 1, 0]]
    found = mb.manipulability(system, "link2", q, "linear", frame=tip(0.5), directions=plane)
    assert found.measure == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)), rel=1e-12)
    assert found.singular_values == pytest.approx(np.linalg.svd(J)[1], rel=1e-12)
    # without the plane, one of three directions is never possible
    space = mb.manipulability(system, "link2", q, "linear", frame=tip(0.5))
    assert (space.rank, space.condition) == (2, np.inf)
    assert space.measure < 1e-12
    assert space.singular_in_words == ("translation along (0, 0, 1)",)


def test_stretched_arm():
    """What it cannot do is to move along itself."""
    system = planar_arm(1.0, 1.0)
    turned = np.array([0.5, 0.0])
    found = mb.manipulability(system, "link1", turned, "linear", frame=tip(1.0))
    assert found.rank == 1
    assert found.condition == np.inf
    along = np.array([0, 0, 0, np.cos(0.5), np.sin(0.5), 0])
    up = np.array([0, 0, 0, 0, 0, 1.0])
    span = found.singular_directions
    assert np.linalg.matrix_rank(np.vstack([span, along, up]), tol=1e-9) == len(span) == 2


@pytest.mark.some(3)
@pytest.mark.parametrize("seed", range(5))
def test_singular_directions(seed):
    """J takes each velocity direction to its direction, times the singular value."""
    rng = np.random.default_rng(seed)
    system = random_mechanism(rng, 10, reach=2).assemble()
    q = random_state(rng, system).q
    body = system.body_names[-1]
    length = 0.7
    found = mb.manipulability(system, body, q, length=length)
    C = system.poses(q)[-1]
    J = mb.Hybrid().twist_map(C) @ system.jacobian(body, q)
    J[:3] *= length
    U, V = found.directions, found.velocity_directions
    assert np.abs(J @ V.T - U.T * found.singular_values).max() < 1e-12 * (1 + np.abs(J).max())
    assert np.abs(U @ U.T - np.eye(len(U))).max() < 1e-12
    assert found.rank == np.linalg.matrix_rank(J, tol=1e-9 * np.linalg.norm(J, 2))
    assert (
        np.abs(found.singular_directions @ (J / np.repeat([length, 1.0], 3)[:, None])).max(
            initial=0.0
        )
        < 1e-8 * np.abs(J).max()
    )
    expected = np.sqrt(np.linalg.det(J @ J.T)) if found.rank == 6 else 0.0
    assert found.measure == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_length_is_a_change_of_units():
    """In millimetres with the length in millimetres, singular values are in millimetres."""
    system = panda()
    q = [0.1, 0.2, 0.3, -1.5, 0.4, 1.5, 0.6]
    found = mb.manipulability(system, "link7", q, length=0.2)
    C = system.poses(q)[system.body_index("link7")]
    J = mb.Hybrid().twist_map(C) @ system.jacobian("link7", q)
    millimetres = np.vstack([200.0 * J[:3], 1000.0 * J[3:]])
    sizes = np.linalg.svd(millimetres)[1]
    assert found.singular_values * 1000.0 == pytest.approx(sizes, rel=1e-12)
    assert found.condition == pytest.approx(sizes[0] / sizes[-1], rel=1e-12)


def test_rotation_in_the_world_changes_nothing():
    """Singular values do not depend on the first joint, which turns all."""
    system = panda()
    q = np.array([0.1, 0.2, 0.3, -1.5, 0.4, 1.5, 0.6])
    first = mb.manipulability(system, "link7", q, length=0.3)
    q[0] += 1.3
    second = mb.manipulability(system, "link7", q, length=0.3)
    assert second.singular_values == pytest.approx(first.singular_values, rel=1e-12)


def test_locked_joints():
    """A locked joint has no share in the directions."""
    system = panda()
    q = [0.1, 0.2, 0.3, -1.5, 0.4, 1.5, 0.6]
    found = mb.manipulability(system, "link7", q, length=0.3, locked=["joint1", "joint4"])
    assert found.rank == 5
    assert not found.velocity_directions[:, [0, 3]].any()


def test_refusals():
    """What cannot be is named."""
    system = planar_arm(1.0, 1.0)
    with pytest.raises(mb.UsageError, match="mixes radians and metres and needs a length"):
        mb.manipulability(system, "link1", [0, 0])
    with pytest.raises(mb.UsageError, match="length has no use"):
        mb.manipulability(system, "link1", [0, 0], "linear", length=1.0)
    with pytest.raises(mb.UsageError, match="did you mean 'linear'"):
        mb.manipulability(system, "link1", [0, 0], "linaer")
    with pytest.raises(mb.UsageError, match="orthonormal"):
        mb.manipulability(system, "link1", [0, 0], "linear", directions=[[1, 1, 0]])
    with pytest.raises(mb.UsageError, match="length must be a positive number"):
        mb.manipulability(system, "link1", [0, 0], length=-1)
    with pytest.raises(mb.NameUnknownError, match="no joint 'elbow'"):
        mb.manipulability(system, "link1", [0, 0], length=1.0, locked=["elbow"])
    with pytest.raises(mb.GeometryError, match="frame on body 'link1' takes poses"):
        mb.manipulability(
            system, "link1", [0, 0], length=1.0, frame=2 * np.eye(4) - np.diag([0, 0, 0, 1.0])
        )


@pytest.mark.parametrize("length", [1e-3, 1.0, 20.0, 1e3])
def test_rank_and_singular_directions_are_of_the_same_rows(length):
    """As many are lost as the rank leaves, and none of them is made by any velocity."""
    arm = planar_arm(1.0, 1.0, 1.0)
    q, tolerance = [0.1, 0.2, 0.3], 1e-2
    found = mb.manipulability(arm, "link2", q, length=length, tolerance=tolerance)
    assert found.rank + len(found.singular_directions) == 6
    scaled = found.singular_directions * np.repeat([length, 1.0], 3)
    made = found.directions[: found.rank]
    cosines = scaled @ made.T / np.linalg.norm(scaled, axis=1)[:, None]
    assert np.abs(cosines).max() < 1e-12


def test_motions_in_other_directions_are_not_lost():
    """In its plane the arm loses nothing; of a pair of directions, what is not in the plane."""
    arm = planar_arm(1.0, 1.0, 1.0)
    plane = mb.manipulability(arm, "link2", [0.1, 0.2, 0.3], "linear", directions=np.eye(3)[:2])
    assert (plane.rank, plane.singular_in_words) == (2, ())
    upright = mb.manipulability(arm, "link2", [0.1, 0.2, 0.3], "linear", directions=np.eye(3)[1:])
    assert (upright.rank, upright.singular_in_words) == (1, ("translation along (0, 0, 1)",))


def test_what_is_printed_are_the_measure_and_what_is_missing():
    text = repr(mb.manipulability(planar_arm(1.0, 1.0), "link1", [0.0, np.pi / 2], rows="linear"))
    assert text.startswith("<Manipulability: measure 0, condition inf, rank 1")
    assert "translation along (0, 0, 1)" in text
