"""Methods of joints of mbkit that a subclass overrides are obeyed, with what follows from them."""

import math

import numpy as np
import pytest

import mbkit as mb
from mbkit.joints.defaults.overriding import moves_as
from mbkit.lie import UnitQuaternion
from mbkit.spatial import inverse
from tests.joints.overridden import (
    bent_pair,
    configuration,
    hinge,
    loop_of,
    overriding,
    same_motion,
    state_of_tree,
    system_of,
)
from tests.joints.pose_only import TWINS
from tests.joints.test_overridden_pose import FEW
from tests.trees import random_pose

few_joints = pytest.mark.parametrize("pair", [TWINS[name] for name in FEW], ids=FEW)


# --------------------------------------------------------------- what nothing follows from


@pytest.mark.parametrize("pair", TWINS.values(), ids=TWINS)
def test_a_random_configuration_of_its_own_leaves_the_rest_as_it_is(pair):
    """Heard, and computed as before, bit by bit."""
    joint = pair[0]("j")
    q = configuration(joint)
    mine = overriding(joint, random=lambda self, rng: q)
    assert np.array_equal(mine.random(np.random.default_rng(0)), q)
    assert moves_as(mine, type(joint))
    assert type(mine.kernels()) is type(joint.kernels())
    assert mine.screw_form() == joint.screw_form()
    one, other = system_of(mine), system_of(joint)
    state = state_of_tree(other)
    assert np.array_equal(one.forward_dynamics(*state), other.forward_dynamics(*state))


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("position_units", ("turns",)),
        ("singularity_remedy", "turn back"),
        ("random", lambda self, rng: np.array([0.25])),
        ("time_to_lock", lambda self, q, w: 7.0),
        ("neutral", lambda self: np.array([0.5])),
    ],
)
def test_a_hinge_stays_one_beside_these(method, value):
    """What says nothing of its motion."""
    joint = overriding(hinge(), **{method: value})
    assert moves_as(joint, mb.RevoluteJoint)
    assert joint.screw_form() == (1.0, 0.0)


def test_rates_of_positions_that_add_are_asked_for():
    """Of a class that defines them, for all samples; and when they may be infinite."""
    joint = overriding(
        hinge(), position_rates=lambda self, q, w: 3.0 * w, time_to_lock=lambda self, q, w: 0.25
    )
    system = system_of(joint)
    q, v, *_ = state_of_tree(system)
    own = system.position_slice("j")
    expected = system_of(hinge()).position_rates(q, v)
    expected[own] *= 3.0
    np.testing.assert_array_equal(system.position_rates([q, q], [v, -v]), [expected, -expected])
    assert system.time_to_lock(q, v) == (0.25, "j")


def test_another_neutral_configuration_is_where_a_motion_starts():
    """It is then not said to give the identity."""
    joint = overriding(hinge(), neutral=lambda self: np.array([0.5]))
    system = system_of(joint)
    assert system.reference_configuration()[system.position_slice("j")] == [0.5]
    assert not joint.zero_reference


def test_a_measure_of_singular_configurations_is_heard_row_by_row():
    """`singularities` follows from `singularity`."""
    gimbals = mb.SphericalJoint("j", coordinates="second kind")
    joint = overriding(gimbals, singularity=lambda self, q: abs(q[0]))
    assert np.array_equal(joint.singularities(np.array([[-2.0, 0, 0], [1.0, 0, 0]])), [2.0, 1.0])
    assert moves_as(joint, mb.SphericalJoint)


# ----------------------------------------------------------------- what others follow from


@few_joints
def test_faster_methods_are_taken_with_the_pose(pair):
    """A class that gives motion subspace and bias beside its pose is asked for them."""
    _, twin = bent_pair(pair)
    asked = []

    def subspace(self, q):
        asked.append("motion_subspace")
        return twin.motion_subspace(q)

    def bias(self, q, v):
        asked.append("bias")
        return twin.bias(q, v)

    methods = {"pose": lambda self, q: twin.pose(q), "motion_subspace": subspace, "bias": bias}
    same_motion(overriding(pair[0]("j"), **methods), twin)
    assert {"motion_subspace", "bias"} <= set(asked)


@few_joints
def test_a_motion_subspace_alone_is_asked_for(pair):
    """With the pose of mbkit: columns twice as long are seen in all Jacobians."""
    joint = pair[0]("j")
    own = type(joint).motion_subspace
    system = system_of(overriding(joint, motion_subspace=lambda self, q: 2.0 * own(self, q)))
    plain = system_of(joint)
    q, *_ = state_of_tree(plain)
    columns = plain.velocity_slice("j")
    expected = plain.jacobian("c", q)
    expected[:, columns] *= 2.0
    np.testing.assert_allclose(system.jacobian("c", q), expected, atol=1e-12)


def test_the_wrenches_of_a_loop_joint_are_asked_for():
    """Rows in another order close the same loop."""
    joint = hinge()
    own = type(joint).constraint_wrenches
    systems = [
        loop_of(overriding(joint, constraint_wrenches=lambda self, q, k=k: own(self, q)[:, ::k]))
        for k in (1, -1)
    ]
    q = systems[0].reference_configuration()
    one, reversed_ = (each.constraint_jacobian(q) for each in systems)
    np.testing.assert_allclose(reversed_, one[::-1], atol=1e-12)


def test_another_configuration_of_a_pose_is_taken():
    """Angles between zero and a full turn."""
    joint = overriding(
        hinge(),
        configuration_from_pose=lambda self, T: (
            mb.RevoluteJoint.configuration_from_pose(self, T) % (2.0 * math.pi)
        ),
    )
    T = joint.pose(np.array([-1.0]))
    np.testing.assert_allclose(joint.configuration_from_pose(T), [2.0 * math.pi - 1.0])
    mech = mb.Mechanism("hinge")
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(joint, mech.world, body, frames=(np.eye(4), np.eye(4), T))
    np.testing.assert_allclose(mech.assemble().reference_configuration(), [2.0 * math.pi - 1.0])


def test_steps_of_its_own_define_the_velocity():
    """A ball whose velocity is in the axes of the predecessor: steps come from the left."""

    def retract(self, q, dx):
        return UnitQuaternion.compose(UnitQuaternion.exp(dx), q)

    def difference(self, q0, q1):
        return UnitQuaternion.log(UnitQuaternion.compose(q1, UnitQuaternion.inverse(q0)))

    ball = mb.SphericalJoint("j", point=(0.1, 0.2, 0.3))
    joint = overriding(ball, retract=retract, difference=difference)
    mb.testing.check_joint(joint).raise_if_failed()
    q = configuration(joint)
    R = joint.pose(q)[:3, :3]
    np.testing.assert_allclose(joint.motion_subspace(q)[:3], R.T, atol=1e-12)
    system = system_of(joint)
    state = state_of_tree(system)
    # the same motion, by the velocity in the axes of the successor
    plain = system_of(ball)
    Q = state[0][system.position_slice("j")]
    turn, rows = UnitQuaternion.Ad(Q), system.velocity_slice("j")
    v = state[1].copy()
    v[rows] = turn.T @ v[rows]
    np.testing.assert_allclose(system.twists(*state[:2]), plain.twists(state[0], v), atol=1e-12)


def test_what_a_pose_is_computed_from_may_be_overridden():
    """A hinge that turns twice as fast, by the rate of its screw."""
    joint = overriding(hinge(), rate=2.0)
    np.testing.assert_allclose(joint.pose([0.3]), hinge().pose([0.6]), atol=1e-15)
    assert not moves_as(joint, mb.RevoluteJoint)
    one, other = system_of(joint), system_of(hinge())
    q, v, _ = state_of_tree(one)
    fast, rate = q.copy(), v.copy()
    fast[one.position_slice("j")] *= 2.0
    rate[one.velocity_slice("j")] *= 2.0
    np.testing.assert_allclose(one.twists(q, v), other.twists(fast, rate), atol=1e-12)


def test_a_canonical_frame_of_its_own_moves_a_joint_of_mbkit():
    """Its poses are those of its motion in that frame."""
    K = random_pose(np.random.default_rng(9))
    sleeve = mb.CylindricalJoint("j")
    joint = overriding(sleeve, canonical_frame=K)
    q = configuration(joint)
    np.testing.assert_allclose(joint.pose(q), K @ sleeve.pose(q) @ inverse(K), atol=1e-15)
    mb.testing.check_joint(joint).raise_if_failed()


# ----------------------------------------------------------------- joints made of joints
