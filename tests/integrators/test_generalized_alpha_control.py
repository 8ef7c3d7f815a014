"""Generalized-alpha with steps of its own: tolerances, stiffness, multipliers, bits, failures."""

from __future__ import annotations

import functools

import attrs
import numpy as np
import pytest

import mbkit as mb
from examples.closed_loops import flyball_governor
from mbkit.testing import integrator_contract as laws
from mbkit.testing.constrained_problems import CONSTRAINED_PROBLEMS
from mbkit.testing.standard_problems import STANDARD_PROBLEMS
from tests.closed_loops.mechanisms import BY_NAME
from tests.integrators.tops import reference

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

each_formulation = pytest.mark.parametrize("formulation", ["stabilized_index2", "index3"])

TOLERANCES = 10.0 ** np.arange(-9.0, -3.5)


def careful(rtol, rho=0.9, **options):
    return mb.GeneralizedAlpha(rho_inf=rho, rtol=rtol, **options)


def slopes(found):
    """How errors grow with the tolerance, by column."""
    logarithms = np.log(np.array(found))
    return np.polyfit(np.log(TOLERANCES), logarithms, 1)[0]


@pytest.mark.some(3)
@pytest.mark.parametrize("rho", [0.0, 0.9])
@pytest.mark.parametrize("name", ["SO(3)", "SE(3), closed", "SO(3) x R3, closed"])
@each_formulation
def test_errors_of_a_top_follow_the_tolerance(name, formulation, rho):
    """As tol^(2/3), since a step errs by h^3 and a motion by h^2; so do multipliers.

    Steps change all the time: multipliers of first order would fall as tol^(1/3).
    """
    system, v, exact = reference(name)
    found = []
    for tol in TOLERANCES:
        method = careful(tol, rho, formulation=formulation)
        run = mb.simulate(system, (0.0, 1.0), 0.05, v=v, integrator=method, progress=False)
        apart = run.multipliers - exact.multipliers
        found.append(
            [
                np.linalg.norm(system.difference(exact.q[-1], run.q[-1])),
                np.linalg.norm(run.v[-1] - exact.v[-1]),
                np.abs(apart[1:]).max() if apart.size else tol ** (2 / 3),
            ]
        )
    assert slopes(found) == pytest.approx(2 / 3, abs=0.09)
    assert (np.array(found)[:, :2] < 8.0 * TOLERANCES[:, None] ** (2 / 3)).all()


@functools.cache
def four_bar():
    """The example with three redundant rows, and its motion over half a second."""
    case = BY_NAME["four-bar"]
    system = case.system()
    exact = case.run(
        system, 0.5, 5e-4, save_every=100,
        integrator=mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8),
    )  # fmt: skip
    return case, system, exact


@each_formulation
def test_errors_of_a_closed_mechanism_follow_the_tolerance(formulation):
    """With redundant rows, in steps that change all the time; loops stay closed."""
    case, system, exact = four_bar()
    found = []
    for tol in TOLERANCES:
        run = case.run(system, 0.5, 0.05, integrator=careful(tol, formulation=formulation))
        assert run.residuals[:, 0].max() < 1e-11
        found.append(
            [
                np.linalg.norm(system.difference(exact.q[-1], run.q[-1])),
                np.linalg.norm(run.v[-1] - exact.v[-1]),
                np.abs(run.multipliers - exact.multipliers)[1:].max(),
            ]
        )
    assert slopes(found) == pytest.approx(2 / 3, abs=0.09)


@functools.cache
def governor():
    system = flyball_governor.build().assemble()
    return system, flyball_governor.initial_velocity(system)


def evaluations(integrator):
    """The error of the sleeve of the stiff governor after half a second, and what it cost."""
    times = []

    def tau(t, q, v):
        times.append(t)
        return np.zeros(v.size)

    system, v = governor()
    run = mb.simulate(system, (0.0, 0.5), 0.05, v=v, tau=tau, integrator=integrator, progress=False)
    height = flyball_governor.HEIGHT + run.q[-1, system.position_slice("slide")][0]
    return abs(height - flyball_governor.HEIGHT_AFTER_500_MS), len(times)


def test_a_stiff_motion_takes_as_few_steps_as_it_is_smooth():
    """A rate of 8117 1/s binds an explicit method to 1500 steps, at any tolerance."""
    error, ours = evaluations(careful(1e-4))
    assert error < 1e-4
    explicit = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-4)
    assert 10 * ours < evaluations(explicit)[1]


def test_newtons_matrix_is_kept_while_steps_change():
    """It hardly depends on h: most steps have another size, and few a matrix of their own."""
    run = laws.prepared(careful(1e-7), STANDARD_PROBLEMS[1])
    run.course(0, 100, laws._rows(run, 40))
    iterations, matrices = run.problem.newton.total
    assert matrices < 0.2 * iterations


# ------------------------------------------------------------------------------- contract


def test_the_contract_of_steps_holds():
    """The same bits however steps are cut into calls, from the state alone, after failures."""
    for line in laws.contract(careful(1e-7), STANDARD_PROBLEMS[1]):
        assert line.holds, line


@each_formulation
def test_a_closed_mechanism_goes_on_from_its_state_alone(formulation):
    """And has the same bits however steps are cut into calls."""
    method, problem = careful(1e-7, formulation=formulation), CONSTRAINED_PROBLEMS[-1]
    whole = laws.prepared(method, problem)
    rows = laws._rows(whole, 40)
    assert whole.course(0, 100, rows) == (0, 100, 33)
    for line in (laws._cut(method, problem, whole, rows), laws._goes_on(method, problem, whole)):
        assert line.holds, line


def test_what_steps_were_is_part_of_the_state():
    """The next size, the error, and what a stands for; with steps of one size there is none."""
    run = laws.prepared(careful(1e-6), STANDARD_PROBLEMS[1])
    plain = laws.prepared(mb.GeneralizedAlpha(), STANDARD_PROBLEMS[1])
    assert run.problem.state.keys() - plain.problem.state.keys() == {"step_size", "rate"}
    assert not run.problem.memory["step_size"].any()


# ------------------------------------------------------------------------------- failures


@pytest.fixture(scope="module")
def slider():
    """A mass on a rail."""
    mech = mb.Mechanism("slider", gravity=(0, 0, 0))
    body = mech.add_body(mb.Body("mass", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("slide"), mech.world, body)
    return mech.assemble()


@pytest.mark.long
def test_a_singularity_is_told_and_the_last_grid_point_kept(slider):
    """v' = v^2 has no solution beyond 1 / v0."""

    def growth(t, q, v):
        with np.errstate(over="ignore"):
            return v**2

    with pytest.raises(mb.MbkitError, match=r"The simulation stopped at t = 0\.9 s") as caught:
        mb.simulate(
            slider, (0.0, 2.1), 0.3, v=[1.0], tau=growth, integrator=careful(1e-6), progress=False
        )
    run = caught.value.result
    assert run.t[-1] == pytest.approx(0.9)
    assert run.v[-1, 0] == pytest.approx(10.0, rel=1e-2)


def test_a_step_that_newton_cannot_solve_is_taken_in_smaller_ones(slider):
    """A hard nonlinear spring that is not differentiated, as a Python function."""

    def spring(t, q, v):
        with np.errstate(over="ignore"):
            return -1e4 * np.sinh(20.0 * q)

    options = {"q": [0.2], "tau": spring, "progress": False}
    with pytest.raises(mb.MbkitError):
        mb.simulate(slider, (0.0, 0.1), 0.05, integrator=mb.GeneralizedAlpha(), **options)
    run = mb.simulate(slider, (0.0, 0.1), 0.05, integrator=careful(1e-7, 1.0), **options)
    energy = 0.5 * run.v[:, 0] ** 2 * slider.mass_matrix([0.0])[0, 0] + 500.0 * np.cosh(
        20.0 * run.q[:, 0]
    )
    np.testing.assert_allclose(energy, energy[0], rtol=1e-3)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_errors_follow_the_tolerance_after_a_jump_of_forces(slider, rho, tol):
    """What stands for the acceleration is off then, and goes to it by a factor a step."""
    run = mb.simulate(
        slider, (0.0, 1.0), 0.05, tau=lambda t, q, v: np.array([float(t > 1 / 3)]),
        integrator=careful(tol, rho), progress=False,
    )  # fmt: skip
    assert run.q[-1] == pytest.approx([2 / 9], abs=50.0 * tol)
    assert run.v[-1] == pytest.approx([2 / 3], abs=50.0 * tol)


def test_a_force_that_jumps_all_the_time_is_told(slider):
    """It is another number each time that it is asked for."""
    rng = np.random.default_rng(5)
    with pytest.raises(mb.ConvergenceError, match="would need steps below the resolution of t"):
        mb.simulate(
            slider, (0.0, 1.0), 0.1, tau=lambda t, q, v: 1e20 * rng.normal(size=1),
            integrator=careful(1e-6), progress=False,
        )  # fmt: skip


def test_no_step_turns_a_body_by_more_than_its_coordinates_bear():
    """A steady rotation shows no error; ten turns in a step would be none."""
    body = STANDARD_PROBLEMS[0].system
    run = mb.simulate(
        body, (0.0, 1.0), 1.0, v=[0.0, 0.0, 60.0], integrator=careful(1e-3), progress=False
    )
    half = np.array([np.cos(30.0), 0.0, 0.0, np.sin(30.0)])
    assert min(np.abs(run.q[-1] - half).max(), np.abs(run.q[-1] + half).max()) < 1e-9


def test_events_are_found_within_long_steps():
    """A ball that falls onto the floor, between grid points that are far apart."""
    mech = mb.Mechanism("ball", gravity=(0, 0, -9.81))
    ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    mech.add_joint(mb.PrismaticJoint("height", axis=(0, 0, 1)), mech.world, ball)
    floor = mb.Event("floor", "height", direction="falling", terminal=True)
    run = mb.simulate(
        mech.assemble(), (0.0, 5.0), 1.0, q=[3.0], events=[floor], progress=False,
        integrator=careful(1e-8),
    )  # fmt: skip
    assert abs(run.t[-1] - np.sqrt(2 * 3.0 / 9.81)) < 1e-8


@pytest.mark.parametrize("wrong", [0.0, -1e-6, np.inf, "small"])
def test_tolerances_that_are_none_are_refused(wrong):
    for field in ("rtol", "atol"):
        with pytest.raises(mb.UsageError, match=f"{field} must be a positive number"):
            mb.GeneralizedAlpha(**{field: wrong})
    assert attrs.fields(mb.GeneralizedAlpha).rtol.default is None
