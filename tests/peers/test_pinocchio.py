"""Pinocchio and mbkit agree on random trees of all joints."""

from __future__ import annotations

import pathlib

import numpy as np
import pinocchio as pin
import pytest

import mbkit as mb
from mbkit.spatial import from_log_cholesky, log_cholesky, log_cholesky_jacobian
from tests.every_representation import REPRESENTATIONS
from tests.peers.pinocchio_twin import PinocchioTwin
from tests.peers.robots import MOMENTS
from tests.trees import (
    COMMON,
    ONE_SCREW,
    random_inertia,
    random_mechanism,
    random_pose,
    random_rotation,
    random_state,
)

pytestmark = pytest.mark.peers

ARM = pathlib.Path(__file__).parents[2] / "examples" / "models" / "panda.toml"

# Both programs are exact but for round-off, which passes through up to 30 frames and, for the
# accelerations, through the conditioning of the mass matrix.
TOLERANCE = 1e-11

TREES = {
    **{f"tree-{seed}": (seed, {}) for seed in range(6)},
    "chain": (100, {"reach": 1}),
    "star": (101, {"reach": 1000}),
    "as-in-pinocchio": (102, {"turned_round": 0.0}),
    "all-turned-round": (103, {"turned_round": 1.0}),
}


def joint_of_several_freedoms(rng, kind, name):
    """One of the joints that Pinocchio has too; the axes of its universal joint are square."""
    axis, point, R = rng.normal(size=3), 0.3 * rng.normal(size=3), random_rotation(rng)
    makers = {
        "cylindrical": lambda: mb.CylindricalJoint(name, axis, point),
        "universal": lambda: mb.UniversalJoint(name, R[0], R[1], point),
        "planar": lambda: mb.PlanarJoint(name, axis, point),
        "translational": lambda: mb.TranslationalJoint(name, R),
        "angles": lambda: mb.SphericalJoint(name, point, coordinates="second kind", order="zyx"),
    }
    return makers[kind]()


SEVERAL = ("cylindrical", "universal", "planar", "translational", "angles")


def several_freedoms(rng, kinds=SEVERAL):
    """A tree with three of such joints each, none of them turned round."""
    mech = mb.Mechanism("several", gravity=rng.normal(size=3))
    bodies = [mech.world]
    for i, kind in enumerate(3 * kinds):
        joint = joint_of_several_freedoms(rng, kind, f"joint{i}")
        body = mech.add_body(mb.Body(f"body{i}", random_inertia(rng)))
        near = bodies[rng.integers(max(0, i - 3), i + 1)]
        mech.add_joint(joint, near, body, frames=(random_pose(rng), random_pose(rng)))
        bodies.append(body)
    return mech


@pytest.fixture(scope="module", params=REPRESENTATIONS, ids=lambda each: each.name)
def representation(request):
    """Each of the four."""
    return request.param


@pytest.fixture(scope="module", params=[*TREES, "seven-joint-arm", "joints-of-several-freedoms"])
def case(request, representation):
    """A mechanism of 30 bodies or the arm, its system, its twin and a state."""
    if request.param == "joints-of-several-freedoms":
        rng = np.random.default_rng(8)
        mechanism = several_freedoms(rng)
    elif request.param == "seven-joint-arm":
        rng = np.random.default_rng(7)
        mechanism = mb.load_model(ARM)
    else:
        seed, options = TREES[request.param]
        rng = np.random.default_rng(seed)
        mechanism = random_mechanism(rng, 30, COMMON, **options)
    system = mechanism.assemble(mb.RelativeCoordinates(representation=representation))
    return system, PinocchioTwin(mechanism, system), random_state(rng, system)


def assert_equal(found, expected):
    """Compare to `TOLERANCE` of the largest entry."""
    assert np.abs(found - expected).max() <= TOLERANCE * np.abs(expected).max()


def test_twin_has_as_many_velocities(case):
    """No joint is lost on the way."""
    system, twin, _ = case
    assert twin.model.nv == system.nv
    planar = [j for j in system.arrays.joints if isinstance(j, mb.PlanarJoint)]
    assert twin.model.nq == system.nq + len(planar)  # it writes an angle as cosine and sine


def test_poses(case):
    """The poses of all bodies are equal."""
    system, twin, state = case
    assert_equal(system.poses(state.q), twin.poses(state.q))


def test_jacobians(case):
    """The Jacobians of all bodies are equal, body-fixed ones converted."""
    system, twin, state = case
    found = [system.jacobian(body, state.q) for body in system.body_names]
    forms = system.representation, mb.BodyFixed()
    found = mb.convert_jacobian(found, system.poses(state.q), *forms)
    expected = [twin.jacobian(body, state.q) for body in system.body_names]
    assert_equal(np.array(found), np.array(expected))


def test_inverse_dynamics(case):
    """The generalized forces for an acceleration are equal."""
    system, twin, state = case
    found = system.inverse_dynamics(state.q, state.v, state.vdot)
    assert_equal(found, twin.inverse_dynamics(state.q, state.v, state.vdot))


def test_forward_dynamics(case):
    """The accelerations under generalized forces are equal."""
    system, twin, state = case
    found = system.forward_dynamics(state.q, state.v, state.tau)
    assert_equal(found, twin.forward_dynamics(state.q, state.v, state.tau))


def test_mass_matrix(case):
    """The mass matrices are equal."""
    system, twin, state = case
    assert_equal(system.mass_matrix(state.q), twin.mass_matrix(state.q))


@pytest.mark.parametrize("name", ["several freedoms", "screws turned round", *range(5)])
def test_derivatives_of_dynamics_and_coriolis_matrix(name):
    """Along steps and velocities that differ by a constant matrix in both programs.

    Without universal joints and angles: of joints whose motion subspace depends on q, those of
    Pinocchio 4.1 are not what differences of its own inverse dynamics say.
    """
    rng = np.random.default_rng([900, name if isinstance(name, int) else 9])
    if name == "several freedoms":
        mechanism = several_freedoms(rng, ("cylindrical", "planar", "translational"))
    elif name == "screws turned round":
        mechanism = random_mechanism(rng, 30, ONE_SCREW, turned_round=0.5)
    else:
        mechanism = random_mechanism(rng, 30, COMMON, turned_round=0.0)
    system = mechanism.assemble()
    state = random_state(rng, system)
    twin = PinocchioTwin(mechanism, system)
    found = system.inverse_dynamics_derivatives(state.q, state.v, state.vdot)
    expected = twin.inverse_dynamics_derivatives(state.q, state.v, state.vdot)
    for each, other in zip(found, expected, strict=True):
        assert_equal(each, other)
    assert_equal(system.coriolis_matrix(state.q, state.v), twin.coriolis_matrix(state.q, state.v))
    given = state.q, state.v, state.tau
    found = system.derivatives("forward_dynamics", *given, by=("q", "v", "tau"))
    compiled = system.forward_dynamics_derivatives(*given)
    expected = twin.forward_dynamics_derivatives(*given)
    for name, own, other in zip(("q", "v", "tau"), compiled, expected, strict=True):
        size = np.abs(other).max()
        np.testing.assert_allclose(found[name], other, rtol=0.0, atol=1e-10 * size)
        np.testing.assert_allclose(own, other, rtol=0.0, atol=1e-10 * size)


@pytest.mark.parametrize("seed", range(3))
def test_rates_of_jacobians(seed):
    """Body-fixed and spatial ones of all bodies, along steps as above."""
    rng = np.random.default_rng([901, seed])
    mechanism = random_mechanism(rng, 30, COMMON, turned_round=0.0)
    system = mechanism.assemble()
    state = random_state(rng, system)
    twin = PinocchioTwin(mechanism, system)
    names = system.body_names[1:]
    for form, frame in ((mb.BodyFixed(), pin.LOCAL), (mb.Spatial(), pin.WORLD)):
        found = [system.jacobian_rate(b, state.q, state.v, representation=form) for b in names]
        expected = [twin.jacobian_rate(b, state.q, state.v, frame) for b in names]
        assert_equal(np.array(found), np.array(expected))


def test_log_cholesky_parameters():
    """Those of Rucker and Wensing in both, and their derivative."""
    rng = np.random.default_rng(21)
    for theta in rng.normal(size=(20, 10)):
        other = pin.LogCholeskyParameters(theta)
        pi = other.toDynamicParameters()[MOMENTS]
        assert_equal(from_log_cholesky(theta), pi)
        assert_equal(log_cholesky(pi), theta)
        assert_equal(log_cholesky_jacobian(theta), other.calculateJacobian()[MOMENTS])
