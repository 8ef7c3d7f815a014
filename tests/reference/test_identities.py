"""Laws that hold for every tree: random mechanisms of all joints, in all descriptions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from tests.every_representation import REPRESENTATIONS
from tests.trees import random_mechanism, random_state

# Round-off through at most 25 frames and, where accelerations are solved for, the conditioning of
# the mass matrix: 1e-12 of the largest number is a hundred times what is found.
TOLERANCE = 1e-12


@pytest.fixture(scope="module", params=REPRESENTATIONS, ids=lambda each: each.name)
def representation(request):
    """Each of the four."""
    return request.param


@pytest.fixture(scope="module", params=range(4))
def case(request, representation):
    """A tree of 8 to 25 bodies with every kind of joint, its system and a state."""
    rng = np.random.default_rng(1000 + request.param)
    mechanism = random_mechanism(rng, int(rng.integers(8, 26)), reach=int(rng.integers(1, 10)))
    system = mechanism.assemble(mb.RelativeCoordinates(representation=representation))
    return mechanism, system, random_state(rng, system)


def assert_equal(found, expected, tolerance=TOLERANCE):
    """Compare to a part of the largest entry."""
    scale = np.abs(expected).max()
    assert scale > 0.0
    assert np.abs(found - expected).max() <= tolerance * scale


def all_jacobians(system, q):
    """The Jacobians of all bodies in the system's representation, shape (bodies + 1, 6, nv)."""
    return np.array([system.jacobian(body, q) for body in system.body_names])


def inertia_matrices(mechanism, system, q):
    """The 6x6 inertias T^-T M T^-1 of all bodies at their frames, zero for the world."""
    bodies = [body.inertia.matrix() for body in mechanism.bodies.values()]
    back = system.representation.inverse_twist_map(system.poses(q))
    return np.swapaxes(back, 1, 2) @ np.array([np.zeros((6, 6)), *bodies]) @ back


def derivative(function, h=1e-3):
    """The derivative at 0 by central differences, extrapolated twice: error h^6 and round-off."""

    def central(step):
        return (function(step) - function(-step)) / (2.0 * step)

    first = [central(h / 2**k) for k in range(3)]
    second = [(4.0 * b - a) / 3.0 for a, b in itertools.pairwise(first)]
    return (16.0 * second[1] - second[0]) / 15.0


# Differences of numbers of order 10 at steps of 1e-3 lose four digits.
DIFFERENCES = 1e-9


@pytest.mark.some(8)
def test_poses_follow_from_the_joints(case):
    """C_pred_succ = S_pred T(q) S_succ^-1 for every joint, whichever way the tree takes it."""
    mechanism, system, state = case
    poses = dict(zip(system.body_names, system.poses(state.q), strict=True))
    for name, edge in mechanism.joints.items():
        T = edge.joint.pose(state.q[system.position_slice(name)])
        expected = edge.S_pred @ T @ np.linalg.inv(edge.S_succ)
        found = np.linalg.inv(poses[edge.predecessor]) @ poses[edge.successor]
        assert_equal(found, expected)


@pytest.mark.some(4)
def test_twists_are_rates_of_poses(case):
    """V = vee(C^-1 dC/dt) along the motion with velocity v."""
    _, system, state = case

    def poses(t):
        return system.poses(system.retract(state.q, t * state.v))

    rates = np.linalg.inv(poses(0.0)) @ derivative(poses)
    back = system.representation.inverse_twist_map(poses(0.0))
    found = (back @ system.twists(state.q, state.v)[:, :, None])[:, :, 0]
    assert_equal(rates[:, :3, 3], found[:, 3:], DIFFERENCES)
    assert_equal(rates[:, [2, 0, 1], [1, 2, 0]], found[:, :3], DIFFERENCES)


def test_jacobians_give_twists(case):
    """J v is the twist of each body."""
    _, system, state = case
    found = all_jacobians(system, state.q) @ state.v
    assert_equal(found, system.twists(state.q, state.v))


def test_accelerations_are_rates_of_twists(case):
    """Component by component, along a motion with velocity v and acceleration vdot.

    On q(t) = retract(q, t v + t^2/2 vdot) the velocity is v + t vdot + O(t^2): for the groups
    here dexp(x) xdot = xdot - [x, xdot]/2 + ..., and [t v, v] = 0. The twist's rate at 0 sees no
    more than that.
    """
    _, system, state = case
    q, v, vdot = state.q, state.v, state.vdot

    def twists(t):
        return system.twists(system.retract(q, t * v + t * t / 2 * vdot), v + t * vdot)

    assert_equal(derivative(twists), system.accelerations(q, v, vdot), DIFFERENCES)


def test_mass_matrix_from_inverse_dynamics(case):
    """Column k of M is what inverse dynamics adds for a unit acceleration."""
    _, system, state = case
    rest = system.inverse_dynamics(state.q, state.v, np.zeros(system.nv))
    columns = [system.inverse_dynamics(state.q, state.v, e) - rest for e in np.eye(system.nv)]
    assert_equal(np.transpose(columns), system.mass_matrix(state.q))


def test_mass_matrix_from_jacobians(case):
    """M = sum of J^T M_i J."""
    mechanism, system, state = case
    J = all_jacobians(system, state.q)
    expected = np.einsum("bki,bkl,blj->ij", J, inertia_matrices(mechanism, system, state.q), J)
    assert_equal(system.mass_matrix(state.q), expected)


def test_mass_matrix_is_symmetric_and_positive(case):
    """M = M^T exactly, and all its eigenvalues are positive."""
    _, system, state = case
    M = system.mass_matrix(state.q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0


def test_equations_of_motion(case):
    """Tau = M vdot + b - J^T W."""
    _, system, state = case
    M, b = system.mass_matrix(state.q), system.bias_force(state.q, state.v)
    external = np.einsum("bki,bk->i", all_jacobians(system, state.q)[1:], state.wrenches[1:])
    found = system.inverse_dynamics(state.q, state.v, state.vdot)
    assert_equal(found, M @ state.vdot + b)
    found = system.inverse_dynamics(state.q, state.v, state.vdot, state.wrenches)
    assert_equal(found, M @ state.vdot + b - external)


@pytest.mark.parametrize("with_wrenches", [False, True])
def test_forward_undoes_inverse_dynamics(case, with_wrenches):
    """The acceleration under the forces for an acceleration is that acceleration."""
    _, system, state = case
    wrenches = state.wrenches if with_wrenches else None
    tau = system.inverse_dynamics(state.q, state.v, state.vdot, wrenches)
    found = system.forward_dynamics(state.q, state.v, tau, wrenches)
    condition = np.linalg.cond(system.mass_matrix(state.q))
    scale = np.abs(tau).max() / np.abs(system.mass_matrix(state.q)).max()
    assert np.abs(found - state.vdot).max() <= 1e-14 * condition * max(1.0, scale)


def test_no_forces_mean_zero_forces(case):
    """Leaving tau out is the same as zeros, bit by bit."""
    _, system, state = case
    found = system.forward_dynamics(state.q, state.v)
    assert np.array_equal(found, system.forward_dynamics(state.q, state.v, np.zeros(system.nv)))


def test_kinetic_energy(case):
    """T = 1/2 v^T M v = 1/2 sum of V^T M_i V."""
    mechanism, system, state = case
    found = system.kinetic_energy(state.q, state.v)
    assert found == pytest.approx(0.5 * state.v @ system.mass_matrix(state.q) @ state.v, rel=1e-12)
    V = system.twists(state.q, state.v)
    expected = 0.5 * np.einsum("bi,bij,bj->", V, inertia_matrices(mechanism, system, state.q), V)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.some(2)
@pytest.mark.slow
def test_gravity_is_the_gradient_of_potential_energy(case):
    """DU/de along each velocity is the bias force at rest."""
    _, system, state = case
    expected = system.bias_force(state.q, np.zeros(system.nv))
    found = [
        derivative(lambda t, e=e: system.potential_energy(system.retract(state.q, t * e)))
        for e in np.eye(system.nv)
    ]
    assert_equal(np.array(found), expected, DIFFERENCES)


def test_power_balance(case):
    """DT/dt + dU/dt = tau.v on the motion that the forces cause."""
    _, system, state = case
    q, v = state.q, state.v
    vdot = system.forward_dynamics(q, v, state.tau)

    def energy(t):
        moved = system.retract(q, t * v + t * t / 2 * vdot)
        return system.kinetic_energy(moved, v + t * vdot) + system.potential_energy(moved)

    scale = np.abs(state.tau) @ np.abs(v) + np.abs(system.bias_force(q, v)) @ np.abs(v)
    assert derivative(energy) == pytest.approx(state.tau @ v, abs=DIFFERENCES * scale)


def test_momentum_is_the_sum_over_bodies(case):
    """About the world's origin: sum of Ad_C^-T M_i V_i."""
    mechanism, system, state = case
    C = system.poses(state.q)
    V = system.twists(state.q, state.v, representation=mb.BodyFixed())
    expected = np.zeros(6)
    for pose, body, twist in zip(C[1:], mechanism.bodies.values(), V[1:], strict=True):
        expected += SE3.Ad(np.linalg.inv(pose)).T @ body.inertia.matrix() @ twist
    assert_equal(system.momentum(state.q, state.v), expected)


def test_centre_of_mass(case):
    """Momentum is mass times the velocity of the centre of mass; U = -m g.c."""
    _, system, state = case

    def centre(t):
        return system.centre_of_mass(system.retract(state.q, t * state.v))

    linear = system.momentum(state.q, state.v)[3:]
    assert_equal(system.mass * derivative(centre), linear, DIFFERENCES)
    expected = -system.mass * system.gravity @ centre(0.0)
    assert system.potential_energy(state.q) == pytest.approx(expected, rel=1e-12)


def test_difference_undoes_retract(case):
    """For steps of less than half a turn."""
    _, system, state = case
    moved = system.retract(state.q, state.v / np.abs(state.v).max())
    found = system.difference(state.q, moved)
    assert_equal(found, state.v / np.abs(state.v).max())


@pytest.mark.slow
def test_momentum_of_a_floating_tree_is_conserved():
    """On a free joint, without gravity and outer forces, whatever the joints do."""
    rng = np.random.default_rng(5)
    kinds = ("revolute", "spherical", "helical")
    mechanism = random_mechanism(rng, 12, kinds, gravity=(0, 0, 0), floating=True)
    system = mechanism.assemble()
    state = random_state(rng, system)
    state.tau[system.velocity_slice("joint0")] = 0.0
    run = mb.simulate(system, (0.0, 1.0), 1.25e-4, q=state.q, v=state.v, tau=state.tau)
    momenta = system.momentum(run.q, run.v)
    assert np.ptp(run.kinetic_energy) > 1.0  # the joints' forces do work
    # to the error of the method, which falls with h^4; omega reaches 60 rad/s
    assert_equal(momenta, np.broadcast_to(momenta[0], momenta.shape), 2e-10)


def test_bodies_on_the_world_have_mass(representation):
    """What is welded to the world does not move, and counts in potential energy and centre."""
    mech = mb.Mechanism("pillar", gravity=(0, 0, -10.0))
    pillar = mb.SpatialInertia.from_com(mass=3.0, com=(0, 0, 2.0), moment_about_com=np.eye(3))
    pillar = mech.add_body(mb.Body("pillar", inertia=pillar))
    ball = mech.add_body(mb.Body("ball", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FixedJoint("weld"), mech.world, pillar)
    mech.add_joint(mb.PrismaticJoint("slide", axis=(1, 0, 0)), pillar, ball)
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    assert system.potential_energy([2.0]) == pytest.approx(60.0)
    np.testing.assert_allclose(system.centre_of_mass([2.0]), [0.5, 0.0, 1.5])
    np.testing.assert_allclose(system.momentum([2.0], [3.0]), [0, 0, 0, 3.0, 0, 0], atol=1e-15)
    rows = np.zeros((3, 6))
    rows[1] = 7.0  # on the pillar: the world bears it
    assert system.forward_dynamics([0.0], [0.0], [2.0], rows)[0] == pytest.approx(2.0)
