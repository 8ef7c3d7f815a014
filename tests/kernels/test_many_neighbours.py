"""Bodies with so many joints that constraints have unknowns beside their rows: "hubs".

The rows of a hub stand behind those of the constraints. What is kept for rows alone must not be
indexed with them, which shows only where indices are checked.
"""

import numpy as np
import pytest

import mbkit as mb

JOINTS = 9  # on one body; from eight on it is a hub


@pytest.fixture(scope="module")
def star():
    mech = mb.Mechanism("star")
    inertia = mb.SpatialInertia.box(1.0, size=(0.2, 0.4, 0.6))
    middle = mech.add_body(mb.Body("middle", inertia))
    mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 0, 1)), mech.world, middle)
    for k in range(JOINTS - 1):
        arm = mech.add_body(mb.Body(f"arm {k}", inertia))
        hinge = mb.RevoluteJoint(f"hinge {k}", axis=(0, 1, 0), point=(0.1 * k, 0, 0))
        mech.add_joint(hinge, middle, arm)
    return mech.assemble(mb.AbsoluteCoordinates())


@pytest.mark.parametrize("solver", [mb.SchurComplement(), mb.MinimumNorm(), mb.NullSpace()])
def test_a_body_with_many_joints_satisfies_the_equations_of_motion(star, solver):
    rng = np.random.default_rng(1)
    q = star.reference_configuration()
    tau, v = rng.normal(size=(2, star.nv))
    v = star.consistent_velocity({}, q, v)
    vdot, multipliers = star.solve_dynamics(q, v, tau, solver=solver)
    A = star.constraint_jacobian(q)
    left = star.inverse_dynamics(q, v, vdot) - tau - A.T @ multipliers
    assert np.abs(left).max() < 1e-9 * np.abs(multipliers).max()
    assert np.abs(star.constraint_acceleration(q, v, vdot)).max() < 1e-9 * np.abs(vdot).max()


@pytest.mark.parametrize("integrator", [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha()])
def test_a_body_with_many_joints_is_simulated(star, integrator):
    v = star.consistent_velocity({}, star.reference_configuration(), np.ones(star.nv))
    run = mb.simulate(star, (0.0, 2e-3), 1e-3, integrator=integrator, v=v, progress=False)
    assert np.abs(star.constraint_residual(run.q[-1])).max() < 1e-12
