"""A pose that a subclass of a joint of mbkit overrides is obeyed everywhere.

The oracle is the same joint by its pose alone, derived from `mbkit.Joint`.
"""

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import representations_in_turn
from tests.joints.overridden import (
    bent_pair,
    closed,
    configuration,
    loop_of,
    state_of_tree,
    system_of,
)
from tests.joints.pose_only import TWINS

MOVING = {name: each for name, each in TWINS.items() if name != "fixed"}
CLOSING = {name: each for name, each in MOVING.items() if each[0]("j").num_velocities < 6}

#: Joints of each kind, for laws that know nothing of what the joint was; others in `make long`.
FEW = ("revolute", "spherical", "helical planar", "composite")

#: For laws of all derivatives, which take seconds: positions that add, and a quaternion.
TWO = ("revolute", "spherical")

each_joint = pytest.mark.parametrize("pair", TWINS.values(), ids=TWINS)
few_joints, two_joints = (
    pytest.mark.parametrize(
        "pair",
        [
            pytest.param(pair, id=name, marks=[] if name in kept else pytest.mark.long)
            for name, pair in MOVING.items()
        ],
    )
    for kept in (FEW, TWO)
)


@pytest.mark.some(2)
@each_joint
def test_all_methods_follow_from_an_overridden_pose(pair):
    """Motion subspace, bias, wrenches and the configuration of a pose."""
    joint, twin = bent_pair(pair)
    q = configuration(joint)
    v = np.random.default_rng(6).normal(size=joint.num_velocities)
    T = twin.pose(q)
    np.testing.assert_allclose(joint.pose(q), T, atol=1e-12)
    np.testing.assert_allclose(joint.motion_subspace(q), twin.motion_subspace(q), atol=1e-10)
    np.testing.assert_allclose(joint.bias(q, v), twin.bias(q, v), atol=1e-9)
    work = joint.constraint_wrenches(q).T @ joint.motion_subspace(q)
    np.testing.assert_allclose(work, 0.0, atol=1e-12)
    np.testing.assert_allclose(joint.pose(joint.configuration_from_pose(T)), T, atol=1e-9)
    assert joint.kernels() is None
    assert joint.screw_form() is None
    assert not joint.zero_reference
    assert not joint.constant_subspace


@two_joints
def test_such_a_joint_passes_all_checks(pair):
    """Those that joints of users pass."""
    mb.testing.check_joint(bent_pair(pair)[0]).raise_if_failed()


@pytest.mark.some(5)
@representations_in_turn("pair", TWINS)
def test_a_tree_moves_by_an_overridden_pose(pair, representation):
    """Poses, dynamics, their derivatives and jerks are those of the pose-only joint."""
    system, other = (system_of(joint, representation) for joint in bent_pair(pair))
    q, v, x = state_of_tree(system)
    assert system.nq == other.nq
    np.testing.assert_allclose(system.poses(q), other.poses(q), atol=1e-12)
    for name, arguments in (
        ("forward_dynamics", (q, v, x)),
        ("inverse_dynamics", (q, v, x)),
        ("mass_matrix", (q,)),
        ("twists", (q, v)),
    ):
        found, expected = (getattr(each, name)(*arguments) for each in (system, other))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.some(5)
@representations_in_turn("pair", CLOSING)
def test_a_loop_is_closed_by_an_overridden_pose(pair, representation):
    """The same configurations close it, with the same accelerations and reactions."""
    joint, twin = bent_pair(pair)
    system, other = (loop_of(each, representation) for each in (joint, twin))
    q = closed(system, twin)
    np.testing.assert_allclose(system.constraint_residual(q), 0.0, atol=1e-9)
    A, v = system.constraint_jacobian(q), np.random.default_rng(7).normal(size=system.nv)
    v -= np.linalg.pinv(A) @ (A @ v)
    np.testing.assert_allclose(other.constraint_jacobian(q) @ v, 0.0, atol=1e-9)
    expected = other.forward_dynamics(q, v)
    np.testing.assert_allclose(system.forward_dynamics(q, v), expected, rtol=1e-7, atol=1e-7)


@two_joints
def test_derivatives_and_jerks_are_those_of_the_pose(pair):
    """By position and velocity, and along the motion."""
    system, other = (system_of(joint) for joint in bent_pair(pair))
    q, v, x = state_of_tree(system)
    for found, expected in zip(
        system.inverse_dynamics_derivatives(q, v, x),
        other.inverse_dynamics_derivatives(q, v, x),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    rates = (q, v, x, np.zeros(system.nv))
    np.testing.assert_allclose(system.jerks(*rates), other.jerks(*rates), rtol=1e-6, atol=1e-6)


@few_joints
def test_a_batch_is_computed_as_single_samples_are(pair):
    """Bit by bit."""
    system = system_of(bent_pair(pair)[0])
    states = [state_of_tree(system, seed) for seed in range(3)]
    q, v, x = (np.array(each) for each in zip(*states, strict=True))
    single = [system.forward_dynamics(*each) for each in zip(q, v, x, strict=True)]
    assert np.array_equal(system.forward_dynamics(q, v, x), single)
