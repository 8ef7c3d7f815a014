"""The variational integrator: order, symplectic form, momenta, reversal, energy over long times."""

import sys
from pathlib import Path

import numpy as np
import pytest
from mbkit_symplectic import VariationalIntegrator

import mbkit as mb
from mbkit.testing import check_integrator

# Orders and drifts are measured in large steps.
pytestmark = pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")


def rods(count, gravity=(0, 0, -9.81)):
    """Return a chain of rods on hinges of different axes."""
    mech = mb.Mechanism("rods", gravity=gravity)
    rod = mb.SpatialInertia.cylinder(1.0, radius=0.05, length=1.0)
    before = mech.world
    for k in range(count):
        body = mech.add_body(mb.Body(f"rod {k}", rod))
        axis = (0.2 * k, 1.0, 0.1)
        place = (0, 0, 0.5) if k == 0 else (0, 0, -0.5)
        mech.add_joint(mb.RevoluteJoint(f"hinge {k}", axis=axis, point=place), before, body)
        before = body
    return mech.assemble()


def floating():
    """Return three bodies that float without forces, on a free joint, a ball joint and a hinge."""
    mech = mb.Mechanism("floating", gravity=(0, 0, 0))
    box = mb.SpatialInertia.box(1.0, size=(0.2, 0.4, 0.6))
    one, two, three = (mech.add_body(mb.Body(name, box)) for name in ("one", "two", "three"))
    mech.add_joint(mb.FreeJoint("free"), mech.world, one)
    mech.add_joint(mb.SphericalJoint("ball", point=(0.2, 0, 0.5)), one, two)
    mech.add_joint(
        mb.HelicalJoint("screw", axis=(1, 1, 0), point=(0, 0.3, 0), pitch=0.1), two, three
    )
    return mech.assemble()


def simulate(system, span, h, **options):
    return mb.simulate(
        system, span, h, integrator=VariationalIntegrator(), progress=False, **options
    )


def test_it_keeps_what_an_integrator_of_order_two_must_keep():
    """Orders within 0.1 on ball joints, free joints and chains, with and without forces."""
    check_integrator(VariationalIntegrator()).raise_if_failed()


def test_the_map_of_a_step_is_symplectic():
    """D^T J D = J for the derivative D of (q, p) -> (q', p'), p = M v, by difference quotients."""
    system = rods(2)
    h, eps = 0.02, 1e-5

    def step(z):
        q, p = z[:2], z[2:]
        v = np.linalg.solve(system.mass_matrix(q), p)
        run = simulate(system, (0.0, h), h, q=q, v=v)
        return np.concatenate([run.q[-1], system.mass_matrix(run.q[-1]) @ run.v[-1]])

    q = np.array([0.7, -0.4])
    z = np.concatenate([q, system.mass_matrix(q) @ np.array([1.5, -2.0])])
    columns = [(step(z + d) - step(z - d)) / (2 * eps) for d in eps * np.eye(4)]
    D = np.array(columns).T
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(D.T @ J @ D, J, rtol=0, atol=2e-9)
    exact = mb.simulate(system, (0.0, h), h, q=q, v=[1.5, -2.0])  # RK4, which is not
    assert abs(step(z)[:2] - exact.q[-1]).max() > 1e-6  # it is a method of order 2, after all


def test_momenta_of_symmetries_are_kept_to_rounding():
    """Linear and angular momentum of bodies that float, with steps that are far from exact.

    A twist between two instants is known to the rounding of positions divided by the step.
    """
    system = floating()
    v = np.random.default_rng(5).normal(size=system.nv)
    run = simulate(system, (0.0, 2.0), 0.02, v=v)
    momenta = system.momentum(run.q, run.v)
    np.testing.assert_allclose(momenta, momenta[:1].repeat(101, axis=0), rtol=0, atol=2e-12)
    assert abs(run.energy_drift).max() > 1e-5  # the energy is not: the steps are large


def test_it_runs_backwards_to_where_it_came_from():
    """It is symmetric: with v turned round it returns, to rounding, whatever the step."""
    system = rods(3)
    q, v = np.array([0.5, -0.8, 1.1]), np.array([0.3, 1.0, -0.5])
    there = simulate(system, (0.0, 1.0), 0.02, q=q, v=v)
    back = simulate(system, (0.0, 1.0), 0.02, q=there.q[-1], v=-there.v[-1])
    np.testing.assert_allclose(back.q[-1], q, atol=1e-11)
    np.testing.assert_allclose(back.v[-1], -v, atol=1e-10)


def test_the_energy_oscillates_and_does_not_drift():
    """Means over the first and the last tenth of 100,000 steps; the amplitude falls with h^2."""
    system = rods(2)
    start = {"q": [0.6, 0.3]}
    run = simulate(system, (0.0, 500.0), 0.005, save_every=10, **start)
    drift = run.energy_drift
    tenth = drift.size // 10
    amplitude = np.ptp(drift)
    assert abs(drift[:tenth].mean() - drift[-tenth:].mean()) < 0.02 * amplitude
    finer = simulate(system, (0.0, 50.0), 0.0025, save_every=10, **start)
    coarser = np.ptp(drift[: drift.size // 10])
    assert np.log2(coarser / np.ptp(finer.energy_drift)) == pytest.approx(2.0, abs=0.15)
    heun = mb.simulate(
        system, (0.0, 500.0), 0.005, save_every=1000, progress=False, **start,
        integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.HEUN),
    )  # fmt: skip
    assert abs(heun.energy_drift[-1]) > 5.0 * amplitude  # same order, and it drifts away


def test_a_step_that_is_too_large_ends_with_what_was_computed():
    with pytest.raises(mb.NotFiniteError, match="The simulation stopped at t =") as caught:
        simulate(rods(2), (0.0, 100.0), 2.0, q=[1.0, 0.5], v=[20.0, -30.0])
    assert not caught.value.result.completed


def test_mbkit_finds_it_where_it_is_installed():
    """By its entry point; where it is not installed, the module says the same."""
    from mbkit_symplectic import plugin

    assert plugin.mbkit_integrators() == {"variational": VariationalIntegrator}
    assert Path(sys.modules["mbkit_symplectic"].__file__).is_file()
