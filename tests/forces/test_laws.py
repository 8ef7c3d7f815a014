"""Laws of every force: its compiled twin, its power, its potential, Newton's third law."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SO3
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.forces.twins import TWINS
from tests.trees import random_state

NAMES = [
    force.name for force in every_force(np.random.default_rng(3), *tree(np.random.default_rng(3)))
]


@pytest.fixture(scope="module", params=[0, 1, 2])
def case(request):
    """A tree, forces of every kind by name, and states with times."""
    rng = np.random.default_rng(request.param)
    mech, single = tree(rng)
    forces = {force.name: force for force in every_force(rng, mech, single)}
    system = mech.assemble()
    states = [random_state(rng, system, 0.7) for _ in range(4)]
    times = [-0.5, 0.45, 1.3, 2.0]
    return mech, system, forces, list(zip(times, states, strict=True))


@pytest.mark.some(3)
@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("field", "chosen")])
def test_it_agrees_with_its_formula_in_python(case, name):
    """Generalized forces of the compiled force and of its twin are the same."""
    _, system, forces, states = case
    compiled = system.with_forces([forces[name]])
    twin = system.with_forces([TWINS[type(forces[name])](forces[name])])
    for t, s in states:
        ours = compiled.generalized_forces(s.q, s.v, t)
        assert np.isfinite(ours).all()
        np.testing.assert_allclose(ours, twin.generalized_forces(s.q, s.v, t), rtol=0, atol=1e-11)


@pytest.mark.some(3)
@pytest.mark.parametrize("name", ["damper", "ball damper", "friction", "drag", "gale", "constant",
                                  "linear", "spline", "thrust", "wind", "rotor"])  # fmt: skip
def test_its_power_is_that_of_its_twin(case, name):
    """Dissipated and supplied power, by tau.v or W.V in the twin."""
    _, system, forces, states = case
    compiled = system.with_forces([forces[name]])
    twin = system.with_forces([TWINS[type(forces[name])](forces[name])])
    for t, s in states:
        np.testing.assert_allclose(
            compiled.force_powers(s.q, s.v, t), twin.force_powers(s.q, s.v, t), rtol=0, atol=1e-11
        )


@pytest.mark.some(3)
@pytest.mark.parametrize("name", NAMES)
def test_its_power_is_accounted_for(case, name):
    """tau.v = -dU/dt - dissipated + supplied, the rate of U by central differences."""
    _, system, forces, states = case
    loaded = system.with_forces([forces[name]])
    for t, s in states:
        h = 1e-5
        ends = [loaded.force_potentials(system.retract(s.q, k * h * s.v), t)[0] for k in (1, -1)]
        rate = (ends[0] - ends[1]) / (2 * h)
        dissipated, supplied = loaded.force_powers(s.q, s.v, t)[0]
        power = loaded.generalized_forces(s.q, s.v, t) @ s.v
        assert power == pytest.approx(-rate - dissipated + supplied, abs=2e-7 * (1 + abs(power)))
        assert dissipated >= 0.0


@pytest.mark.parametrize(
    "name", ["spring", "stop", "pair", "anchor", "bushing", "mount", "field", "chosen"]
)
def test_at_rest_it_is_minus_the_gradient_of_its_potential(case, name):
    """By central differences along every velocity."""
    _, system, forces, states = case
    loaded = system.with_forces([forces[name]])
    for t, s in states:
        h = 1e-5
        gradient = [
            (
                loaded.force_potentials(system.retract(s.q, h * e), t)[0]
                - loaded.force_potentials(system.retract(s.q, -h * e), t)[0]
            )
            / (2 * h)
            for e in np.eye(system.nv)
        ]
        tau = loaded.generalized_forces(s.q, np.zeros(system.nv), t)
        np.testing.assert_allclose(tau, -np.array(gradient), rtol=0, atol=2e-7)


def test_a_field_is_gravity(case):
    """Bias forces of a mechanism with that gravity, minus those without."""
    mech, system, _, states = case
    loaded = system.with_forces([mb.UniformField("field", acceleration=mech.gravity)])
    for _, s in states:
        zero = np.zeros(system.nv)
        np.testing.assert_allclose(
            loaded.generalized_forces(s.q, s.v), -system.bias_force(s.q, zero), rtol=0, atol=1e-11
        )
        np.testing.assert_allclose(loaded.force_potentials(s.q)[0], system.potential_energy(s.q))


def test_a_field_on_chosen_bodies_pulls_at_their_centres_of_mass(case):
    """m g there by the Jacobians of the bodies, also where several are one row inside."""
    mech, system, _, states = case
    g = np.array([0.3, -2.0, 1.0])
    welded = {n for n, e in mech.joints.items() if e.joint.num_velocities == 0}
    chosen = {e.successor for n, e in mech.joints.items() if n in welded} | {"body2", "body7"}
    loaded = system.with_forces([mb.UniformField("f", acceleration=g, bodies=sorted(chosen))])
    for _, s in states:
        expected = np.zeros(system.nv)
        for name in chosen - {"world"}:
            inertia = mech.bodies[name].inertia
            R = system.poses(s.q)[system.body_index(name), :3, :3]
            J = system.jacobian(name, s.q, representation=mb.Hybrid())
            expected += inertia.mass * (J[3:].T @ g + J[:3].T @ np.cross(R @ inertia.com, g))
        np.testing.assert_allclose(loaded.generalized_forces(s.q, s.v), expected, atol=1e-11)


@pytest.mark.some(6)
@each_representation
@pytest.mark.parametrize("body_frames", ["joint", "user", "com", "world"])
def test_no_choice_of_frames_or_representation_changes_it(case, representation, body_frames):
    """Generalized forces know of neither."""
    mech, system, forces, states = case
    chosen = mb.RelativeCoordinates(representation=representation, body_frames=body_frames)
    one, other = (each.with_forces(forces.values()) for each in (system, mech.assemble(chosen)))
    for t, s in states:
        np.testing.assert_allclose(
            one.generalized_forces(s.q, s.v, t), other.generalized_forces(s.q, s.v, t), atol=1e-10
        )
        np.testing.assert_allclose(one.force_potentials(s.q, t), other.force_potentials(s.q, t))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 1.1e-5, 1e-3, 0.5, 2.0, 3.0, np.pi - 1e-7])
def test_a_bushing_turned_by_any_angle(angle):
    """Its moment on a body at rest is -dexp_{-x}^-1 K x, to the last digits."""
    mech = mb.Mechanism("mount", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("body", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.SphericalJoint("ball"), mech.world, body)
    K = np.array([1.0, 2.0, 5.0])
    system = mech.assemble().with_forces(
        [mb.Bushing("b", "world", "body", stiffness=[*K, 0.0, 0.0, 0.0])]
    )
    x = angle * np.array([2.0, -1.0, 2.0]) / 3.0
    q = np.array([np.cos(angle / 2), *np.sin(angle / 2) * np.array([2.0, -1.0, 2.0]) / 3.0])
    # in frame a -dexp_{-x}^-1 K x, in the body R^T of it: -dexp_x^-1 K x
    expected = -SO3.dexp_spatial_inv(x) @ (K * x)
    found = system.generalized_forces(q, np.zeros(3))
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-14 * (1e-2 + angle))


@pytest.mark.parametrize("seed", range(3))
def test_internal_forces_leave_the_momentum(seed):
    """Newton's third law: a floating tree with springs and dampers inside gets no wrench."""
    rng = np.random.default_rng(seed)
    mech, single = tree(rng, 14, floating=True, gravity=(0, 0, 0))
    inside = ("spring", "damper", "friction", "stop", "pair", "bushing", "linear")
    forces = [force for force in every_force(rng, mech, single) if force.name in inside]
    system = mech.assemble().with_forces(forces)
    base = next(n for n, e in mech.joints.items() if "world" in (e.predecessor, e.successor))
    inner = np.ones(system.nv, dtype=bool)
    inner[system.velocity_slice(base)] = False
    for _ in range(5):
        s = random_state(rng, system, 0.7)
        tau = system.generalized_forces(s.q, s.v, 0.4)
        np.testing.assert_allclose(tau[~inner], 0.0, rtol=0, atol=1e-11)
        assert np.abs(tau[inner]).max() > 0.1


def test_systems_without_forces_have_none():
    """All methods that speak of forces give zeros, or arrays without entries."""
    mech = mb.Mechanism("wheel")
    wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("axle"), mech.world, wheel)
    system = mech.assemble()
    for q, v, leading in (([0.3], [0.2], ()), (np.zeros((4, 1)), np.zeros((4, 1)), (4,))):
        assert system.generalized_forces(q, v, 0.5).tolist() == np.zeros((*leading, 1)).tolist()
        assert system.force_powers(q, v, 0.5).shape == (*leading, 0, 2)
        assert system.force_potentials(q, 0.5).shape == (*leading, 0)
