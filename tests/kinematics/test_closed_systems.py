"""What moves joints one by one refuses systems whose joints cannot, and says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.constraints.closed_mechanisms import four_bar, stewart
from tests.kinematics.arms import planar_arm


def fingers(*, held):
    """Two fingers on one slide of a hand, the second moved as the first."""
    mech = mb.Mechanism("gripper")
    ball = mb.SpatialInertia.sphere(1.0, radius=0.01)
    for name, axis in (("left", (1, 0, 0)), ("right", (-1, 0, 0))):
        finger = mb.PrismaticJoint(name, axis=axis)
        mech.add_joint(finger, mech.world, mech.add_body(mb.Body(f"{name} finger", ball)))
    if held:
        mech.add_constraint(mb.PolynomialCoupling("alike", "left", "right", (0.0, 1.0)))
    return mech


def driven():
    """An arm of which the first joint follows a function."""
    mech = mb.Mechanism("arm")
    ball = mb.SpatialInertia.sphere(1.0, radius=0.1)
    base, hand = mech.add_body(mb.Body("base", ball)), mech.add_body(mb.Body("hand", ball))
    turn = mb.RevoluteJoint("turn").prescribe(lambda t: 0.5 * t)
    mech.add_joint(turn, mech.world, base)
    mech.add_joint(mb.PrismaticJoint("reach", axis=(1, 0, 0)), base, hand)
    return mech.assemble()


CLOSED = {
    "four-bar": (four_bar, None, "AB", r"constraint 'CD'|constraint '[A-D]'"),
    "four-bar, absolute": (four_bar, mb.AbsoluteCoordinates(), None, "'A', 'B', 'C', 'D'"),
    "Stewart platform": (stewart, None, "platform", "'top [0-5]'"),
    "fingers": (lambda: fingers(held=True), None, "left finger", "constraint 'alike'"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_systems_are_refused(name):
    """By the names of what holds them, with what finds configurations of theirs."""
    make, coordinates, _, what = CLOSED[name]
    system = make().assemble() if coordinates is None else make().assemble(coordinates)
    body = system.body_names[-1]
    q = system.reference_configuration()
    with pytest.raises(mb.UsageError, match=f"inverse_kinematics moves every joint.*{what}") as e:
        mb.inverse_kinematics(system, {body: system.poses(q)[-1]}, q)
    assert "PrescribedPose" in str(e.value)
    assert "system.close_loops" in str(e.value)
    with pytest.raises(mb.UsageError, match=f"manipulability moves every joint.*{what}") as e:
        mb.manipulability(system, body, q, "linear")
    assert "system.consistent_velocity" in str(e.value)


def test_the_same_fingers_by_themselves_are_not():
    """It is the coupling that is refused."""
    system = fingers(held=False).assemble()
    target = SE3.exp(np.r_[0.0, 0.0, 0.0, 0.02, 0.0, 0.0])
    found = mb.inverse_kinematics(system, {"left finger": target})
    assert found.reason == "reached"


def test_the_remedy_brings_the_platform_where_it_shall_be():
    """A prescribed pose is a target that close_loops reaches, legs and all."""
    mech = stewart()
    pose = np.array(mech.bodies["platform"].pose)
    target = pose @ SE3.exp([0.05, -0.1, 0.2, 0.03, 0.02, 0.04])
    mech.add_constraint(mb.PrescribedPose("target", "platform", lambda t: target + 0.0 * t))
    system = mech.assemble()
    q = system.close_loops(system.reference_configuration())
    found = system.poses(q)[system.body_index("platform")]
    np.testing.assert_allclose(found, target, atol=1e-10)
    assert np.abs(system.constraint_residual(q)).max() < 1e-10


def test_prescribed_joints_are_refused_unless_they_are_locked():
    """Their positions are those of their functions, not to be chosen."""
    system = driven()
    target = mb.PoseTarget(mb.spatial.translation((0.3, 0.0, 0.0)), rows="linear")
    with pytest.raises(mb.UsageError, match=r"motion of 'turn' is prescribed.*locked=\['turn'\]"):
        mb.inverse_kinematics(system, {"hand": target}, [0.2, 0.1])
    with pytest.raises(mb.UsageError, match="motion of 'turn' is prescribed"):
        mb.manipulability(system, "hand", [0.2, 0.1], "linear")
    found = mb.inverse_kinematics(system, {"hand": target}, [0.0, 0.1], locked=["turn"])
    assert found.reason == "reached"
    np.testing.assert_allclose(found.q, [0.0, 0.3], atol=1e-8)


def test_rates_from_twists_that_fit_are_exact_in_closed_systems_too():
    """They move nothing: each joint's rate is read from the twists beside it."""
    system = four_bar().assemble()
    q = system.reference_configuration()
    v = system.consistent_velocity({"A": 0.7}, q)
    np.testing.assert_allclose(mb.rates_from_twists(system, q, system.twists(q, v)), v, atol=1e-12)


def test_open_arms_go_on_as_before():
    """No constraint, no complaint."""
    arm = planar_arm(1.0, 1.0)
    q = np.array([0.2, 0.9])
    body = arm.body_names[-1]
    found = mb.inverse_kinematics(arm, {body: arm.poses(q)[-1]}, [0.1, 0.5])
    assert found.reason == "reached"
