"""Newton's and Euler's equations of all bodies, projected to those of the joints."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.representations.conversions import convert_acceleration
from tests.constraints.loops import closed_chain
from tests.every_representation import each_representation
from tests.systems.test_derivatives import assert_close
from tests.trees import random_mechanism, random_state

EXACT = 1e-12


@pytest.mark.some(4)
@each_representation
@pytest.mark.parametrize("screws", [None, "spatial"])
def test_projected_they_are_those_of_the_tree(representation, screws):
    """All joints, either way round: efforts, the mass matrix, the Coriolis matrix, J-dot."""
    rng = np.random.default_rng(110)
    mech = random_mechanism(rng, 24)
    system = mech.assemble(mb.RelativeCoordinates(body_frames="com"))
    state = random_state(rng, system)
    q, v, vdot = state.q, state.v, state.vdot
    bodies = system.newton_euler(q, v, representation, screws)
    J, M, C = bodies.jacobian, bodies.M, bodies.C
    assert_close(bodies.V, system.twists(q, v, representation=representation)[1:].ravel(), EXACT)
    Vdot = J.apply(vdot) + bodies.J_rate @ v
    found = system.accelerations(q, v, vdot, representation=representation)[1:].ravel()
    assert_close(Vdot, found, EXACT)
    tau = J.X.T @ (J.A.T @ (M @ Vdot + C @ bodies.V - bodies.W))
    assert_close(tau, system.inverse_dynamics(q, v, vdot), EXACT)
    assert_close(bodies.project(Vdot), tau, EXACT)
    assert_close(bodies.mass_matrix.toarray(), system.mass_matrix(q), EXACT)
    assert_close(bodies.coriolis_matrix.toarray(), system.coriolis_matrix(q, v), EXACT)


@pytest.mark.some(2)
@each_representation
def test_of_one_body_they_are_newton_euler(representation):
    """Body by body the wrench is that of `mb.newton_euler`, and dM/dt - 2 C is skew."""
    rng = np.random.default_rng(111)
    mech = random_mechanism(rng, 5, ("revolute", "spherical", "free"))
    system = mech.assemble()
    state = random_state(rng, system)
    q, v, vdot = state.q, state.v, state.vdot
    bodies = system.newton_euler(q, v, representation)
    poses = system.poses(q)[1:]
    A = system.accelerations(q, v, vdot, representation=representation)[1:]
    wrenches = (bodies.M @ A.ravel() + bodies.C @ bodies.V).reshape(-1, 6)
    near = [system.retract(q, e * system.rates(q, v)) for e in (-1e-5, 1e-5)]
    before, after = (system.newton_euler(each, v, representation).M for each in near)
    skew = ((after - before) / 2e-5 - 2.0 * bodies.C).toarray()
    assert_close(skew, -skew.T, 1e-8)
    for k, name in enumerate(system.body_names[1:]):
        inertia, V = mech.bodies[name].inertia, bodies.V.reshape(-1, 6)[k]
        expected = mb.newton_euler(inertia, poses[k], V, A[k], representation)
        assert_close(wrenches[k], expected, EXACT, np.abs(wrenches).max())
        fall = np.concatenate([np.zeros(3), system.gravity])
        free = convert_acceleration(fall, np.zeros(6), poses[k], mb.Hybrid(), representation)
        weight = mb.inertia_matrix(inertia, poses[k], representation) @ free
        assert_close(bodies.W.reshape(-1, 6)[k], weight, EXACT, np.abs(bodies.W).max())


def test_closed_mechanisms_have_those_of_their_tree():
    mech, _ = closed_chain()
    system = mech.assemble()
    rng = np.random.default_rng(112)
    q, (v, vdot) = system.reference_configuration(), rng.normal(size=(2, system.nv))
    bodies = system.newton_euler(q, v)
    wrenches = bodies.M @ (bodies.jacobian.apply(vdot) + bodies.J_rate @ v) + bodies.C @ bodies.V
    found = bodies.jacobian.apply_transpose(wrenches - bodies.W)
    assert_close(found, system.inverse_dynamics(q, v, vdot), EXACT)


def test_refusals_name_what_is_wrong():
    system = random_mechanism(np.random.default_rng(113), 2, ("revolute",)).assemble()
    with pytest.raises(mb.ShapeError, match="'v' must have shape"):
        system.newton_euler([0.0, 0.0], [1.0])
    with pytest.raises(mb.UsageError, match="must be a representation, got 'hybrid'"):
        system.newton_euler([0.0, 0.0], [1.0, 2.0], "hybrid")
    with pytest.raises(mb.ShapeError, match=r"shape \(12,\), got shape \(2,\)"):
        system.newton_euler([0.0, 0.0], [1.0, 2.0]).project([1.0, 2.0])
