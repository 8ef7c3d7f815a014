"""Closed forms, and the energy balance."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.trees import random_state


def slider(mass=2.0, gravity=0.0):
    """Return a mechanism with one body on a slide along z."""
    mech = mb.Mechanism("slider", gravity=(0, 0, -gravity))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(mass, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    return mech


@pytest.mark.compiled
@pytest.mark.parametrize("between_bodies", [False, True])
def test_an_oscillator(between_bodies):
    """q = q0 + A cos(w t), by a joint spring or by a spring between the bodies."""
    mech = slider()
    if between_bodies:
        mech.add_force(
            mb.SpringDamper("k", "world", "body", 50.0, rest_length=0.5, point_a=(0, 0, -0.5))
        )
    else:
        mech.add_force(mb.JointSpring("k", "slide", stiffness=50.0))
    run = mb.simulate(mech.assemble(), (0.0, 2.0), 1e-3, q=[0.3])
    np.testing.assert_allclose(run.q[:, 0], 0.3 * np.cos(5.0 * run.t), rtol=0, atol=1e-10)
    assert np.abs(run.energy_drift).max() < 1e-10


@pytest.mark.compiled
def test_a_damped_oscillator():
    """Below critical damping; what is dissipated is what is missing."""
    mech = slider()
    mech.add_force(mb.JointSpring("k", "slide", stiffness=50.0))
    mech.add_force(mb.JointDamper("d", "slide", damping=2.0))
    run = mb.simulate(mech.assemble(), (0.0, 2.0), 1e-3, q=[0.3])
    a, w = 0.5, np.sqrt(25.0 - 0.25)
    q = 0.3 * np.exp(-a * run.t) * (np.cos(w * run.t) + a / w * np.sin(w * run.t))
    np.testing.assert_allclose(run.q[:, 0], q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.dissipated_energy, run.energy[0] - run.energy, atol=1e-10)
    assert run.dissipated_energy[-1] > 1.0
    assert run.supplied_energy[-1] == 0.0


@pytest.mark.compiled
@pytest.mark.parametrize(("linear", "quadratic"), [(4.0, 0.0), (0.0, 0.5)])
def test_a_fall_with_drag(linear, quadratic):
    """Linear: v = -v1 (1 - exp(-c t / m)); quadratic: v = -v1 tanh(g t / v1)."""
    mech = slider(gravity=10.0)
    mech.add_force(mb.Drag("air", "body", linear=linear, quadratic=quadratic))
    run = mb.simulate(mech.assemble(), (0.0, 3.0), 1e-3)
    if linear:
        v = -5.0 * (1.0 - np.exp(-2.0 * run.t))
    else:
        v = -np.sqrt(40.0) * np.tanh(10.0 * run.t / np.sqrt(40.0))
    np.testing.assert_allclose(run.v[:, 0], v, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_stop_gives_nothing_back_that_it_did_not_get():
    """Without damping as much as came back; with it, about 1 - 2 a u / 3 of it."""
    back = {}
    for damping in (0.0, 0.05):
        mech = slider()
        mech.add_force(
            mb.LimitStop("s", "slide", lower=-1, upper=0.5, stiffness=2e4, damping=damping)
        )
        run = mb.simulate(mech.assemble(), (0.0, 0.5), 1e-4, v=[2.0])
        back[damping] = -run.v[-1, 0] / 2.0
        assert run.q.max() > 0.5
        assert np.diff(run.dissipated_energy).min() >= 0.0
        assert np.abs(run.energy_balance).max() < 1e-4 * run.energy[0]
    assert back[0.0] == pytest.approx(1.0, abs=1e-5)
    assert back[0.05] == pytest.approx(1.0 - 2.0 / 3.0 * 0.05 * 2.0, abs=0.01)


@pytest.mark.slow
def test_friction_brings_to_rest():
    """A sliding block stops after m v^2 / 2 f, and all of its energy is dissipated."""
    mech = slider()
    mech.add_force(mb.DryFriction("f", "slide", friction=4.0, smoothing=1e-3))
    run = mb.simulate(mech.assemble(), (0.0, 2.0), 1e-4, v=[2.0])
    assert run.q[-1, 0] == pytest.approx(1.0, abs=2e-3)
    assert run.dissipated_energy[-1] == pytest.approx(4.0, rel=1e-6)


def test_a_motor_supplies_what_it_gives():
    """Constant effort: work is force times way, of a table as of tau."""
    runs = [
        mb.simulate(slider().assemble(), (0.0, 1.0), 1e-2, **load)
        for load in (
            {"forces": [mb.JointEffort("motor", "slide", effort=3.0)]},
            {"tau": [3.0]},
            {"tau": lambda t, q, v: [3.0]},
        )
    ]
    for run in runs:
        np.testing.assert_allclose(run.supplied_energy, 3.0 * run.q[:, 0], atol=1e-12)
        assert np.abs(run.energy_balance).max() < 1e-12
    assert runs[0].options["forces"][0].startswith("JointEffort(name='motor'")


@pytest.mark.slow
@each_representation
def test_the_balance_of_twenty_bodies_closes(representation):
    """Springs, dampers, a motor and an external wrench: to 1e-8 of the peak kinetic energy."""
    rng = np.random.default_rng(20)
    mech, single = tree(rng, 20)
    used = ("spring", "damper", "ball damper", "spline", "pair", "anchor", "bushing", "thrust",
            "rotor", "drag")  # fmt: skip
    for force in every_force(rng, mech, single):
        if force.name in used:
            mech.add_force(force)
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    state = random_state(rng, system, 0.2)
    run = mb.simulate(system, (0.0, 1.0), 1e-3, q=state.q, v=state.v, tau=0.1 * state.tau)
    assert run.dissipated_energy[-1] > 0.1
    assert abs(run.supplied_energy[-1]) > 0.1
    assert np.abs(run.energy_balance).max() < 1e-8 * run.kinetic_energy.max()
