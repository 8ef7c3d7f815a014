"""Constraints and rates of closed mechanisms as functions of CasADi, against the system itself."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import mbkit as mb
from tests.closed_loops.mechanisms import BY_NAME
from tests.constraints.driven import driven
from tests.peers.test_casadi_closed import DRIVEN, motion
from tests.peers.test_casadi_evaluations import assert_computes

pytest.importorskip("casadi")

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.errors.RedundantConstraintsWarning")


@functools.cache
def mechanism(name):
    """Return a system, joints that determine its motion, and a motion of it by names."""
    rng = np.random.default_rng(5)
    system, independent = BY_NAME[name].system(), DRIVEN[name][0]
    q, v, vdot, tau = motion(rng, system)
    given = {"q": q, "v": v, "vdot": vdot, "tau": tau, "t": 0.3}
    given["multipliers"] = rng.normal(size=system.num_velocity_constraints)
    rates = rng.normal(size=(4, len(independent)))
    for name_of, rate in zip(("v", "vdot", "vddot", "v3"), rates, strict=True):
        given[f"{name_of}_independent"] = rate
    return system, independent, given


def by_joint(independent, rate):
    return dict(zip(independent, rate, strict=True))


CONSTRAINTS = (
    "constraint_velocity", "constraint_acceleration", "constraint_sizes",
    "constraint_jacobian_velocity_derivative", "constraint_force_derivative",
)  # fmt: skip


@pytest.mark.some(5)
@pytest.mark.parametrize("name", DRIVEN)
@pytest.mark.parametrize("evaluation", CONSTRAINTS)
def test_constraints(evaluation, name):
    system, _, given = mechanism(name)
    arguments = {
        "constraint_acceleration": ("q", "v", "vdot"), "constraint_force_derivative": (
            "q", "multipliers"
        ),
    }.get(evaluation, ("q", "v"))  # fmt: skip
    expected = getattr(system, evaluation)(*(given[each] for each in arguments))
    tolerance = 1e-10 if "derivative" in evaluation else 1e-12
    assert_computes(system, given, evaluation, expected, tolerance)


@pytest.mark.some(3)
@pytest.mark.parametrize("name", DRIVEN)
def test_rates_of_dependent_joints(name):
    """From velocities to the fourth rates; redundant constraints included."""
    system, independent, given = mechanism(name)
    q, v = given["q"], given["v"]
    options = {"independent": independent}
    velocity = by_joint(independent, given["v_independent"])
    acceleration = by_joint(independent, given["vdot_independent"])
    H = system.constrained_jacobian(q, independent)
    assert_computes(system, given, "constrained_jacobian", H, **options)
    expected = system.dependent_velocity(q, velocity)
    assert_computes(system, given, "dependent_velocity", expected, **options)
    vdot = system.dependent_acceleration(q, v, acceleration)
    assert_computes(system, given, "dependent_acceleration", vdot, **options)
    jerk = by_joint(independent, given["vddot_independent"])
    expected = system.dependent_jerk(q, v, vdot, jerk)
    assert_computes(
        system, {**given, "vdot": vdot}, "dependent_jerk", expected, 1e-9, **options
    )  # the system takes differences
    every = np.array([given[f"{x}_independent"] for x in ("v", "vdot", "vddot", "v3")])
    expected = system.dependent_rates(q, by_joint(independent, every.T))
    assert_computes(system, given, "dependent_rates", expected, order=3, **options)


@pytest.mark.some(3)
@pytest.mark.parametrize("name", DRIVEN)
def test_nearest_consistent_velocities(name):
    system, independent, given = mechanism(name)
    rng = np.random.default_rng(8)
    wished = given | {"v": rng.normal(size=system.nv)}
    q, v = wished["q"], wished["v"]
    expected = system.consistent_velocity({}, q, v)
    assert_computes(system, wished, "consistent_velocity", expected)
    kept = {each: v[system.velocity_names.index(each)] for each in independent}
    expected = system.consistent_velocity(kept, q, v)
    assert_computes(system, wished, "consistent_velocity", expected, fixed=independent)


@pytest.mark.some(3)
@pytest.mark.parametrize("name", DRIVEN)
def test_derivatives_of_dynamics(name):
    """By q along motions: beside them rows that depend on others do so no more."""
    system, _, given = mechanism(name)
    mass = f"bodies.{system.body_names[1]}.mass"
    given = given | {"m": system.parameters[mass]}
    values = given["q"], given["v"], given["tau"]
    expected = system.derivatives("forward_dynamics", *values, by=("q", "v", "tau", mass))
    function = mb.casadi_function(
        system, "derivatives", of="solve_dynamics", by=("q", "v", "tau", "m"),
        parameters={mass: "m"},
    )  # fmt: skip
    assert function.name_out()[3:5] == ["vdot_by_m", "multipliers_by_q"]
    found = [each.full() for each in function(*(given[each] for each in function.name_in()))]
    A = system.constraint_jacobian(given["q"])
    along = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, 1e-9) :].T
    for k, results in ((0, expected), (4, expected.multipliers)):
        size = np.abs(results["q"]).max()
        assert np.abs((found[k] - results["q"]) @ along).max() < 1e-10 * size
        assert np.allclose(found[k + 2], results["tau"], rtol=1e-10, atol=1e-10)
        assert np.allclose(found[k + 3].ravel(), results[mass], rtol=1e-10, atol=1e-10)


def test_prescribed_joints():
    """Of a crank that is driven: its motion, the rates of the others, and what drives it."""
    mech = driven(BY_NAME["four-bar"].build(), "A", "0.3 * sin(2*t) + 0.5")
    system = mech.assemble()
    t = 0.4
    start = system.close_loops(system.prescribed_state(t)[0], fixed=["A"], t=t)
    v = system.dependent_velocity(start, {}, t)
    given = {"q": start, "v": v, "t": t, "tau": np.array([0.1, 0.2, 0.3])[: system.nv]}
    given |= {"v_independent": [], "vdot_independent": [], "vddot_independent": []}
    assert_computes(system, given, "dependent_velocity", v, independent=[])
    vdot = system.dependent_acceleration(start, v, {}, t)
    assert_computes(system, given, "dependent_acceleration", vdot, independent=[])
    given["vdot"] = vdot
    jerk = system.dependent_jerk(start, v, vdot, {}, t)
    assert_computes(system, given, "dependent_jerk", jerk, 1e-9, independent=[])
    assert_computes(system, given, "prescribed_state", system.prescribed_state(t, start, v))
    efforts = system.driving_efforts(start, v, given["tau"], t)
    assert_computes(system, given, "driving_efforts", efforts)
