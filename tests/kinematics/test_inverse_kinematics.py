"""Inverse kinematics: reached poses, closed forms, and what is said where there is no solution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mbkit as mb
from mbkit.kinematics import descent
from mbkit.lie import SE3, SO3
from mbkit.spatial import rotation, translation
from tests.kinematics.arms import (
    PANDA_LIMITS,
    ROD,
    panda,
    planar_arm,
    six_joint_arm,
    tip,
    two_hands,
)
from tests.trees import random_mechanism, random_pose, random_state

# Targets are reached within 1e-9 rad and 1e-9 m; lever arms are below 10 m.
REACHED = 1e-8


def point(x, y, length=1.0, **options):
    """The target of a planar arm's tip."""
    return mb.PoseTarget(translation((x, y, 0.0)), frame=tip(length), rows="linear", **options)


def assert_reached(system, found, targets):
    """Bodies stand where they shall, by the poses of the system."""
    assert (found.converged, found.reason) == (True, "reached")
    C = system.poses(found.q)
    for name, pose in targets.items():
        assert np.abs(C[system.body_index(name)] - pose).max() < REACHED


def poses_of(system, q, *names):
    C = system.poses(q)
    return {name: C[system.body_index(name)] for name in names}


# ------------------------------------------------------------------------------ random targets


@pytest.mark.long
@pytest.mark.parametrize("restarts", [0, 10])
def test_success_on_seven_joints(restarts):
    """200 poses of random configurations from random starts, no limits: how many are reached.

    Measured: 178 of 200 from the start alone, all with ten random ones.
    """
    system = panda()
    rng = np.random.default_rng(1)
    reached = 0
    for k in range(200):
        targets = poses_of(system, rng.uniform(-3, 3, 7), "flange")
        start = rng.uniform(-3, 3, 7)
        found = mb.inverse_kinematics(system, targets, start, restarts=restarts, seed=k)
        if found.converged:
            reached += 1
            assert_reached(system, found, targets)
    assert reached >= (200 if restarts else 170)


@pytest.mark.long
def test_success_between_limits():
    """100 poses of random configurations between the arm's limits: all, with thirty starts."""
    system = panda()
    rng = np.random.default_rng(2)
    low, high = PANDA_LIMITS.T
    for k in range(100):
        targets = poses_of(system, rng.uniform(low, high), "link7")
        start = rng.uniform(low, high)
        found = mb.inverse_kinematics(
            system, targets, start, limits=PANDA_LIMITS, restarts=30, seed=k
        )
        assert_reached(system, found, targets)
        assert (found.q >= low).all()
        assert (found.q <= high).all()


def test_success_on_six_joints():
    """Poses of a 6R arm from random starts; measured: all of 100, none with a second start."""
    system = six_joint_arm()
    rng = np.random.default_rng(3)
    for k in range(30):
        targets = poses_of(system, rng.uniform(-3, 3, 6), "arm5")
        found = mb.inverse_kinematics(system, targets, rng.uniform(-3, 3, 6), restarts=5, seed=k)
        assert_reached(system, found, targets)


def test_two_hands():
    """Both hands of a branched robot at once; a shared waist serves both."""
    system = two_hands()
    rng = np.random.default_rng(4)
    for k in range(15):
        goal = np.concatenate([[0.3 * rng.normal()], rng.uniform(-2, 2, 13)])
        targets = poses_of(system, goal, "left5", "right5")
        start = np.concatenate([[0.0], rng.uniform(-2, 2, 13)])
        found = mb.inverse_kinematics(system, targets, start, restarts=10, seed=k)
        assert_reached(system, found, targets)
        assert set(found.errors) == {"left5", "right5"}


@pytest.mark.some(10)
@pytest.mark.parametrize("seed", range(20))
def test_joints_on_groups(seed):
    """Spherical and free joints, screws, joints turned round; two bodies of one chain."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "spherical", "helical", "free", "prismatic")
    system = random_mechanism(rng, 8, kinds, reach=1).assemble()
    goal, start = random_state(rng, system).q, random_state(rng, system).q
    targets = poses_of(system, goal, system.body_names[3], system.body_names[-1])
    found = mb.inverse_kinematics(system, targets, start, restarts=20)
    assert_reached(system, found, targets)


@pytest.mark.some(2)
@pytest.mark.parametrize("angle", [np.pi, np.pi - 1e-8, np.pi + 1e-8, 1e-8, 0.0])
@pytest.mark.parametrize("joint", ["free", "spherical"])
def test_targets_turned_by_half(joint, angle):
    """A rotation by pi from the start, where the logarithm jumps, is reached."""
    mech = mb.Mechanism(joint)
    body = mech.add_body(mb.Body("body", inertia=ROD))
    kind = mb.FreeJoint if joint == "free" else mb.SphericalJoint
    mech.add_joint(kind("joint"), mech.world, body)
    system = mech.assemble()
    pose = rotation((1.0, 2.0, -3.0), angle)
    if joint == "free":
        pose = translation((1.0, 2.0, 3.0)) @ pose
    assert_reached(system, mb.inverse_kinematics(system, {"body": pose}), {"body": pose})


# --------------------------------------------------------------------------------- closed forms


@settings(max_examples=20)
@given(st.floats(0.4, 2.0), st.floats(0.4, 2.0), st.floats(-3, 3), st.floats(0.05, 3.09))
def test_two_links(first, second, q1, q2):
    """The elbow's angle is the one of the law of cosines, either way round."""
    arm = planar_arm(first, second)
    x = first * np.cos(q1) + second * np.cos(q1 + q2)
    y = first * np.sin(q1) + second * np.sin(q1 + q2)
    found = mb.inverse_kinematics(arm, {"link1": point(x, y, second)}, [0.3, 0.5])
    assert found.converged
    cosine = (x * x + y * y - first**2 - second**2) / (2 * first * second)
    assert np.cos(found.q[1]) == pytest.approx(cosine, abs=1e-7)
    shoulder = np.arctan2(y, x) - np.arctan2(
        second * np.sin(found.q[1]), first + second * np.cos(found.q[1])
    )
    assert np.exp(1j * found.q[0]) == pytest.approx(np.exp(1j * shoulder), abs=1e-6)


def test_three_links_with_orientation():
    """A pose in the plane has two solutions, by the law of cosines for the first two links."""
    lengths = (1.0, 0.8, 0.3)
    arm = planar_arm(*lengths)
    pose = translation((0.9, 0.7, 0.0)) @ rotation((0, 0, 1), 0.4)
    elbow = []
    for start in ([0.2, 0.5, 0.1], [1.4, -0.5, 0.1]):
        found = mb.inverse_kinematics(arm, {"link2": pose}, start)
        assert_reached(arm, found, {"link2": pose})
        elbow.append(found.q[1])
        assert found.q.sum() == pytest.approx(0.4, abs=1e-9)
    expected = np.arccos((0.9**2 + 0.7**2 - 1.0 - 0.64) / (2 * 0.8))
    assert sorted(elbow) == pytest.approx([-expected, expected], abs=1e-8)


@settings(max_examples=15)
@given(st.floats(2.2, 20.0), st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-2.5, 2.5))
def test_too_far(distance, direction, q1, q2):
    """Beyond its reach the arm is stretched towards the target: |p| - l1 - l2 is left."""
    arm = planar_arm(1.2, 0.8)
    x, y = distance * np.cos(direction), distance * np.sin(direction)
    found = mb.inverse_kinematics(arm, {"link1": point(x, y, 0.8)}, [q1, q2])
    assert not found.converged
    assert found.reason.startswith(
        "unreachable: no small motion lessens the weighted error, with 'link1' "
    )
    assert np.linalg.norm(found.errors["link1"]) == pytest.approx(distance - 2.0, abs=1e-9)
    assert found.singular
    assert found.iterations < 60


def test_too_near():
    """Inside the hole of its ring a folded arm is nearest: l1 - l2 - |p| is left."""
    arm = planar_arm(1.0, 0.6)
    found = mb.inverse_kinematics(arm, {"link1": point(0.1, 0.2, 0.6)}, [0.3, 0.5])
    assert found.reason.startswith("unreachable")
    left = 0.4 - np.hypot(0.1, 0.2)
    assert np.linalg.norm(found.errors["link1"]) == pytest.approx(left, abs=1e-9)


def test_unreachable_pose_is_stationary():
    """For a full pose out of reach no small motion of any joint changes the error."""
    system = panda()
    pose = translation((1.5, 0.4, 0.5)) @ rotation((1, 1, 0), 2.0)
    found = mb.inverse_kinematics(system, {"flange": pose}, [0.1, 0.2, 0.3, -1.5, 0.1, 1.0, 0.2])
    assert found.reason.startswith("unreachable")

    def cost(q):
        return 0.5 * np.sum(SE3.log(np.linalg.inv(pose) @ system.poses(q)[-1]) ** 2)

    slopes = [(cost(found.q + step) - cost(found.q - step)) / 2e-5 for step in 1e-5 * np.eye(7)]
    assert np.abs(slopes).max() < 1e-7
    # and it is a minimum: nearby configurations are no nearer
    rng = np.random.default_rng(0)
    around = [cost(found.q + 1e-3 * rng.normal(size=7)) for _ in range(50)]
    assert min(around) >= cost(found.q) - 1e-12


# ------------------------------------------------------------------------------ singular postures


@pytest.mark.parametrize("start", [[0.0, 0.0], [np.pi, 0.0], [0.0, np.pi - 1e-12]])
def test_leaves_a_stretched_arm(start):
    """Along a stretched or folded arm no motion is nearer to first order; it bends all the same."""
    arm = planar_arm(1.0, 1.0)
    found = mb.inverse_kinematics(arm, {"link1": point(1.0, 0.0)}, start)
    assert found.converged
    assert not found.singular


def test_singular_posture_that_is_not_left(monkeypatch):
    """Where no step is found although the curvature promises one, that is said."""
    monkeypatch.setattr(descent, "_KICKS", ())
    arm = planar_arm(1.0, 1.0)
    found = mb.inverse_kinematics(arm, {"link1": point(1.0, 0.0)}, [0.0, 0.0])
    assert (found.converged, found.singular) == (False, True)
    assert found.reason == (
        "singular posture: no step was found that lessens the weighted error, with 'link1' 1 m off"
    )


def test_singular_posture_that_is_reached():
    """A stretched arm that just reaches is singular; what it has lost is to move along itself."""
    arm = planar_arm(1.0, 1.0)
    found = mb.inverse_kinematics(arm, {"link1": point(0.0, 2.0)}, [0.3, 0.4])
    assert found.converged
    assert found.singular
    assert found.singular_directions["link1"] == (
        "translation along (0, 1, 0)",
        "translation along (0, 0, 1)",
    )
    assert found.singular_values[0] == pytest.approx(np.sqrt(5.0), rel=1e-6)
    assert found.singular_values[1] < 1e-4


def test_what_can_never_move_is_not_singular():
    """A planar arm never leaves its plane: singular directions, but no singular posture."""
    arm = planar_arm(1.0, 0.7, 0.4, 0.3)
    goal = arm.poses([0.3, 0.4, 0.5, 0.6])[4]
    found = mb.inverse_kinematics(arm, {"link3": goal}, [0.1, 0.2, 0.3, 0.4])
    assert found.converged
    assert not found.singular
    assert set(found.singular_directions["link3"]) == {
        "rotation about (1, 0, 0)",
        "rotation about (0, 1, 0)",
        "translation along (0, 0, 1)",
    }


# ----------------------------------------------------------------------------------- joint limits


def test_limits_hold_off():
    """An elbow that may bend to 1 rad: nearest where the slope is held by it alone."""
    arm = planar_arm(1.0, 1.0)
    limits = {"joint1": (-1.0, 1.0)}
    found = mb.inverse_kinematics(arm, {"link1": point(0.5, 0.4)}, [0.1, 0.2], limits=limits)
    assert found.reason == "joint limits: joint1"
    assert found.active_limits == ("joint1",)
    assert abs(found.q[1]) == 1.0
    # Karush, Kuhn, Tucker: the shoulder's slope is zero, the elbow's pushes against its limit
    C = arm.poses(found.q)[2]
    end = C[:3, 3] + C[:3, 0]
    error = end - [0.5, 0.4, 0.0]
    slopes = [error @ np.cross([0, 0, 1], end - arm.poses(found.q)[k][:3, 3]) for k in (1, 2)]
    assert abs(slopes[0]) < 1e-8
    assert slopes[1] * np.sign(found.q[1]) < -1e-3
    # distance: a circle of the end's distance from the shoulder
    reach = np.sqrt(2.0 + 2.0 * np.cos(1.0))
    assert np.linalg.norm(error) == pytest.approx(reach - np.hypot(0.5, 0.4), abs=1e-9)


@pytest.mark.some(5)
@pytest.mark.parametrize("seed", range(10))
def test_conditions_at_limits(seed):
    """On seven joints with narrow limits: slopes vanish inside and push outwards at limits."""
    system = panda()
    rng = np.random.default_rng(seed)
    centre = np.array([0.2, -0.3, 0.1, -1.8, 0.2, 1.6, 0.5])
    limits = np.stack([centre - 0.4, centre + 0.4], axis=1)
    pose = poses_of(system, centre + rng.uniform(-1.5, 1.5, 7), "link7")["link7"]
    found = mb.inverse_kinematics(system, {"link7": pose}, centre, limits=limits)

    def cost(q):
        return 0.5 * np.sum(SE3.log(np.linalg.inv(pose) @ system.poses(q)[7]) ** 2)

    slopes = np.array(
        [(cost(found.q + step) - cost(found.q - step)) / 2e-5 for step in 1e-5 * np.eye(7)]
    )
    low, high = found.q <= limits[:, 0], found.q >= limits[:, 1]
    assert (found.q >= limits[:, 0]).all()
    assert (found.q <= limits[:, 1]).all()
    assert np.abs(slopes[~low & ~high]).max(initial=0.0) < 1e-7
    assert (slopes[low] >= -1e-7).all()
    assert (slopes[high] <= 1e-7).all()
    assert found.active_limits == tuple(f"joint{k + 1}" for k in np.flatnonzero(low | high))
    assert found.converged or found.reason.startswith(("joint limits: ", "unreachable: "))


def test_limits_of_the_system_are_taken():
    """Where nothing else is said; a dict without joints takes them away."""
    arm = planar_arm(1.0, 1.0)
    object.__setattr__(arm, "position_limits", np.array([[-np.inf, np.inf], [-1.0, 1.0]]))
    target = {"link1": point(0.5, 0.4)}
    found = mb.inverse_kinematics(arm, target, [0.1, 0.2])
    assert found.reason == "joint limits: joint1"
    assert mb.inverse_kinematics(arm, target, [0.1, 0.2], limits={}).converged


def test_start_is_put_within_limits():
    arm = planar_arm(1.0, 1.0)
    limits = [[-0.5, 0.5], [-np.inf, np.inf]]
    found = mb.inverse_kinematics(arm, {"link1": point(1.2, 0.9)}, [2.0, 0.5], limits=limits)
    assert found.converged
    assert abs(found.q[0]) <= 0.5


def test_locked_joints():
    """What is locked stays to the last bit, and the others reach the target."""
    system = panda()
    rng = np.random.default_rng(5)
    for _ in range(10):
        start = rng.uniform(-1, 1, 7)
        goal = start + 0.5 * rng.normal(size=7)
        goal[2] = start[2]
        targets = poses_of(system, goal, "link7")
        found = mb.inverse_kinematics(system, targets, start, locked=["joint3"], restarts=20)
        assert_reached(system, found, targets)
        assert found.q[2] == start[2]
    still = [f"joint{k}" for k in range(1, 8)]
    found = mb.inverse_kinematics(system, targets, start, locked=still)
    assert not found.converged
    assert np.array_equal(found.q, start)


# ------------------------------------------------------------------------------------- null space


@pytest.mark.some(3)
@pytest.mark.parametrize("seed", range(10))
def test_preferred_posture(seed):
    """The same pose of the hand; what is left of the wish has no part in the null space."""
    system = panda()
    rng = np.random.default_rng(seed)
    start, posture = rng.uniform(*PANDA_LIMITS.T), PANDA_LIMITS.mean(axis=1)
    targets = poses_of(system, start, "link7")
    found = mb.inverse_kinematics(system, targets, start, preferred=posture)
    assert_reached(system, found, targets)
    assert found.preference_left <= 1e-6
    null = np.linalg.svd(system.jacobian("link7", found.q))[2][-1]
    assert abs(null @ (found.q - posture)) < 2e-6
    assert np.linalg.norm(found.q - posture) < np.linalg.norm(start - posture)


def test_preferred_gradient():
    """A gradient of one's own: the sum of the third joint's sine, along the null space."""
    system = panda()
    start = np.array([0.2, -0.3, 0.4, -1.8, 0.2, 1.6, 0.5])
    targets = poses_of(system, start, "link7")

    def gradient(q):
        slope = np.zeros(7)
        slope[2] = np.cos(q[2])
        return slope

    found = mb.inverse_kinematics(system, targets, start, preferred=gradient)
    assert_reached(system, found, targets)
    assert np.sin(found.q[2]) < np.sin(start[2]) - 0.1
    null = np.linalg.svd(system.jacobian("link7", found.q))[2][-1]
    assert abs(null @ gradient(found.q)) < 2e-6


def test_a_class_is_no_preferred_gradient():
    system = panda()
    targets = poses_of(system, np.zeros(7), "link7")
    with pytest.raises(mb.UsageError, match=r"preferred must be .* got <class 'int'>"):
        mb.inverse_kinematics(system, targets, preferred=int)


@pytest.mark.some(3)
@pytest.mark.parametrize("seed", range(5))
def test_preferred_posture_between_limits(seed):
    """With limits in the way: the wish has no part that null space and limits let act."""
    system = panda()
    rng = np.random.default_rng(seed)
    start = PANDA_LIMITS.mean(axis=1) + 0.3 * rng.normal(size=7)
    limits = np.stack([start - 0.2, start + 0.2], axis=1)
    posture = start + rng.choice([-1.0, 1.0], size=7)
    targets = poses_of(system, start, "link7")
    found = mb.inverse_kinematics(system, targets, start, preferred=posture, limits=limits)
    assert_reached(system, found, targets)
    assert (np.abs(found.q - start) <= 0.2).all()
    null = np.linalg.svd(system.jacobian("link7", found.q))[2][-1]
    slope = null @ (found.q - posture)
    # either nothing is left, or a limit is in the way of the one direction there is
    blocked = [
        (found.q[k] >= limits[k, 1] and -slope * null[k] > 0)
        or (found.q[k] <= limits[k, 0] and -slope * null[k] < 0)
        for k in range(7)
    ]
    assert abs(slope) < 2e-6 or any(blocked)


def test_preferred_posture_of_joints_on_groups():
    """A ball and two hinges hold a point; the wish is left without part in the null space."""
    mech = mb.Mechanism("tail")
    base, middle, end = (mech.add_body(mb.Body(name, inertia=ROD)) for name in "abc")
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, base)
    mech.add_joint(mb.RevoluteJoint("hinge"), base, middle, reference=tip(0.7))
    bent = tip(0.7) @ rotation((1, 0, 0), 1.0)
    mech.add_joint(mb.RevoluteJoint("knee"), middle, end, reference=bent)
    system = mech.assemble()
    rng = np.random.default_rng(6)
    start, posture = random_state(rng, system).q, random_state(rng, system).q
    pose = system.poses(start)[3] @ tip(0.5)
    target = mb.PoseTarget(pose, frame=tip(0.5), rows="linear")
    found = mb.inverse_kinematics(system, {"c": target}, start, preferred=posture)
    assert found.converged
    assert found.preference_left <= 1e-6
    C = system.poses(found.q)[3]
    assert np.abs((C @ tip(0.5))[:3, 3] - pose[:3, 3]).max() < REACHED
    J = (SE3.Ad(np.linalg.inv(tip(0.5))) @ system.jacobian("c", found.q))[3:]
    null = np.linalg.svd(J)[2][3:]
    assert np.abs(null @ system.difference(posture, found.q)).max() < 2e-6


# ---------------------------------------------------------------------------------------- targets


def test_parts_and_frames_of_targets():
    """Position alone, orientation alone, on a frame of the body."""
    system = panda()
    rng = np.random.default_rng(7)
    tool = random_pose(rng, 0.1)
    goal = system.poses(rng.uniform(-1, 1, 7))[7] @ tool
    start = rng.uniform(-1, 1, 7)
    target = mb.PoseTarget(goal, frame=tool, rows="linear")
    found = mb.inverse_kinematics(system, {"link7": target}, start)
    here = system.poses(found.q)[7] @ tool
    assert np.abs(here[:3, 3] - goal[:3, 3]).max() < REACHED
    assert np.abs(here - goal).max() > 0.01
    assert found.errors["link7"].shape == (3,)
    target = mb.PoseTarget(goal, frame=tool, rows="angular")
    found = mb.inverse_kinematics(system, {"link7": target}, start)
    here = system.poses(found.q)[7] @ tool
    assert np.linalg.norm(SO3.log(goal[:3, :3].T @ here[:3, :3])) < REACHED
    target = mb.PoseTarget(goal, frame=tool)
    found = mb.inverse_kinematics(system, {"link7": target}, start, restarts=10)
    assert np.abs(system.poses(found.q)[7] @ tool - goal).max() < REACHED


def test_weights_decide_where_not_all_can_be():
    """One revolute joint between position and orientation: the weights' closed form.

    At the angle t the tip of a link of length 1 shall be at angle a, its axis at angle b: the sum
    of u^2 (t - b)^2 and 2 w^2 (1 - cos(t - a)) is least where u^2 (t - b) + w^2 sin(t - a) = 0.
    """
    mech = mb.Mechanism("hand on a hinge")
    arm = mech.add_body(mb.Body("arm", inertia=ROD))
    hand = mech.add_body(mb.Body("hand", inertia=ROD))
    mech.add_joint(mb.RevoluteJoint("hinge"), mech.world, arm)
    mech.add_joint(mb.FixedJoint("grip"), arm, hand, reference=tip(1.0))
    system = mech.assemble()
    a, b = 0.3, 0.9
    for u, w in ((1.0, 1.0), (3.0, 1.0), (1.0, 3.0)):
        found = mb.inverse_kinematics(
            system,
            {
                "arm": mb.PoseTarget(rotation((0, 0, 1), b), rows="angular", angular_weight=u),
                "hand": mb.PoseTarget(
                    translation((np.cos(a), np.sin(a), 0)), rows="linear", linear_weight=w
                ),
            },
        )
        t = found.q[0]
        assert u**2 * (t - b) + w**2 * np.sin(t - a) == pytest.approx(0.0, abs=1e-8)
        assert found.reason.startswith(
            "unreachable: no small motion lessens the weighted error, with 'arm' "
        )


def test_same_seed_same_result():
    system = panda()
    targets = poses_of(system, [2.0, 1.0, -2.0, -2.5, 1.0, 2.5, -1.0], "link7")
    first, second = (
        mb.inverse_kinematics(system, targets, restarts=20, limits=PANDA_LIMITS) for _ in range(2)
    )
    assert np.array_equal(first.q, second.q)
    assert (first.iterations, first.starts) == (second.iterations, second.starts)


def test_iteration_limit():
    system = panda()
    targets = poses_of(system, [1.0, 1.0, -1.0, -1.5, 1.0, 1.5, -1.0], "link7")
    found = mb.inverse_kinematics(system, targets, max_iterations=2)
    assert (found.converged, found.reason, found.iterations) == (False, "iteration limit", 2)


def test_refusals():
    """What cannot be is named, with its value and the remedy."""
    arm = planar_arm(1.0, 1.0)
    pose = np.eye(4)
    with pytest.raises(mb.NameUnknownError, match="did you mean 'link1'"):
        mb.inverse_kinematics(arm, {"lnk1": pose})
    with pytest.raises(mb.UsageError, match="world does not move"):
        mb.inverse_kinematics(arm, {"world": pose})
    with pytest.raises(mb.UsageError, match="targets must be a dict"):
        mb.inverse_kinematics(arm, pose)
    with pytest.raises(mb.GeometryError, match="target of body 'link1' must hold a rotation"):
        mb.inverse_kinematics(arm, {"link1": np.diag([1.0, 1.0, 1.1, 1.0])})
    with pytest.raises(mb.ShapeError, match=r"target of body 'link1' must be .* \(4, 4\)"):
        mb.inverse_kinematics(arm, {"link1": np.eye(3)})
    with pytest.raises(mb.GeometryError, match="last row"):
        mb.inverse_kinematics(arm, {"link1": np.ones((4, 4))})
    with pytest.raises(mb.ShapeError, match="Argument 'q'"):
        mb.inverse_kinematics(arm, {"link1": pose}, [0.0])
    with pytest.raises(mb.NotFiniteError, match="Argument 'q' has the entry nan"):
        mb.inverse_kinematics(arm, {"link1": pose}, [0.0, np.nan])
    with pytest.raises(mb.ShapeError, match=r"limits must be an array of shape \(2, 2\)"):
        mb.inverse_kinematics(arm, {"link1": pose}, limits=[[0, 1]])
    with pytest.raises(mb.UsageError, match="lower limit of 'joint1' is 1 and its upper 0"):
        mb.inverse_kinematics(arm, {"link1": pose}, limits={"joint1": (1, 0)})
    with pytest.raises(mb.NameUnknownError, match="no joint 'knee'"):
        mb.inverse_kinematics(arm, {"link1": pose}, locked=["knee"])
    with pytest.raises(mb.UsageError, match="locked must be a list"):
        mb.inverse_kinematics(arm, {"link1": pose}, locked="joint1")
    with pytest.raises(mb.UsageError, match="locked must be a list of names"):
        mb.inverse_kinematics(arm, {"link1": pose}, locked=np.zeros(2, dtype=[("a", float)]))
    with pytest.raises(mb.UsageError, match="tolerance must be a positive number, got 0"):
        mb.inverse_kinematics(arm, {"link1": pose}, tolerance=0.0)
    with pytest.raises(mb.UsageError, match="restarts must be a whole number from 0 on, got -1"):
        mb.inverse_kinematics(arm, {"link1": pose}, restarts=-1)
    with pytest.raises(mb.UsageError, match=r"there are no rows .*did you mean .linear"):
        mb.PoseTarget(pose, rows="linaer")
    with pytest.raises(mb.UsageError, match="linear_weight must be a positive number, got 0"):
        mb.PoseTarget(pose, linear_weight=0.0)
    with pytest.raises(mb.ShapeError, match="preferred gradient returned"):
        mb.inverse_kinematics(arm, {"link1": point(1.0, 0.5)}, preferred=lambda q: q[:1])


def test_limits_of_quaternions_are_refused():
    mech = mb.Mechanism("ball")
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, mech.add_body(mb.Body("b", inertia=ROD)))
    with pytest.raises(mb.UsageError, match="joint 'ball' are not added but composed"):
        mb.inverse_kinematics(mech.assemble(), {"b": np.eye(4)}, limits={"ball": [[-1, 1]] * 4})


def test_what_was_found_is_read_and_shown_by_names():
    mech = mb.Mechanism("arm", gravity=(0.0, 0.0, 0.0))
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    arm, hand = (mech.add_body(mb.Body(name, ball)) for name in ("arm", "hand"))
    mech.add_joint(mb.SphericalJoint("shoulder"), mech.world, arm)
    mech.add_joint(mb.PrismaticJoint("reach", axis=(1, 0, 0)), arm, hand)
    target = mb.PoseTarget(mb.spatial.translation((0.0, 2.0, 0.0)), rows="linear")
    found = mb.inverse_kinematics(mech.assemble(), {"hand": target}, {"reach": 1.0})
    assert np.isclose(found["reach"], 2.0)
    np.testing.assert_array_equal(found["shoulder"], found.q[:4])
    assert found["shoulder[3]"] == found.q[3]
    assert "converged" in repr(found)
    assert "reach 2" in repr(found)
    with pytest.raises(mb.NameUnknownError, match="did you mean 'reach'"):
        found["reahc"]


# ---------------------------------------------------------------------------------- many targets


def test_many_poses_are_single_ones_side_by_side():
    """Two axes of samples, each from its own start: every field is that of the search alone."""
    system = panda()
    rng = np.random.default_rng(4)
    there = rng.uniform(-1, 1, (2, 3, 7))
    starts = there + rng.uniform(-0.3, 0.3, (2, 3, 7))
    goals = {"flange": system.pose("flange", there)}
    many = mb.inverse_kinematics(system, goals, starts)
    assert many.converged.shape == many.gap.shape == many.reason.shape == (2, 3)
    assert many["joint3"].shape == (2, 3)
    for index in np.ndindex(2, 3):
        target = {"flange": goals["flange"][index]}
        alone = mb.inverse_kinematics(system, target, starts[index])
        assert_reached(system, alone, target)
        np.testing.assert_array_equal(many.q[index], alone.q)
        np.testing.assert_array_equal(many.errors["flange"][index], alone.errors["flange"])
        np.testing.assert_array_equal(many.singular_values[index], alone.singular_values)
        assert many.reason[index] == "reached"
        assert many.iterations[index] == alone.iterations
    assert repr(many) == "<InverseKinematics: 6 of 6 reached>"


def test_a_path_of_points_gives_a_path_of_angles():
    """An elbow goes on along its branch, also behind a point that is out of reach."""
    system = planar_arm(1.0, 1.0)
    distances = np.array([1.0, 1.3, 2.5, 1.6, 1.9])
    points = np.stack([translation((d, 0.0, 0.0)) for d in distances])
    goal = mb.PoseTarget(points, frame=tip(1.0), rows="linear")
    body = system.body_names[-1]
    path = mb.inverse_kinematics(system, {body: goal}, q=[0.5, -1.0])
    assert path.converged.tolist() == [True, True, False, True, True]
    assert "4 of 5 reached, not [2]: unreachable" in repr(path)
    elbow = -2 * np.arccos(distances / 2, where=distances < 2, out=np.zeros(5))
    np.testing.assert_allclose(path.q[path.converged, 1], elbow[path.converged], atol=1e-8)


def test_samples_that_do_not_fit_are_named():
    system = planar_arm(1.0, 1.0)
    body, poses = system.body_names[-1], np.stack([np.eye(4)] * 3)
    with pytest.raises(mb.ShapeError, match="do not broadcast"):
        mb.inverse_kinematics(system, {body: poses}, np.zeros((2, 2)))
    with pytest.raises(mb.UsageError, match="no sample"):
        mb.inverse_kinematics(system, {body: poses[:0]})
    poses[1] *= 2.0
    with pytest.raises(mb.GeometryError) as caught:
        mb.inverse_kinematics(system, {body: poses})
    assert caught.value.__notes__ == ["Raised at sample 1."]
    with pytest.raises(mb.GeometryError):
        mb.PoseTarget(poses)


def test_a_point_is_no_pose_and_the_message_has_the_call():
    system = planar_arm(1.0, 1.0)
    with pytest.raises(mb.ShapeError, match="for a position alone give ") as caught:
        mb.inverse_kinematics(system, {"link1": [0.5, 1.0, 0.0]}, q=[0.3, 0.4])
    call = str(caught.value).rpartition("give ")[2].removesuffix(".").replace("mbkit", "mb")
    found = mb.inverse_kinematics(system, {"link1": eval(call, {"mb": mb})}, q=[0.3, 0.4])  # noqa: S307
    assert "unreachable" in found.reason  # the frame of the second link is 1 m from the first
    assert abs(np.linalg.norm(found.errors["link1"]) - (np.sqrt(1.25) - 1.0)) < 1e-9
