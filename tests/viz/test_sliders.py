"""Coordinates moved by hand: loops stay closed, on one branch, and stay behind where it ends."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.viz.viewers.joint_sliders import Posture, last_time, sliders_of
from tests.viz.test_scene import four_bar


def posture_of(system):
    sliders = sliders_of(system, 1.0)
    return Posture(system, system.reference_configuration(), sliders), sliders


def test_a_loop_follows_the_slider_of_its_crank_around_and_back():
    system = four_bar()
    posture, sliders = posture_of(system)
    assert [slider.name for slider in sliders] == [*system.position_names]
    start = posture.q.copy()
    for angle in [*np.linspace(0.0, 2.0 * np.pi, 9), *np.linspace(5.0, 0.0, 4)]:
        posture.move(0, angle)
        assert posture.q[0] == pytest.approx(angle, abs=1e-12)
        assert posture.gap < 1e-12
        assert not posture.message
    np.testing.assert_allclose(posture.q, start, atol=1e-9)  # the same branch


def test_a_rocker_stops_at_its_end_with_the_loop_closed():
    """The largest angle of the rocker is that of crank and coupler in one line."""
    system = four_bar()
    posture, sliders = posture_of(system)
    rocker = next(k for k, slider in enumerate(sliders) if slider.name == "D")
    posture.move(rocker, 2.5)
    assert "D cannot go to 2.5 rad" in posture.message
    assert posture.gap < 1e-9
    elbow = posture.q[[slider.name == "B" for slider in sliders]][0]
    A, B, C = np.array([(0, 0), (0.2, 0.35), (1.04, 0.67)])
    straight = np.arctan2(*(B - A)[::-1]) - np.arctan2(*(C - B)[::-1])
    assert abs(np.sin(elbow - straight)) < 0.05


def test_sliders_have_the_limits_of_joints_and_none_for_prescribed_ones():
    mech = mb.Mechanism("parts")
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    for name in ("first", "second", "third"):
        mech.add_body(mb.Body(name, ball))
    rail = mb.PrismaticJoint("rail")
    mech.add_joint(rail, "world", "first", limits=mb.JointLimits(-0.2, 0.3))
    mech.add_joint(mb.SphericalJoint("ball"), "first", "second")
    mech.add_joint(mb.RevoluteJoint("drive").prescribe(lambda t: 2.0 * t), "world", "third")
    system = mech.assemble()
    posture, sliders = posture_of(system)
    assert [each.name for each in sliders] == ["rail", "ball[0]", "ball[1]", "ball[2]"]
    assert (sliders[0].lower, sliders[0].upper, sliders[0].unit) == (-0.2, 0.3, "m")
    posture.move(2, 0.7)  # a rotation vector, of the quaternion
    R = system.pose("second", posture.q)[:3, :3]
    np.testing.assert_allclose(R, mb.spatial.rotation((0, 1, 0), 0.7)[:3, :3], atol=1e-12)
    assert posture.values() == pytest.approx([0.0, 0.0, 0.7, 0.0])


def driven_four_bar(motion):
    """The four-bar of `four_bar` with its crank driven."""
    mech = mb.Mechanism("four-bar")
    points = {"A": (0, 0, 0), "B": (0.2, 0, 0.35), "C": (1.04, 0, 0.67), "D": (1, 0, 0)}
    bodies = {"A": ("world", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker")}
    for name in ("crank", "coupler", "rocker"):
        mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
    for name, point in points.items():
        joint = mb.RevoluteJoint(name, (0, -1, 0), point)
        joint = joint.prescribe(motion) if name == "A" else joint
        mech.add_joint(joint, *bodies.get(name, ("world", "rocker")))
    return mech.assemble()


@pytest.mark.some(2)
@pytest.mark.parametrize("motion", ["2*t", lambda t: 2.0 * t])
def test_time_drives_a_loop_around_and_back_on_its_branch(motion):
    """A long way in one go, as where the slider is clicked: joints follow as in small steps."""
    system = driven_four_bar(motion)
    posture, sliders = posture_of(system)
    assert "A" not in [slider.name for slider in sliders]
    assert last_time(system, 10.0) == 10.0
    start = posture.q.copy()
    found = []
    for t in (2.0, 3.0, 0.5, 0.0):
        posture.move_to(t)
        assert not posture.message
        assert posture.t == t
        assert posture.q[system.position_slice("A")][0] == pytest.approx(2.0 * t, abs=1e-12)
        assert posture.gap < 1e-10
        found.append(posture.q)
    np.testing.assert_allclose(found[-1], start, atol=1e-9)
    fine, _ = posture_of(system)
    for t in np.linspace(0.0, 2.0, 26):
        fine.move_to(t)
    np.testing.assert_allclose(fine.q, found[0], atol=1e-9)


def test_time_ends_where_a_table_or_a_branch_ends():
    table = {"times": [0.0, 0.5, 1.0, 2.0], "positions": [0.0, 0.1, 0.2, 0.3]}
    assert last_time(driven_four_bar(table), 10.0) == 2.0
    assert last_time(four_bar(), 10.0) == 0.0
    mech = mb.Mechanism("reach")
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    for name, middle in (("upper", 0.5), ("lower", 1.5), ("slider", 2.0)):
        mech.add_body(mb.Body(name, ball, mb.spatial.translation((middle, 0, 0.1))))
    guide = mb.PrismaticJoint("guide", (1, 0, 0)).prescribe("0.1*t")
    mech.add_joint(guide, "world", "slider")
    for name, pair, point in (
        ("a", ("world", "upper"), (0, 0, 0)), ("b", ("upper", "lower"), (1, 0, 0.2)),
        ("c", ("lower", "slider"), (2, 0, 0)),
    ):  # fmt: skip
        mech.add_joint(mb.RevoluteJoint(name, (0, 1, 0), point), *pair)
    system = mech.assemble()
    posture, _ = posture_of(system)
    straight = 2.0 * np.hypot(1.0, 0.2) - 2.0  # of the guide, where upper and lower are in line
    posture.move_to(3.0)
    assert "'guide' cannot go on from t = 0" in posture.message
    assert 0.8 * straight < 0.1 * posture.t <= straight
    assert posture.gap < 1e-9
    posture.move_to(0.0)
    assert not posture.message


def test_a_tree_goes_where_its_drive_is_and_faults_of_its_function_are_told():
    def drive(t):
        return 1.0 / (1.0 - t)

    mech = mb.Mechanism("arm")
    for name in ("upper", "lower"):
        mech.add_body(mb.Body(name, mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("drive").prescribe(drive), "world", "upper")
    mech.add_joint(mb.RevoluteJoint("knee"), "upper", "lower")
    posture, _ = posture_of(mech.assemble())
    posture.move(0, 0.4)
    posture.move_to(0.5)
    np.testing.assert_allclose(posture.q, [2.0, 0.4])
    posture.move_to(1.0)
    assert posture.message.startswith("'drive' cannot go on from t = 0.5 s to 1 s")
    np.testing.assert_allclose(posture.q, [2.0, 0.4])
