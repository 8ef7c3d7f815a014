"""Laws of every closed mechanism: it stays closed, keeps its energy, and has one motion."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME, CASES
from tests.every_representation import representations_in_turn

#: That rows are redundant is known here.
pytestmark = pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning")

each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
each_cut = pytest.mark.parametrize(
    ("case", "cut"),
    [(case, cut) for case in CASES for cut in case.cuts],
    ids=[f"{case.name}: {', '.join(cut)}" for case in CASES for cut in case.cuts],
)


def _moving(case, system, steps=20):
    """Return a state that the mechanism comes to after some steps."""
    run = case.run(system, steps * case.h, save_every=steps)
    return run.q[-1], run.v[-1]


@pytest.mark.some(6)
@each_cut
def test_the_closed_mechanism_has_its_freedoms_left(case, cut):
    """However it is cut: velocities of the tree less the rank of the constraints."""
    system = case.system(cut)
    assert np.abs(system.constraint_residual(system.reference_configuration())).max() < 1e-15
    q, _ = _moving(case, system)
    rank = np.linalg.matrix_rank(system.constraint_jacobian(q), tol=1e-9)
    assert system.nv - rank == case.mobility


@pytest.mark.some(6)
@each_cut
def test_the_initial_velocity_keeps_the_loops_closed(case, cut):
    """It is given in closed form for all joints, and taken of those in the tree."""
    system = case.system(cut)
    v = case.velocity(system)
    rate = system.constraint_velocity(system.reference_configuration(), v)
    assert np.abs(rate).max() < 1e-14 * max(1.0, np.abs(v).max())


@pytest.mark.parametrize(
    ("name", "driver"),
    [
        ("four-bar", "A"),
        ("3-four-bar", "ground0"),
        ("spatial slider-crank", "pivot"),
        ("double Cardan", "drive"),
    ],
)
def test_the_velocity_of_one_joint_gives_that_of_all(name, driver):
    """With one freedom there is one velocity for each of the driving joint."""
    case = BY_NAME[name]
    system = case.system()
    v = case.velocity(system)
    rates = {driver: v[system.velocity_slice(driver)]}
    found = system.consistent_velocity(rates, system.reference_configuration())
    assert np.abs(found - v).max() < 1e-13 * np.abs(v).max()


@pytest.mark.some(5)
@each_case
def test_loops_stay_closed_and_energy_is_kept(case):
    """At the step that the documentation names: positions and velocities, energy or its balance."""
    system = case.system()
    run = case.run(system, case.span, save_every=10)
    assert np.abs(system.constraint_residual(run.q)).max() < 1e-10
    assert np.abs(system.constraint_velocity(run.q, run.v)).max() < 1e-10
    change = run.energy_drift if case.conservative else run.energy_balance
    assert np.abs(change).max() < 1e-6 * run.kinetic_energy.max()


@pytest.mark.some(6)
@each_cut
def test_accelerations_close_the_loops_and_multipliers_balance_them(case, cut):
    """A vdot + dA/dt v = 0, and M vdot + b = f + A^T multipliers."""
    system = case.system(cut)
    q, v = _moving(case, system)
    f = system.generalized_forces(q, v)
    vdot, multipliers = system.solve_dynamics(q, v)
    scale = np.abs(vdot).max()
    assert np.abs(system.constraint_acceleration(q, v, vdot)).max() < 1e-11 * scale
    A = system.constraint_jacobian(q)
    left = system.mass_matrix(q) @ vdot + system.bias_force(q, v) - f - A.T @ multipliers
    forces = np.abs(A.T @ multipliers).max() + np.abs(f).max()
    assert np.abs(left).max() < 1e-11 * forces


@pytest.mark.some(6)
@representations_in_turn("case", BY_NAME)
def test_motion_is_the_same_in_all_representations(case, representation):
    """Each has its own recursions and its own response of the tree to the multipliers."""
    first, other = case.system(), case.system(representation=representation)
    q, v = _moving(case, first)
    expected, forces = first.solve_dynamics(q, v)
    found, same = other.solve_dynamics(q, v)
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    assert np.abs(same - forces).max() < 1e-10 * np.abs(forces).max()
    ends = [case.run(system, 100 * case.h, save_every=100) for system in (first, other)]
    assert np.abs(ends[0].q[-1] - ends[1].q[-1]).max() < 1e-11
    assert np.abs(ends[0].v[-1] - ends[1].v[-1]).max() < 1e-10 * np.abs(ends[0].v[-1]).max()


@pytest.mark.long
@pytest.mark.slow
@each_case
def test_the_motion_does_not_depend_on_the_cut(case):
    """Poses of all bodies, up to the first singular posture, two seconds at most."""
    h = case.h / 4.0
    span = case.smooth
    poses = []
    for cut in case.cuts:
        system = case.system(cut)
        every = round(span / h) // 20
        run = case.run(system, span, h, save_every=every)
        order = [system.body_index(name) for name in case.build().bodies]
        poses.append(system.poses(run.q)[:, order])
    for other in poses[1:]:
        assert np.abs(other - poses[0]).max() < 1e-8


@pytest.mark.parametrize(
    ("name", "count"),
    [("four-bar", 3), ("3-four-bar", 9), ("Andrews' squeezer", 9), ("Bricard", 1)],
)
def test_redundant_rows_are_named_once(name, count):
    """Three of five rows of a planar loop; one of Bricard's, whose closure has rank four."""
    case = BY_NAME[name]
    system = case.system()
    q, v = system.reference_configuration(), case.velocity(system)
    with pytest.warns(mb.RedundantConstraintsWarning, match=f"has {count} redundant"):
        system.solve_dynamics(q, v)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        system.solve_dynamics(q, v)
