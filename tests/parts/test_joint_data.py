"""Limits and friction of joints: kept as they are given, checked, and found on the system."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb

INF = np.inf


def arm(**first):
    """Two links and a floating tool; the first joint has the given data."""
    mech = mb.Mechanism("arm")
    inertia = mb.SpatialInertia.sphere(1.0, radius=0.1)
    upper, lower, tool = (mech.add_body(mb.Body(name, inertia)) for name in ("u", "l", "t"))
    mech.add_joint(mb.RevoluteJoint("shoulder"), mech.world, upper, **first)
    mech.add_joint(mb.FixedJoint("weld"), upper, lower)
    limits = mb.JointLimits(velocity=[1, 2, 3], effort=4.0)
    mech.add_joint(mb.SphericalJoint("wrist"), lower, tool, limits=limits)
    return mech


def test_arrays_of_the_system_have_an_entry_for_each_coordinate():
    """In the order of q and v; infinite where nothing is said."""
    mech = arm(limits=mb.JointLimits(-1.5, 2.0, effort=7.0))
    system = mech.assemble()
    expected = [[-1.5, 2.0]] + [[-INF, INF]] * 4
    assert system.position_limits.tolist() == expected
    assert system.velocity_limits.tolist() == [INF, 1.0, 2.0, 3.0]
    assert system.effort_limits.tolist() == [7.0, 4.0, 4.0, 4.0]
    for array in (system.position_limits, system.velocity_limits, system.effort_limits):
        assert not array.flags.writeable


def test_limits_change_no_motion():
    """They are data: equations with and without them are the same to the bit."""
    plain = arm().assemble()
    friction = mb.JointFriction(damping=5.0, friction=1.0)
    limited = arm(limits=mb.JointLimits(-1e-3, 1e-3, 0.0, 0.0), friction=friction).assemble()
    q, v = plain.reference_configuration(), np.array([1.0, 2.0, 3.0, 4.0])
    q[0] = 1.0
    found = limited.forward_dynamics(q, v, np.ones(4))
    assert np.array_equal(found, plain.forward_dynamics(q, v, np.ones(4)))


def test_a_connection_keeps_what_was_given():
    limits, friction = mb.JointLimits(-1, 1), mb.JointFriction(0.1, 0.2)
    mech = arm(limits=limits, friction=friction)
    assert mech.joints["shoulder"].limits == limits
    assert mech.joints["shoulder"].friction == friction
    assert mech.joints["weld"].limits == mb.JointLimits()
    assert mech != arm(limits=limits)
    assert mech == arm(limits=limits, friction=friction)


def test_entries_that_are_all_without_limit_are_the_default():
    """Two spellings of the same limits are equal."""
    assert mb.JointLimits(lower=[-INF, -INF], upper=None) == mb.JointLimits()
    assert mb.JointFriction(damping=(0, 0, 0)) == mb.JointFriction()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: mb.JointLimits(1.0, -1.0), mb.ModelError, "lower must be at most upper"),
        (lambda: mb.JointLimits([0, 1], [1, 0]), mb.ModelError, "lower must be at most upper"),
        (lambda: mb.JointLimits([0, 1], [1, 2, 3]), mb.ModelError, "entry by entry"),
        (lambda: mb.JointLimits(lower=np.nan), mb.ModelError, "lower must be numbers, got nan"),
        (lambda: mb.JointLimits(lower=INF), mb.ModelError, "lower must leave positions, got inf"),
        (lambda: mb.JointLimits(upper=-INF), mb.ModelError, "upper must leave positions, got -inf"),
        (lambda: mb.JointLimits(velocity=-1), mb.ModelError, "velocity must be zero or positive"),
        (lambda: mb.JointLimits(effort=[1, -2]), mb.ModelError, "effort must be zero or positive"),
        (lambda: mb.JointLimits(effort="1"), mb.ShapeError, "effort must be a number, or one for"),
        (lambda: mb.JointLimits(upper=[[1]]), mb.ShapeError, "upper must be a number, or one for"),
        (lambda: mb.JointFriction(damping=-1), mb.ModelError, "damping must be zero or positive"),
        (lambda: mb.JointFriction(friction=INF), mb.ModelError, "friction must be finite, got inf"),
        (lambda: arm(limits=3), mb.UsageError, "limits must be an mbkit.JointLimits, got 3"),
        (
            lambda: arm(limits=mb.JointLimits(lower=[0, 1])),
            mb.ShapeError,
            "Joint 'shoulder': lower must be a number or 1 of them, one for each of its positions",
        ),
        (
            lambda: arm(friction=mb.JointFriction(damping=[0, 1])),
            mb.ShapeError,
            "Joint 'shoulder': damping must be a number or 1 of them",
        ),
    ],
)  # fmt: skip
def test_what_is_no_limit_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "joint",
    [
        mb.SphericalJoint("j"),
        mb.FreeJoint("j"),
        mb.PlanarJoint("j"),
        mb.CompositeJoint("j", mb.RevoluteJoint("a"), mb.SphericalJoint("b")),
    ],
)
@pytest.mark.parametrize("key", ["lower", "upper"])
def test_single_positions_that_are_composed_have_no_limits(joint, key):
    """A bound on one entry of a quaternion says nothing; velocities and efforts have bounds."""
    mech = mb.Mechanism("m")
    body = mech.add_body(mb.Body("b"))
    with pytest.raises(mb.ModelError, match=f"Joint 'j': {key} must be left out, got 0.5: pos"):
        mech.add_joint(joint, "world", body, limits=mb.JointLimits(**{key: 0.5}))
    mech.add_joint(joint, "world", body, limits=mb.JointLimits(velocity=1, effort=2))


@pytest.mark.parametrize(
    "joint",
    [
        mb.SphericalJoint("j", coordinates="second kind"),
        mb.CylindricalJoint("j"),
        mb.CompositeJoint("j", mb.RevoluteJoint("a"), mb.PrismaticJoint("b")),
    ],
)
def test_positions_that_add_have_limits(joint):
    """Whatever the joint: angles, distances."""
    mech = mb.Mechanism("m")
    body = mech.add_body(mb.Body("b", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(joint, "world", body, limits=mb.JointLimits(lower=-0.5, upper=0.25))
    limits = mech.assemble().position_limits
    assert limits.tolist() == [[-0.5, 0.25]] * joint.num_positions


def test_a_refused_joint_leaves_the_mechanism_as_it_was():
    """Limits that do not fit are seen before anything is added."""
    mech = arm()
    body = mech.add_body(mb.Body("b"))
    with pytest.raises(mb.ShapeError):
        mech.add_joint(mb.RevoluteJoint("j"), "u", body, limits=mb.JointLimits([0, 0, 0]))
    mech.add_joint(mb.RevoluteJoint("j"), "u", body)
    assert list(mech.joints) == ["shoulder", "weld", "wrist", "j"]
