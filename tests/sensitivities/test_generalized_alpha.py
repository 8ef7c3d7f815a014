"""Derivatives of runs by the generalized-alpha method, of trees and of closed mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from mbkit.lie import SE3
from mbkit.testing import constrained_problems as problems
from tests.sensitivities.differences import assert_adjoint, assert_same, difference
from tests.trees import random_mechanism, random_state

#: Newton's method leaves nothing that differences would see.
SOLVED = {"tolerance": 1e-14}


def closed(system, q, v, driven=0):
    """Return the state with its loops closed by least motion; the first joints are driven."""
    for _ in range(8):
        A = system.constraint_jacobian(q)
        back = np.zeros(A.T.shape)
        M = system.mass_matrix(q)[driven:, driven:]
        back[driven:] = np.linalg.solve(M, A[:, driven:].T)
        least = back @ np.linalg.pinv(A @ back, rcond=1e-10)
        q = system.retract(q, -least @ system.constraint_residual(q))
    return q, v - least @ system.constraint_velocity(q, v)


@pytest.mark.slow
@pytest.mark.parametrize(
    "representation",
    [mb.BodyFixed(), pytest.param(mb.Spatial(), marks=pytest.mark.long)],
    ids=lambda each: each.name,
)
def test_a_tree_with_forces(representation):
    rng = np.random.default_rng(3)
    mechanism = random_mechanism(rng, 5, ("revolute", "spherical", "free", "universal", "planar"))
    spring = mb.SpringDamper(
        "spring", "body1", "body3", stiffness=30.0, rest_length=0.3, damping=2.0,
        point_a=(0.1, 0.0, 0.2), point_b=(0.0, 0.2, 0.0),
    )  # fmt: skip
    system = mechanism.assemble(mb.RelativeCoordinates(representation)).with_forces([spring])
    state = random_state(rng, system, 0.5)
    method = mb.GeneralizedAlpha(rho_inf=0.6, **SOLVED)

    def run(system=system, q=state.q, v=state.v, tau=state.tau):
        options = {"tau": tau, "integrator": method, "save_every": 3}
        return mb.simulate(system, (0.0, 0.1), 1e-2, q=q, v=v, **options)

    names = ("bodies.body1.com", "joints.joint2.S_pred", "forces.spring.stiffness")
    values = [system.parameters[name] for name in names]
    base = run()
    found = mb.sensitivities(base, by=["q", "v", "tau", "gravity", *names])
    unit, twist = np.eye(system.nv), np.eye(6)[4]
    changes = {
        ("q", 6): lambda e: run(q=system.retract(state.q, e * unit[6])),
        ("v", 3): lambda e: run(v=state.v + e * unit[3]),
        ("tau", 5): lambda e: run(tau=state.tau + e * unit[5]),
        (names[0], 1): lambda e: run(system.with_parameters({names[0]: values[0] + e * twist[3:]})),
        (names[1], 4): lambda e: run(
            system.with_parameters({names[1]: values[1] @ SE3.exp(e * twist)})
        ),
        (names[2], ()): lambda e: run(system.with_parameters({names[2]: values[2] + e})),
    }
    for (name, entry), change in changes.items():
        assert_same(system, base, found, name, entry, change)
    assert_adjoint(base, found)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(
    ("formulation", "start"),
    [("stabilized_index2", "plain"), ("index3", "plain"), ("index3", "second order")],
)
def test_a_closed_mechanism_in_space(formulation, start):
    system = problems.spatial_four_bar()
    q, v = closed(system, system.reference_configuration(), problems._turned_by_the_crank(system))
    method = mb.GeneralizedAlpha(0.8, formulation=formulation, start=start, **SOLVED)

    def run(system=system, q=q, v=v):
        q, v = closed(system, q, v)
        return mb.simulate(system, (0.0, 0.05), 5e-3, q=q, v=v, integrator=method)

    stabilised = formulation == "stabilized_index2"
    names = ("bodies.coupler.mass", *["joints.ball.S_pred"] * stabilised)
    values = [system.parameters[name] for name in names]
    base = run()
    found = mb.sensitivities(base, by=["q", "v", *names])
    unit, twist = np.eye(4), np.eye(6)[4]
    changes = {
        ("q", 1): lambda e: run(q=system.retract(q, e * unit[1])),
        ("v", 0): lambda e: run(v=v + e * unit[0]),
        (names[0], ()): lambda e: run(system.with_parameters({names[0]: values[0] + e})),
    }
    if stabilised:
        changes[names[1], 4] = lambda e: run(
            system.with_parameters({names[1]: values[1] @ SE3.exp(e * twist)})
        )
    for (name, entry), change in changes.items():
        assert_same(system, base, found, name, entry, change, rtol=1e-8)
    assert_adjoint(base, found)
    A = system.constraint_jacobian(base.q)
    assert np.abs(A @ found.q["v"]).max() < 1e-12  # loops stay closed


@pytest.mark.slow
def test_driven_joints_do_not_move_with_numbers_of_constraints():
    """Whose forces, by eta, act along steps in the stabilised form."""
    mech = mb.Mechanism("driven", gravity=(0.0, 0.3, -9.81))
    shape = mb.SpatialInertia.from_com(1.0, (0.4, 0.1, -0.3), 0.1 * np.eye(3))
    body = mech.world
    for k, name in enumerate(("crank", "upper", "lower")):
        joint = mb.RevoluteJoint(f"{name} joint", axis=(0.1 * k, 1.0, 0.2), point=(k, 0.0, 0.0))
        next_body = mech.add_body(mb.Body(name, shape))
        if name == "crank":
            joint = joint.prescribe("0.3 + 2.0 * t + 0.4 * sin(5 * t)")
        mech.add_joint(joint, body, next_body)
        body = next_body
    ends = {"point_a": (2.0, 0.0, -1.0), "point_b": (2.6, 0.0, 0.0)}
    mech.add_constraint(mb.Distance("rod", "world", "lower", length=1.5, **ends))
    system = mech.assemble()
    q, v = system.close_loops(system.reference_configuration(), np.zeros(3))
    name = "constraints.rod.point_a"

    def run(e):
        place = system.parameters[name] + e * np.array([1.0, 0.0, 0.0])
        moved = system.with_parameters({name: place})
        start = closed(moved, q, v, driven=1)
        return mb.simulate(
            moved, (0.0, 0.05), 5e-3, q=start[0], v=start[1],
            integrator=mb.GeneralizedAlpha(0.8, **SOLVED),
        )  # fmt: skip

    base = run(0.0)
    found = mb.sensitivities(base, by=[name])
    assert not found.q[name][:, 0].any()
    assert not found.v[name][:, 0].any()
    assert_same(system, base, found, name, 0, run, rtol=1e-8)
    assert_adjoint(base, found)


def test_a_free_ball_that_rolls():
    """From a perturbed start, along velocities with which it rolls."""
    mech = mb.Mechanism("ball on a table", gravity=(0, 0, -9.81))
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.FreeJoint("free"), mech.world, ball)
    mech.add_constraint(
        mb.RollingSphere("table", "world", "ball", radius=0.1, point_a=(0, 0, -0.1))
    )
    system = mech.assemble()
    rolling = np.array([3.0, -2.0, 1.0, -0.2, -0.3, 0.0])
    method = mb.GeneralizedAlpha(formulation="index3", **SOLVED)

    def run(e):
        v = (1.0 + e) * rolling
        return mb.simulate(system, (0.0, 0.04), 1e-2, v=v, integrator=method)

    base = run(0.0)
    found = mb.sensitivities(base, by=["q", "v"])
    for own, expected in zip((found.q, found.v), difference(system, base, run, 2e-3), strict=True):
        np.testing.assert_allclose(own["v"] @ rolling, expected, rtol=0.0, atol=1e-9)
    assert_adjoint(base, found)


def test_sensitivities_converge_to_those_of_a_method_of_high_order():
    mechanism = mb.Mechanism("arm", gravity=(0.0, 0.0, -9.81))
    body = mechanism.world
    for name, joint in (("upper", mb.RevoluteJoint("shoulder", axis=(0, 1, 0))),
                        ("lower", mb.SphericalJoint("elbow", point=(0, 0, -1)))):  # fmt: skip
        inertia = mb.SpatialInertia.from_com(
            1.0, (0.1, 0.0, -0.5 - (name == "lower")), 0.1 * np.eye(3)
        )
        next_body = mechanism.add_body(mb.Body(name, inertia))
        mechanism.add_joint(joint, body, next_body)
        body = next_body
    system = mechanism.assemble()
    v, by = np.array([1.0, 0.5, -1.0, 2.0]), ["q", "v", "bodies.lower.com"]

    def end(h, method):
        run = mb.simulate(system, (0.0, 0.4), h, v=v, integrator=method)
        found = mb.sensitivities(run, by=by)
        return np.concatenate([found.q[name][-1] for name in by], axis=-1)

    exact = end(5e-3, mb.RungeKuttaMuntheKaas())
    errors = [np.abs(end(h, mb.GeneralizedAlpha(**SOLVED)) - exact).max() for h in (0.02, 0.01)]
    assert 3.6 < errors[0] / errors[1] < 4.4
