"""Reasons why inverse kinematics stops short: limits, distances, rounding; whole turns."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mbkit as mb
from mbkit.kinematics.freedom import Freedom, checked_freedom
from mbkit.lie import SE3
from mbkit.spatial import rotation, translation
from tests.kinematics.arms import ROD, panda, planar_arm, tip


def point(x, y, **options):
    """The target of the tip of a planar arm of links of one metre."""
    return mb.PoseTarget(translation((x, y, 0.0)), frame=tip(1.0), rows="linear", **options)


# --------------------------------------------------------------------------------------- limits


def test_limits_that_hold_an_unreachable_target_are_named():
    """Out of reach by a millimetre without limits; with them the arm stops metres before."""
    arm = planar_arm(1.0, 1.0)
    limits = {"joint0": (-0.5, 0.5), "joint1": (-0.5, 0.5)}
    found = mb.inverse_kinematics(arm, {"link1": point(-2.001, 0.0)}, [0.1, 0.1], limits=limits)
    end = (arm.poses(found.q)[2] @ tip(1.0))[:3, 3]
    off = np.linalg.norm(end - [-2.001, 0.0, 0.0])
    assert off > 3.0
    assert found.reason == (
        f"unreachable: no small motion lessens the weighted error, with 'link1' {off:.6g} m off; "
        "held by limits: joint0, joint1"
    )


@pytest.mark.parametrize(
    ("limits", "goal", "start"),
    [((-0.1, 6.2), 6.0, 0.0), ((-3.1, 3.1), -3.0, 2.0), ((-9.0, -6.4), -7.0, -8.9)],
)
def test_the_way_round_is_found(limits, goal, start):
    """The shorter way ends at a limit; the other way the same pose lies between them."""
    arm = planar_arm(1.0)
    target = {"link0": rotation((0, 0, 1), goal)}
    found = mb.inverse_kinematics(arm, target, [start], limits={"joint0": limits})
    assert found.reason == "reached"
    assert found.q[0] == pytest.approx(goal, abs=1e-9)


@pytest.mark.parametrize(("limits", "goal"), [((-0.1, 5.0), 6.0), ((-0.1, 0.1), 3.0)])
def test_limits_that_leave_no_way_round_are_named(limits, goal):
    arm = planar_arm(1.0)
    target = {"link0": rotation((0, 0, 1), goal)}
    found = mb.inverse_kinematics(arm, target, [0.0], limits={"joint0": limits})
    assert found.reason == "joint limits: joint0"


def test_sliding_and_helical_joints_have_no_turns():
    """Six metres are not the same place as six less a turn."""
    for joint in (mb.PrismaticJoint("j"), mb.HelicalJoint("j", pitch=0.1)):
        mech = mb.Mechanism("m")
        mech.add_joint(joint, mech.world, mech.add_body(mb.Body("b", inertia=ROD)))
        freedom = checked_freedom(mech.assemble(), {"j": (-1.0, 8.0)}, (), "test")
        assert freedom.whole_turns(np.array([-2.0])).tolist() == [-2.0]
    freedom = checked_freedom(planar_arm(1.0), {"joint0": (-1.0, 8.0)}, (), "test")
    turned = [freedom.whole_turns(np.array([q]))[0] for q in (-2.0, 0.5, 9.0, 30.0)]
    assert np.allclose(turned, [-2 + 2 * np.pi, 0.5, 9 - 2 * np.pi, 30 - 8 * np.pi])
    freedom = checked_freedom(planar_arm(1.0), {"joint0": (-1.0, np.inf)}, (), "test")
    assert freedom.whole_turns(np.array([-20.0]))[0] == pytest.approx(-20 + 8 * np.pi)


@pytest.mark.parametrize("pair", [(np.inf, np.inf), (-np.inf, -np.inf), (np.nan, 1.0), (1, -1)])
def test_limits_that_leave_no_position_are_refused(pair):
    """NaN is no limit, infinity on the wrong side leaves nothing; neither word forbids infinity."""
    arm = planar_arm(1.0)
    for limits in ({"joint0": pair}, [pair]):
        with pytest.raises(mb.UsageError, match="-inf and inf stand for none") as caught:
            mb.inverse_kinematics(arm, {"link0": np.eye(4)}, limits=limits)
        assert "neither" not in str(caught.value)
    free = mb.inverse_kinematics(arm, {"link0": np.eye(4)}, limits=[(-np.inf, np.inf)])
    assert free.converged


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_both_sides_of_a_saddle_are_tried(sign):
    """A stretched elbow that can bend to one side alone bends to that one."""
    arm = planar_arm(1.0, 1.0)
    limits = {"joint1": sorted((-sign * 1e-4, sign * 2.5))}
    found = mb.inverse_kinematics(arm, {"link1": point(1.0, 0.0)}, [0.0, 0.0], limits=limits)
    assert found.reason == "reached"
    assert sign * found.q[1] == pytest.approx(2 * np.pi / 3, abs=1e-8)


def test_a_flat_saddle_is_one():
    """A millimetre short of stretched, the curvature falls by 1e-4 of the largest alone."""
    arm = planar_arm(1.0, 1.0)
    found = mb.inverse_kinematics(arm, {"link1": point(1.999, 0.0)}, [0.0, 0.0])
    assert found.reason == "reached"
    assert abs(found.q[1]) == pytest.approx(2 * np.arccos(1.999 / 2), abs=1e-6)


# ------------------------------------------------------------------------------------- how far off


def test_distances_are_distances():
    """Not the linear part of the logarithm, which is longer where there is a turn."""
    arm = planar_arm(1.0, 1.0, 1.0)
    target = translation((2.5, 0, 0)) @ rotation((0, 0, 1), 2.0)
    found = mb.inverse_kinematics(arm, {"link2": target}, [0.1, 0.0, 0.1], limits=[(-0.2, 0.2)] * 3)
    off = np.linalg.inv(target) @ arm.poses(found.q)[3]
    angle = np.arccos((np.trace(off[:3, :3]) - 1) / 2)
    distance = np.linalg.norm(off[:3, 3])
    told = re.search(r"with 'link2' (.*) rad and (.*) m off", found.reason)
    assert float(told[1]) == pytest.approx(angle, rel=1e-5)
    assert float(told[2]) == pytest.approx(distance, rel=1e-5)
    assert np.linalg.norm(SE3.log(off)[3:]) > 1.05 * distance


def test_only_what_is_missed_is_told():
    arm = planar_arm(1.0, 1.0)
    target = rotation((0, 1, 0), 0.25)
    rows = mb.PoseTarget(target, rows="angular")
    found = mb.inverse_kinematics(arm, {"link0": np.eye(4), "link1": rows}, [0.1, 0.2])
    assert "with 'link1' 0.25 rad off" in found.reason
    assert "link0" not in found.reason


@pytest.mark.parametrize("tolerance", [1e-20, 1e-300])
def test_a_tolerance_below_rounding_is_told(tolerance):
    system = panda()
    target = {"link7": system.poses([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])[7]}
    found = mb.inverse_kinematics(system, target, np.full(7, 0.3), tolerance=tolerance)
    assert re.fullmatch(r"stopped at rounding: with 'link7' .*e-1[67] (m|rad) off", found.reason)
    far = mb.inverse_kinematics(planar_arm(1.0), {"link0": point(2, 0)}, tolerance=tolerance)
    assert far.reason.startswith("unreachable")


@pytest.mark.parametrize("weight", [1e-4, 1e4])
def test_the_tolerance_is_in_metres_and_radians_whatever_the_weights(weight):
    """A weight says what counts more, not how near is near enough."""
    arm = planar_arm(1.0, 0.7, 1.0)
    goal = arm.poses([0.4, 0.5, 0.6])[3]
    steps = []
    for weights in ({}, {"linear_weight": weight, "angular_weight": weight}):
        target = mb.PoseTarget(goal, **weights)
        found = mb.inverse_kinematics(arm, {"link2": target}, [0.1, 0.2, 0.3], tolerance=1e-11)
        assert found.converged
        assert np.abs(found.errors["link2"]).max() <= 1e-11
        steps.append(found.iterations)
    assert steps[0] == steps[1]


# --------------------------------------------------------------------------------- random starts


def test_random_starts_are_as_far_as_turns_and_the_mechanism_go():
    """Angles up to pi, distances up to its size; what is between limits is uniform there."""
    mech = mb.Mechanism("crane")
    trolley = mech.add_body(mb.Body("trolley", inertia=ROD))
    hook = mech.add_body(mb.Body("hook", inertia=ROD))
    mech.add_joint(mb.PrismaticJoint("rail", (1, 0, 0)), mech.world, trolley)
    mech.add_joint(mb.RevoluteJoint("turn"), trolley, hook, reference=translation((0, 90.0, 0)))
    system = mech.assemble()
    freedom = checked_freedom(system, {}, (), "test")
    rng = np.random.default_rng(0)
    starts = np.array([freedom.random(rng, np.zeros(2)) for _ in range(200)])
    size = 60.0  # origins at 0, 0 and 90 m: the farthest from their mean
    assert size * 0.9 < np.abs(starts[:, 0]).max() <= size
    assert np.pi * 0.9 < np.abs(starts[:, 1]).max() <= np.pi


def test_one_singular_sample_does_not_hide_a_singular_posture(monkeypatch):
    """Postures to compare the rank with are drawn at random, and may be singular themselves."""
    drawn = []
    monkeypatch.setattr(
        Freedom,
        "random",
        lambda _, rng, q: drawn.append(q) or (q if len(drawn) == 1 else np.array([0.3, 0.4])),
    )
    arm = planar_arm(1.0, 1.0)
    found = mb.inverse_kinematics(arm, {"link1": point(3.0, 0.0)}, [0.1, 0.2])
    assert found.singular
    assert len(drawn) == 2


# ------------------------------------------------------------------------------------- preferences


def test_a_wish_that_changes_abruptly_is_met():
    """Steps of the length of the last slope would jump to and fro over the bend for ever."""
    mech = mb.Mechanism("two slides")
    before = mech.world
    for name in ("first", "second"):
        body = mech.add_body(mb.Body(name, inertia=ROD))
        joint = mb.PrismaticJoint(f"{name} slide", (1, 0, 0))
        mech.add_joint(joint, before, body, frames=(np.eye(4), np.eye(4)))
        before = body
    target = mb.PoseTarget(translation((1, 0, 0)), rows="linear")

    def gradient(q):
        return np.array([np.tanh(50 * (q[0] - 0.3)), 0.0])

    found = mb.inverse_kinematics(
        mech.assemble(), {"second": target}, [0.9, 0.1], preferred=gradient
    )
    assert found.preference_left <= 1e-6
    assert found.q == pytest.approx([0.3, 0.7], abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tolerance": "a"}, "tolerance must be a positive number, got 'a'"),
        ({"tolerance": np.nan}, "tolerance must be a positive number, got nan"),
        ({"preference_tolerance": None}, "preference_tolerance must be a positive number, got No"),
        ({"seed": -1}, "seed must be a whole number from 0 on, got -1"),
        ({"seed": "x"}, "seed must be a whole number from 0 on, got 'x'"),
        ({"max_iterations": 10.0}, "max_iterations must be a whole number from 0 on, got 10.0"),
    ],
)  # fmt: skip
def test_numbers_that_are_none_are_refused(arguments, message):
    with pytest.raises(mb.UsageError, match=message):
        mb.inverse_kinematics(planar_arm(1.0), {"link0": np.eye(4)}, **arguments)


def test_limits_of_a_joint_with_several_positions_are_rows():
    """By its name, wherever its positions stand, they are those rows of the limits of all."""
    mech = mb.Mechanism("cross on a hinge")
    box = mb.SpatialInertia.box(1.0, size=(0.1, 0.2, 0.3))
    for name, on, joint in (
        ("arm", "world", mb.RevoluteJoint("hinge")),
        ("hand", "arm", mb.UniversalJoint("cross")),
    ):
        mech.add_body(mb.Body(name, box))
        mech.add_joint(joint, on, name)
    system = mech.assemble()
    target = {"hand": system.poses([0.4, 0.5, -0.6])[system.body_index("hand")]}
    rows = [(-0.2, 0.1), (-0.3, 0.2)]
    free = (-np.inf, np.inf)
    by_name, of_all = (
        mb.inverse_kinematics(system, target, np.zeros(3), limits=limits)
        for limits in ({"cross": rows}, [free, *rows])
    )
    assert by_name.q.tolist() == of_all.q.tolist()
    assert by_name.q[1] <= 0.1 < 0.5
