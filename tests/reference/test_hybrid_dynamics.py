"""Hybrid dynamics: some joints' motion given, others' forces."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import REPRESENTATIONS
from tests.trees import random_mechanism, random_state


@pytest.fixture(scope="module", params=REPRESENTATIONS, ids=lambda each: each.name)
def case(request):
    """A branched tree with every kind of joint, and a state."""
    rng = np.random.default_rng(77)
    coordinates = mb.RelativeCoordinates(representation=request.param)
    system = random_mechanism(rng, 14, reach=5).assemble(coordinates)
    return system, random_state(rng, system)


def error(found, expected):
    """Largest difference, as a part of the largest entry."""
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.mark.some(4)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_wrenches", [False, True])
def test_it_solves_the_equations_of_motion(case, seed, with_wrenches):
    """The forces are those of inverse dynamics, and what was given stays as it was."""
    system, state = case
    rng = np.random.default_rng(seed)
    prescribed = [name for name in system.joint_names if rng.random() < 0.5]
    wrenches = state.wrenches if with_wrenches else None
    vdot, tau = system.hybrid_dynamics(
        state.q, state.v, tau=state.tau, vdot=state.vdot, prescribed=prescribed, wrenches=wrenches
    )
    assert error(system.inverse_dynamics(state.q, state.v, vdot, wrenches), tau) < 1e-12
    given = np.zeros(system.nv, dtype=bool)
    for joint in prescribed:
        given[system.velocity_slice(joint)] = True
    assert 0 < given.sum() < system.nv
    np.testing.assert_array_equal(vdot[given], state.vdot[given])
    np.testing.assert_array_equal(tau[~given], state.tau[~given])


def test_block_elimination_agrees(case):
    """M_ff vdot_f = tau_f - b_f - M_fp vdot_p, solved densely."""
    system, state = case
    prescribed = system.joint_names[1::3]
    p = np.zeros(system.nv, dtype=bool)
    for joint in prescribed:
        p[system.velocity_slice(joint)] = True
    M, b = system.mass_matrix(state.q), system.bias_force(state.q, state.v)
    rest = state.tau[~p] - b[~p] - M[np.ix_(~p, p)] @ state.vdot[p]
    expected = np.linalg.solve(M[np.ix_(~p, ~p)], rest)
    vdot, _ = system.hybrid_dynamics(
        state.q, state.v, tau=state.tau, vdot=state.vdot, prescribed=prescribed
    )
    assert error(vdot[~p], expected) < 1e-9


def test_its_ends_are_forward_and_inverse_dynamics(case):
    """Nothing prescribed, or everything."""
    system, state = case
    vdot, tau = system.hybrid_dynamics(state.q, state.v, tau=state.tau)
    expected = system.forward_dynamics(state.q, state.v, state.tau)
    assert error(vdot, expected) < 1e-12  # the same sums, rounded in another order
    np.testing.assert_array_equal(tau, state.tau)
    names = system.joint_names
    vdot, tau = system.hybrid_dynamics(state.q, state.v, vdot=state.vdot, prescribed=names)
    np.testing.assert_array_equal(vdot, state.vdot)
    assert error(tau, system.inverse_dynamics(state.q, state.v, state.vdot)) < 1e-12


def test_what_is_not_given_may_be_anything(case):
    """Not a number in an entry that is ignored does no harm; in one that counts it is named."""
    system, state = case
    joint = system.joint_names[3]
    entries = system.velocity_slice(joint)
    tau, vdot = state.tau.copy(), np.full(system.nv, np.nan)
    tau[entries] = np.nan
    vdot[entries] = 1.0
    found, forces = system.hybrid_dynamics(state.q, state.v, tau=tau, vdot=vdot, prescribed=[joint])
    assert np.isfinite(found).all()
    assert np.isfinite(forces).all()
    with pytest.raises(mb.NotFiniteError, match=r"tau\[\d+\] of joint"):
        system.hybrid_dynamics(state.q, state.v, tau=tau)


def test_a_massless_tip_may_be_prescribed():
    """What cannot be solved for can still be given."""
    mech = mb.Mechanism("pointer")
    arm = mech.add_body(mb.Body("arm", inertia=mb.SpatialInertia.sphere(1.0, radius=0.1)))
    needle = mech.add_body(mb.Body("needle", inertia=mb.SpatialInertia.sphere(1e-30, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("base", axis=(0, 0, 1)), mech.world, arm)
    mech.add_joint(mb.SphericalJoint("tip"), arm, needle)
    system = mech.assemble()
    q, v = system.reference_configuration(), np.zeros(4)
    vdot, tau = system.hybrid_dynamics(q, v, tau=[1.0, 0, 0, 0], prescribed="tip")
    assert vdot[0] == pytest.approx(1.0 / (0.4 * 0.1**2))
    assert np.abs(tau[1:]).max() < 1e-25


def test_names_are_checked(case):
    """Before anything is computed."""
    system, state = case
    with pytest.raises(mb.NameUnknownError, match="has no joint 'nowhere'"):
        system.hybrid_dynamics(state.q, state.v, prescribed=["nowhere"])
    with pytest.raises(mb.ShapeError, match=r"'tau' must have shape"):
        system.hybrid_dynamics(state.q, state.v, tau=[1.0])
