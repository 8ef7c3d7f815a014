"""The generalized-alpha method: orders, constraints, stiffness, start, failure."""

from __future__ import annotations

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME, CASES
from tests.every_representation import each_representation
from tests.integrators.tops import TOPS, reference

# Orders and damping are measured in steps that are too large for the energies, too.
pytestmark = [
    pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning"),
]

each_top = pytest.mark.parametrize("name", TOPS)
each_formulation = pytest.mark.parametrize("formulation", ["stabilized_index2", "index3"])

STEPS = np.array([40, 80, 160, 320])


def slope(errors):
    """The order that errors of steps h, h/2, ... fall with, by least squares."""
    return -np.polyfit(np.log2(STEPS), np.log2(errors), 1)[0]


def errors(name, **options):
    """Errors of q and v at the end, of multipliers on the way and in the first six steps."""
    system, v, exact = reference(name)
    found = []
    for steps in STEPS:
        method = mb.GeneralizedAlpha(**options)
        run = mb.simulate(system, (0.0, 1.0), 1.0 / steps, v=v, integrator=method)
        early = mb.simulate(system, (0.0, 6.0 / steps), 0.1 / steps, v=v, save_every=10)
        every = steps // 20
        found.append(
            [
                np.linalg.norm(system.difference(exact.q[-1], run.q[-1])),
                np.linalg.norm(run.v[-1] - exact.v[-1]),
                np.abs(run.multipliers[::every] - exact.multipliers)[1:].max(initial=1e-300),
                np.abs(run.multipliers[1:7] - early.multipliers[1:]).max(initial=1e-300),
            ]
        )
    return np.array(found).T


@pytest.mark.some(3)
@each_top
@each_formulation
@pytest.mark.parametrize("rho", [0.6, 0.9])
def test_second_order_in_positions_velocities_and_multipliers(name, formulation, rho):
    """On every group, from the first step on."""
    q, v, multipliers, first = errors(name, rho_inf=rho, formulation=formulation)
    assert slope(q) == pytest.approx(2.0, abs=0.1)
    assert slope(v) == pytest.approx(2.0, abs=0.1)
    if "closed" in name:
        assert slope(multipliers) == pytest.approx(2.0, abs=0.1)
        assert slope(first) > 1.9


@each_formulation
def test_a_plain_start_costs_an_order_of_the_multipliers(formulation):
    """On SO(3) x R3, whose constraint bends: Arnold, Bruels and Cardona 2015, section 4.3."""
    q, _, _, first = errors("SO(3) x R3, closed", formulation=formulation, start="plain")
    assert slope(q) == pytest.approx(2.0, abs=0.1)
    assert np.log2(first[-2] / first[-1]) == pytest.approx(1.0, abs=0.15)


@pytest.mark.some(2)
@each_formulation
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_closed_mechanism_moves_as_it_does_with_runge_kutta(case, formulation):
    """Errors fall by four when steps are halved, redundant rows or not; loops stay closed."""
    system = case.system()
    h, span = 0.5 * case.h, 80 * case.h
    exact = case.run(system, span, h / 4, save_every=640)
    found = []
    for steps in (80, 160):
        method = mb.GeneralizedAlpha(formulation=formulation)
        run = case.run(system, span, span / steps, integrator=method)
        found.append(np.linalg.norm(system.difference(exact.q[-1], run.q[-1])))
        assert run.residuals[:, 0].max() < 1e-11
        if formulation == "stabilized_index2":
            assert run.residuals[:, 1].max() < 1e-9
    assert found[1] < found[0] / 3.5 or found[1] < 1e-9


@each_representation
def test_representations_agree(representation):
    """They are four ways to the same residual."""
    case = BY_NAME["four-bar"]
    system = case.system(representation=representation)
    run = case.run(system, 0.2, integrator=mb.GeneralizedAlpha())
    same = case.run(case.system(), 0.2, integrator=mb.GeneralizedAlpha())
    np.testing.assert_allclose(run.q, same.q, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(run.multipliers, same.multipliers, rtol=0.0, atol=1e-6)


def test_multipliers_of_redundant_rows_are_those_of_least_norm():
    """As `solve_dynamics` has them, to the order of the method."""
    case = BY_NAME["four-bar"]
    system = case.system()
    run = case.run(system, 0.2, integrator=mb.GeneralizedAlpha())
    _, multipliers = system.solve_dynamics(run.q[-1], run.v[-1])
    A = system.constraint_jacobian(run.q[-1])
    assert np.linalg.matrix_rank(A, tol=1e-9) < len(A)
    np.testing.assert_allclose(run.multipliers[-1], multipliers, rtol=0.0, atol=1e-2)
    dependent = np.eye(len(A)) - A @ np.linalg.pinv(A, rcond=1e-9)
    assert np.abs(dependent @ run.multipliers[-1]).max() < 1e-9


def stiff_pendulum(stiffness):
    """A bob on a slider on a hinge, held by a spring along the rod."""
    mech = mb.Mechanism("elastic pendulum", gravity=(0, 0, -9.81))
    arm = mech.add_body(mb.Body("arm", mb.SpatialInertia.sphere(0.1, radius=0.05)))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, arm)
    mech.add_joint(mb.PrismaticJoint("rod", axis=(0, 0, -1)), arm, bob)
    mech.add_force(mb.JointSpring("spring", "rod", stiffness=stiffness, rest=1.0))
    return mech.assemble()


def test_what_is_faster_than_the_step_is_damped():
    """A spring of 10^8 N/m, 10 kHz and more, at steps of 10 ms: it stays at its length."""
    system = stiff_pendulum(1e8)
    q = [1.0, 1.0]
    run = mb.simulate(system, (0.0, 2.0), 0.01, q=q, integrator=mb.GeneralizedAlpha())
    assert np.abs(run.q[:, 1] - 1.0).max() < 1e-6
    with pytest.raises(mb.NotFiniteError):
        mb.simulate(system, (0.0, 2.0), 0.01, q=q)


@pytest.mark.parametrize("rho", [0.3, 0.8, 1.0])
def test_the_spectral_radius_is_the_one_that_is_asked_for(rho):
    """A spring much faster than the step loses that part of its motion in each step."""
    mech = mb.Mechanism("oscillator", gravity=(0, 0, 0))
    mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, mass)
    mech.add_force(mb.JointSpring("spring", "slide", stiffness=1e12))
    method = mb.GeneralizedAlpha(rho_inf=rho, start="plain")
    run = mb.simulate(mech.assemble(), (0.0, 4.0), 0.1, q=[1e-6], integrator=method)
    # a defective eigenvalue: the powers of rho are multiplied by a polynomial of the second degree
    size = np.abs(run.q[-12:, 0])
    factors = (size[1:] / size[:-1])[-3:]
    assert factors == pytest.approx(rho, rel=0.08)


def test_newmark_keeps_the_energy_of_an_oscillator():
    """The trapezoidal rule: x^2 + (v / omega)^2 stays to rounding."""
    mech = mb.Mechanism("oscillator", gravity=(0, 0, 0))
    mass = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, mass)
    mech.add_force(mb.JointSpring("spring", "slide", stiffness=50.0))
    newmark = mb.GeneralizedAlpha(coefficients=mb.AlphaCoefficients.newmark(), start="plain")
    run = mb.simulate(mech.assemble(), (0.0, 20.0), 0.05, q=[0.3], integrator=newmark)
    energy = run.kinetic_energy + 25.0 * run.q[:, 0] ** 2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-11)


def test_coefficients_are_those_of_the_book():
    """rho = 0.9: 8/19, 9/19, 100/361, 21/38; HHT with alpha = 0 is Newmark's rule."""
    c = mb.AlphaCoefficients.from_rho_inf(0.9)
    expected = (8 / 19, 9 / 19, 100 / 361, 21 / 38)
    assert (c.alpha_m, c.alpha_f, c.beta, c.gamma) == pytest.approx(expected, abs=1e-15)
    assert mb.AlphaCoefficients.hht(0.0) == mb.AlphaCoefficients.newmark()
    for wrong in ((0.0, 0.0, 0.25, 0.6), (1.0, 0.0, 0.25, -0.5), (0.0, 0.0, 0.0, 0.5)):
        with pytest.raises(mb.errors.UsageError):
            mb.AlphaCoefficients(*wrong)
    linear = mb.AlphaCoefficients(0.0, 0.0, 1 / 6, 0.5)
    assert mb.GeneralizedAlpha(coefficients=linear).numbers == linear
    for rho in (-0.1, 1.1, np.nan):
        with pytest.raises(mb.errors.UsageError, match="rho_inf"):
            mb.GeneralizedAlpha(rho)
    assert mb.GeneralizedAlpha().numbers == c == mb.GeneralizedAlpha(rho_inf=0.9).numbers
    both = {"rho_inf": 0.5, "coefficients": mb.AlphaCoefficients.newmark()}
    for options in (
        both,
        {"coefficients": 0.5},
        {"formulation": "index 1"},
        {"tolerance": 0.0},
        {"start": "fast"},
    ):
        with pytest.raises(mb.errors.UsageError, match=next(iter(options))):
            mb.GeneralizedAlpha(**options)


def spectral_radius(c, frequency):
    """Of a step of size 1 of d'' = -w^2 d, with d, v, a and d'' as its state."""
    after = [
        [1, 0, -c[2], 0], [0, 1, -c[3], 0], [0, 0, 1 - c[0], c[1] - 1], [frequency**2, 0, 0, 1]
    ]  # fmt: skip
    before = [[1, 1, 0.5 - c[2], 0], [0, 1, 1 - c[3], 0], [0, 0, -c[0], c[1]], [0, 0, 0, 0]]
    return np.abs(np.linalg.eigvals(np.linalg.solve(after, before))).max()


@pytest.mark.parametrize("alpha_m", [-1.0, 0.0, 0.3, 0.5, 0.6, 0.9])
@pytest.mark.parametrize("alpha_f", [0.0, 0.2, 0.5, 0.6])
def test_coefficients_that_are_unstable_are_refused(alpha_m, alpha_f):
    """With beta on the line from where on steps may have any size."""
    gamma = 0.5 + alpha_f - alpha_m
    numbers = (alpha_m, alpha_f, max(0.01, 0.25 + 0.5 * (alpha_f - alpha_m)), gamma)
    if max(spectral_radius(numbers, w) for w in (0.1, 1.0, 10.0, 1e3)) < 1.0 + 1e-7:
        assert mb.AlphaCoefficients(*numbers).gamma == gamma
    else:
        with pytest.raises(mb.UsageError, match="alpha_m <= alpha_f <= 1/2 must hold"):
            mb.AlphaCoefficients(*numbers)


def test_constraints_are_kept_by_the_method_alone():
    """A second way to keep them would be one too many."""
    case = BY_NAME["four-bar"]
    with pytest.raises(mb.errors.UsageError, match="keeps the constraints itself"):
        case.run(
            case.system(), 0.1, integrator=mb.GeneralizedAlpha(), stabilisation=mb.Projection()
        )


def test_prescribed_joints_are_driven():
    """Second order beside a support that is moved, and the work that moves it."""
    mech = mb.Mechanism("shaker", gravity=(0, 0, -9.81))
    cart = mech.add_body(mb.Body("cart", mb.SpatialInertia.sphere(2.0, radius=0.1)))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.5, (0, 0, -0.5))))
    rail = mb.PrismaticJoint("rail", axis=(1, 0, 0)).prescribe(lambda t: 0.5 * np.sin(2.0 * t))
    mech.add_joint(rail, mech.world, cart)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), cart, bob)
    system = mech.assemble()
    exact = mb.simulate(system, (0.0, 2.0), 2e-3, save_every=1000)
    found = []
    for steps in (50, 100, 200):
        method = mb.GeneralizedAlpha()
        run = mb.simulate(system, (0.0, 2.0), 2.0 / steps, integrator=method)
        found.append([abs(run.q[-1, 1] - exact.q[-1, 1]), np.abs(run.energy_balance).max()])
    ratios = np.array(found[:-1]) / np.array(found[1:])
    assert ratios == pytest.approx(4.0, abs=0.4)


def test_impacts_begin_anew():
    """A pendulum that is thrown back by a wall, at the times of a finer method."""
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    bob = mech.add_body(mb.Body("bob", mb.SpatialInertia.from_com(1.0, (0, 0, -1.0))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, bob)
    system = mech.assemble()
    wall = mb.Event("wall", "hinge", direction="falling", reset=mb.Impact(0.7))
    exact = mb.simulate(system, (0.0, 3.0), 1e-3, q=[0.8], events=[wall])
    run = mb.simulate(
        system, (0.0, 3.0), 2e-3, q=[0.8], events=[wall], integrator=mb.GeneralizedAlpha()
    )
    assert len(run.events.t) == len(exact.events.t) > 1
    np.testing.assert_allclose(run.events.t, exact.events.t, rtol=0.0, atol=2e-5)


@pytest.mark.parametrize("integrator", [mb.GeneralizedAlpha(), mb.BLieDF(3)], ids=repr)
def test_tau_on_a_driven_joint_does_its_work(integrator):
    """What its drive adds comes on top: the energy balance closes."""
    mech = mb.Mechanism("driven", gravity=(0, 0, -9.81))
    rod = mb.SpatialInertia.from_com(1.0, (0, 0, -0.5), 0.1 * np.eye(3))
    upper, lower = (mech.add_body(mb.Body(name, rod)) for name in ("upper", "lower"))
    drive = mb.RevoluteJoint("drive", axis=(0, 1, 0)).prescribe(lambda t: np.sin(3.0 * t))
    mech.add_joint(drive, mech.world, upper)
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0), point=(0, 0, -1)), upper, lower)
    run = mb.simulate(
        mech.assemble(), (0.0, 0.5), 1e-3, tau=[5.0, 0.0], integrator=integrator, save_every=50
    )
    assert np.abs(run.energy_balance).max() < 1e-4


@pytest.mark.parametrize("integrator", [mb.GeneralizedAlpha(), mb.BLieDF(2)], ids=repr)
def test_a_grain_on_a_station_is_not_singular(integrator):
    """Inertias fifteen powers of ten apart: each has its own size of rounding."""
    mech = mb.Mechanism("station", gravity=(0, 0, 0))
    station = mech.add_body(mb.Body("station", mb.SpatialInertia.sphere(4e5, radius=20.0)))
    wheel = mech.add_body(mb.Body("wheel", mb.SpatialInertia.sphere(1e-3, radius=2e-3)))
    mech.add_joint(mb.FreeJoint("free"), mech.world, station)
    mech.add_joint(mb.RevoluteJoint("hinge"), station, wheel)
    v = np.zeros(7)
    v[-1] = 1.0
    run = mb.simulate(mech.assemble(), (0.0, 0.1), 1e-2, v=v, integrator=integrator)
    assert run.q[-1, -1] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.long
def test_smaller_steps_are_not_worse():
    """But for rounding of turns, which is divided by h twice: 1e-16 / h^2 and no more."""
    system, v, exact = reference("SO(3) x R3, closed")
    found = []
    for steps in (1000, 4000, 16000):
        run = mb.simulate(
            system, (0.0, 1.0), 1.0 / steps, v=v, integrator=mb.BLieDF(4), save_every=steps
        )
        found.append(np.abs(system.difference(exact.q[-1], run.q[-1])).max())
    assert found[1] < found[0] + 1e-16 * 4000**2
    assert found[2] < found[0] + 1e-16 * 16000**2
