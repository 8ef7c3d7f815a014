"""The forces of a mechanism act in every method that speaks of motions or efforts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from tests.constraints.loops import consistent, mobile_loops
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.trees import random_state

TIMES = np.array([0.2, 0.9, 1.3])


def assert_close(found, expected, tolerance=1e-11):
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * size)


@pytest.fixture(scope="module")
def mechanism():
    """A tree with a force of every kind, some of which depend on time."""
    rng = np.random.default_rng(70)
    mech, single = tree(rng, 9)
    for force in every_force(rng, mech, single):
        mech.add_force(force)
    return mech


@pytest.mark.slow
@each_representation
def test_trees_answer_with_their_forces(mechanism, representation):
    """As the tree without forces does under tau + f, at three times in one call."""
    system = mechanism.assemble(mb.RelativeCoordinates(representation))
    bare = system.without_forces()
    assert bare.force_names == ()
    rng = np.random.default_rng(71)
    s = random_state(rng, system, 0.7)
    q, v, vdot, tau = s.q, s.v, s.vdot, s.tau
    W = rng.normal(size=(len(system.body_names), 6))
    f = system.generalized_forces(q, v, TIMES)
    assert np.abs(f[0] - f[1]).max() > 1e-2
    expected = bare.forward_dynamics(q, v, tau + f, W)
    assert_close(system.forward_dynamics(q, v, tau, W, t=TIMES), expected)
    assert_close(system.solve_dynamics(q, v, tau, W, t=TIMES)[0], expected)
    assert_close(
        system.forward_dynamics(q, v, t=TIMES, out=np.empty_like(f)), bare.forward_dynamics(q, v, f)
    )
    needed = bare.inverse_dynamics(q, v, vdot, W) - f
    assert_close(system.inverse_dynamics(q, v, vdot, W, t=TIMES), needed)
    assert_close(system.inverse_dynamics(q, v, vdot, W, t=TIMES, out=np.empty_like(f)), needed)
    held = system.joint_names[1:4]
    given = {"vdot": vdot, "prescribed": held, "wrenches": W}
    a, total = bare.hybrid_dynamics(q, v, tau=tau + f, **given)
    found = system.hybrid_dynamics(q, v, tau=tau, t=TIMES, **given)
    assert_close(found[0], a)
    assert_close(found[1], total - f, 1e-10)
    f_q, f_v = system.force_derivatives(q, v, TIMES)
    by_q, by_v, by_tau = bare.forward_dynamics_derivatives(q, v, tau + f, W)
    found = system.forward_dynamics_derivatives(q, v, tau, W, t=TIMES)
    for each, alone in zip(found, (by_q + by_tau @ f_q, by_v + by_tau @ f_v, by_tau), strict=True):
        assert_close(each, alone)
    by_q, by_v = bare.inverse_dynamics_derivatives(q, v, vdot, W)
    found = system.inverse_dynamics_derivatives(q, v, vdot, W, t=TIMES)
    for each, alone in zip(found, (by_q - f_q, by_v - f_v), strict=True):
        assert_close(each, alone)


@pytest.mark.some(2)
@each_representation
def test_closed_mechanisms_answer_with_their_forces(representation):
    """Accelerations, multipliers, actuators' efforts and reactions."""
    rng = np.random.default_rng(72)
    bare, q = mobile_loops(rng, 8, ("spherical", "cylindrical", "universal"), representation)
    tree = bare.arrays.tree_joints
    one = next(name for name, joint in tree.items() if joint.num_velocities == 1)
    bodies = bare.body_names
    system = bare.with_forces([
        mb.SpringDamper("strut", bodies[1], bodies[6], stiffness=30.0, rest_length=0.2),
        mb.JointDamper("oil", one, damping=1.5),
        mb.JointEffort("motor", one, effort=[0.0, 2.0, -1.0], times=[0.0, 0.5, 1.0]),
    ])  # fmt: skip
    v, tau, t = consistent(system, q, rng.normal(size=system.nv)), rng.normal(size=system.nv), 0.7
    f = system.generalized_forces(q, v, t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        found = system.solve_dynamics(q, v, tau, t=t)
        expected = bare.solve_dynamics(q, v, tau + f)
    for each, alone in zip(found, expected, strict=True):
        assert_close(each, alone, 1e-10)
    vdot = found[0]
    actuated = {"actuated": system.joint_names, "minimise": "effort"}
    efforts = system.closed_inverse_dynamics(q, v, vdot, t=t, **actuated).efforts
    assert_close(efforts, bare.closed_inverse_dynamics(q, v, vdot, tau=f, **actuated).efforts, 1e-9)
    assert_close(system.forward_dynamics(q, v, efforts, t=t), vdot, 1e-9)


@pytest.mark.slow
def test_frequency_of_a_pendulum_with_a_spring():
    """By derivatives, by accelerations, by a run, and by (k + m g l) / (m l^2)."""
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(2.0, (0, 0, -0.5))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    mech.add_force(mb.JointSpring("spring", "hinge", stiffness=6.0))
    system = mech.assemble()
    expected = np.sqrt((6.0 + 2.0 * 9.81 * 0.5) / (2.0 * 0.5**2))
    by_q = system.forward_dynamics_derivatives([0.0], [0.0])[0]
    assert np.sqrt(-by_q[0, 0]) == pytest.approx(expected, rel=1e-12)
    x = 1e-5
    vdot = system.solve_dynamics([x], [0.0])[0]
    assert np.sqrt(-vdot[0] / x) == pytest.approx(expected, rel=1e-6)
    end = 4 * 2.0 * np.pi / expected  # after four periods
    run = mb.simulate(system, (0.0, end), end / 4000, q=[1e-4], v=[0.0])
    late = -run.v[-1, 0] / (expected**2 * run.q[-1, 0])
    assert abs(late) / end < 1e-6
