"""Joints in plain Python, inside compiled forward dynamics and the compiled time loop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbkit as mb
from tests.reference.user_joints import BallJoint, CardanJoint, EllipseJoint
from tests.trees import random_inertia, random_mechanism, random_pose, random_state


def add(mech, name, joint, predecessor, inertia, rng):
    """Add a body behind a joint with random frames, the same for equal generators."""
    body = mech.add_body(mb.Body(name, inertia=inertia))
    frames = random_pose(rng), random_pose(rng)
    mech.add_joint(joint, predecessor, body, frames=frames)
    return body


@pytest.fixture(scope="module")
def cardan_pair():
    """An arm with a Cardan joint in Python; one with two revolute joints and a weightless cross."""
    systems = []
    for custom in (True, False):
        rng = np.random.default_rng(11)
        mech = mb.Mechanism("arm")
        base = add(mech, "base", mb.RevoluteJoint("turn"), mech.world, random_inertia(rng), rng)
        S_pred, S_succ = random_pose(rng), random_pose(rng)
        tool = mech.add_body(mb.Body("tool", inertia=random_inertia(rng)))
        if custom:
            mech.add_joint(CardanJoint("wrist"), base, tool, frames=(S_pred, S_succ))
        else:
            cross = mech.add_body(mb.Body("cross"))
            first = mb.RevoluteJoint("x", axis=(1, 0, 0))
            mech.add_joint(first, base, cross, frames=(S_pred, np.eye(4)))
            second = mb.RevoluteJoint("y", axis=(0, 1, 0))
            mech.add_joint(second, cross, tool, frames=(np.eye(4), S_succ))
        add(mech, "tip", mb.SphericalJoint("ball"), tool, random_inertia(rng), rng)
        systems.append(mech.assemble())
    return systems


@pytest.fixture(scope="module")
def state(cardan_pair):
    """One state; both arms have the same coordinates in the same order."""
    return random_state(np.random.default_rng(12), cardan_pair[0])


def test_dynamics_of_cardan_joint(cardan_pair, state):
    """Forward and inverse dynamics, mass matrix and tip are those of the two revolute joints."""
    custom, compiled = cardan_pair
    q, v = state.q, state.v
    for found, expected in (
        (custom.forward_dynamics(q, v, state.tau), compiled.forward_dynamics(q, v, state.tau)),
        (custom.inverse_dynamics(q, v, state.vdot), compiled.inverse_dynamics(q, v, state.vdot)),
        (custom.mass_matrix(q), compiled.mass_matrix(q)),
        (custom.poses(q)[-1], compiled.poses(q)[-1]),
        (custom.twists(q, v)[-1], compiled.twists(q, v)[-1]),
        (custom.jacobian("tip", q), compiled.jacobian("tip", q)),
    ):
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("joint", [CardanJoint("joint"), BallJoint("joint")])
def test_steps_from_one_configuration_to_another(joint):
    """The difference leads from the first to the second, by as much as was gone."""
    rng = np.random.default_rng(14)
    mech = mb.Mechanism("one")
    add(mech, "body", joint, mech.world, random_inertia(rng), rng)
    system = mech.assemble()
    q = system.retract(system.reference_configuration(), 0.4 * rng.normal(size=system.nv))
    x = 0.5 * rng.normal(size=system.nv)
    np.testing.assert_allclose(system.difference(q, system.retract(q, x)), x, rtol=0, atol=1e-14)


@pytest.mark.compiled  # hundreds of steps
def test_simulation_with_cardan_joint(cardan_pair, state):
    """The compiled loop takes the arm the same way with either joint."""
    runs = [
        mb.simulate(system, (0.0, 0.2), 1e-3, q=state.q, v=state.v, tau=state.tau)
        for system in cardan_pair
    ]
    # equal but for round-off, which the motion amplifies
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(runs[0].v, runs[1].v, rtol=0.0, atol=1e-9)
    assert np.ptp(runs[0].q[:, 1]) > 0.1


@pytest.mark.compiled  # hundreds of steps
def test_group_coordinates_in_python():
    """A ball joint with a rotation matrix for positions moves as the built-in with a quaternion."""
    runs = []
    for joint in (BallJoint("ball"), mb.SphericalJoint("ball")):
        rng = np.random.default_rng(13)
        mech = mb.Mechanism("top")
        frames = random_pose(rng), random_pose(rng)
        body = mech.add_body(mb.Body("body", inertia=random_inertia(rng)))
        mech.add_joint(joint, mech.world, body, frames=frames)
        system = mech.assemble()
        q = system.retract(system.reference_configuration(), [0.3, -0.2, 0.9])
        run = mb.simulate(system, (0.0, 0.5), 1e-3, q=q, v=[1.0, -2.0, 3.0])
        runs.append((run.v, system.poses(run.q[-1])))
    np.testing.assert_allclose(runs[0][0], runs[1][0], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(runs[0][1], runs[1][1], rtol=0.0, atol=1e-11)


A, B, MASS, GRAVITY = 1.5, 0.5, 2.0, 9.81


def bead_equation(_, y):
    """Lagrange's equation of a bead on an ellipse, a^2 cos^2 + b^2 sin^2 being ds^2/dq^2."""
    q, v = y
    inertia = A**2 * np.cos(q) ** 2 + B**2 * np.sin(q) ** 2
    centrifugal = (B**2 - A**2) * np.sin(q) * np.cos(q) * v**2
    return [v, -(centrifugal + GRAVITY * B * np.sin(q)) / inertia]


@pytest.fixture(scope="module")
def bead():
    """A point mass on an ellipse that stands upright."""
    mech = mb.Mechanism("bead", gravity=(0, 0, -GRAVITY))
    body = mech.add_body(mb.Body("bead", inertia=mb.SpatialInertia.from_com(MASS, (0, 0, 0))))
    mech.add_joint(EllipseJoint("wire", A, B), mech.world, body)
    return mech.assemble()


@pytest.mark.parametrize("state", [(0.3, 0.0), (1.2, 2.0), (-2.5, -3.0)])
def test_bead_on_ellipse(bead, state):
    """Acceleration and kinetic energy of a joint whose motion subspace changes are Lagrange's."""
    q, v = state
    assert bead.forward_dynamics([q], [v])[0] == pytest.approx(
        bead_equation(0, state)[1], rel=1e-13
    )
    speed2 = (A**2 * np.cos(q) ** 2 + B**2 * np.sin(q) ** 2) * v**2
    assert bead.kinetic_energy([q], [v]) == pytest.approx(0.5 * MASS * speed2, rel=1e-13)


@pytest.mark.compiled
def test_motion_on_ellipse(bead):
    """Two seconds of the bead agree with another integrator on Lagrange's equation."""
    run = mb.simulate(bead, (0.0, 2.0), 1e-3, q=[1.2], v=[2.0])
    other = solve_ivp(bead_equation, (0, 2), [1.2, 2.0], method="DOP853", rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose([run.q[-1, 0], run.v[-1, 0]], other.y[:, -1], rtol=0.0, atol=1e-9)


@pytest.mark.compiled
def test_turned_round_in_a_tree():
    """Python joints obey the laws of a tree either way round: M from Jacobians, no lost power."""
    rng = np.random.default_rng(14)
    mech = random_mechanism(rng, 6)
    last = list(mech.bodies)[-1]
    for i, joint in enumerate((CardanJoint("cardan"), EllipseJoint("wire", A, B))):
        body = mech.add_body(mb.Body(f"extra{i}", inertia=random_inertia(rng)))
        mech.add_joint(joint, body, last, frames=(random_pose(rng), random_pose(rng)))
        last = body
    system = mech.assemble()
    state = random_state(rng, system)
    J = [system.jacobian(body, state.q) for body in system.body_names[1:]]
    inertias = [body.inertia.matrix() for body in mech.bodies.values()]
    expected = sum(Jb.T @ M @ Jb for Jb, M in zip(J, inertias, strict=True))
    M = system.mass_matrix(state.q)
    np.testing.assert_allclose(M, expected, rtol=0.0, atol=1e-12 * np.abs(M).max())
    tau = system.inverse_dynamics(state.q, state.v, state.vdot)
    found = system.forward_dynamics(state.q, state.v, tau)
    np.testing.assert_allclose(found, state.vdot, rtol=0.0, atol=1e-9)
    run = mb.simulate(system, (0.0, 0.1), 1e-4, q=state.q, v=state.v)
    assert np.abs(run.energy_drift).max() < 1e-8 * run.kinetic_energy.max()
