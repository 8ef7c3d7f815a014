"""The equations of motion in the state (q, V), against those in q and v."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.every_representation import each_representation
from tests.systems.test_derivatives import assert_close
from tests.trees import random_mechanism, random_state

EXACT = 1e-12


@pytest.mark.some(4)
@each_representation
def test_of_all_joints_and_forces(representation):
    """Rates of twists satisfy the projected Newton-Euler equations and are the derivative of V."""
    rng = np.random.default_rng(120)
    mech = random_mechanism(rng, 20)
    system = mech.assemble()
    rows = rng.normal(size=(2, 6))
    push = mb.BodyWrench("push", system.body_names[-1], wrench=rows, times=[0.0, 1.0])
    system = system.with_forces([push])
    form = mb.TwistForm(system, representation)
    state = random_state(rng, system)
    q, v, tau = state.q, state.v, rng.normal(size=system.nv)
    bodies = system.newton_euler(q, v, representation)
    V = form.twists(q, v)
    assert_close(V, bodies.V, EXACT)
    found, Vdot = form.forward_dynamics(q, V, tau, t=0.4)
    assert_close(found, v, EXACT)
    acting = tau + system.generalized_forces(q, v, 0.4)
    assert_close(bodies.project(Vdot), acting, 1e-11)
    vdot = system.forward_dynamics(q, v, tau, t=0.4)
    assert_close(Vdot, bodies.jacobian.apply(vdot) + bodies.J_rate @ v, EXACT)
    assert_close(form.inverse_dynamics(q, V, Vdot, t=0.4), tau, 1e-11)


@pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")
@each_representation
def test_loops_act(representation):
    """Rates of the twists of a linkage keep its loops closed."""
    rng = np.random.default_rng(121)
    system = BY_NAME["spatial slider-crank"].system()
    q = system.close_loops(system.reference_configuration())
    v = system.consistent_velocity({}, q, rng.normal(size=system.nv))
    form = mb.TwistForm(system, representation)
    found, Vdot = form.forward_dynamics(q, form.twists(q, v))
    rows = np.vstack([np.zeros(6), Vdot.reshape(-1, 6)])
    vdot = mb.accelerations_from_twist_rates(system, q, found, rows, representation)
    scale = np.abs(system.constraint_bias(q, v)).max()
    assert scale > 1e-3
    assert np.abs(system.constraint_acceleration(q, v, vdot)).max() < 1e-11 * scale


def test_twists_that_joints_do_not_allow_stand_for_the_nearest():
    """A hinge takes the part of a twist about its axis; the rest of the state is not drawn away."""
    mech = mb.Mechanism("pendulum")
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -2.0))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    form = mb.TwistForm(mech.assemble())
    assert repr(form) == "<TwistForm of 'pendulum': nq=1, nV=6, body_fixed>"
    assert_close(form.velocities([0.2], [5.0, 3.0, 4.0, 1.0, 2.0, 3.0]), [3.0], EXACT)


def test_refusals_name_what_is_wrong():
    system = random_mechanism(np.random.default_rng(122), 2, ("revolute",)).assemble()
    form = mb.TwistForm(system)
    with pytest.raises(mb.ShapeError, match=r"TwistForm: V must .* shape \(12,\)"):
        form.velocities([0.0, 0.0], np.zeros(6))
    with pytest.raises(mb.NotFiniteError, match="TwistForm: Vdot"):
        form.inverse_dynamics([0.0, 0.0], np.zeros(12), np.full(12, np.nan))
    with pytest.raises(mb.UsageError, match=r"mb\w*\.Hybrid"):
        mb.TwistForm(system, "hybrid")
    with pytest.raises(mb.UsageError, match=r"mbkit\.System"):
        mb.TwistForm("arm")
