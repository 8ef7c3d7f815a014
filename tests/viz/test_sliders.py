"""Coordinates moved by hand: loops stay closed, on one branch, and stay behind where it ends."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.viz.joint_sliders import Posture, sliders_of
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
