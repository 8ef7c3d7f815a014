"""The cost of the steps of a run, as its result counts it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbkit as mb

pytestmark = pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")

EXPLICIT = {
    "rk4": mb.RungeKuttaMuntheKaas(),
    "adaptive": mb.RungeKuttaMuntheKaas(mb.tableaus.BOGACKI_SHAMPINE3, rtol=1e-5),
    "crouch-grossman": mb.CrouchGrossman(),
    "commutator-free": mb.CommutatorFree(mb.COMMUTATOR_FREE3),
    "multistep": mb.MultistepMuntheKaas(3),
    "in python": mb.LocalVectorSpace("RK23"),
}


def _pendulum() -> mb.System:
    mech = mb.Mechanism("pendulum", gravity=(0, 0, -9.81))
    rod = mech.add_body(mb.Body("rod", mb.SpatialInertia.from_com(1.0, (0, 0, -0.5))))
    mech.add_joint(mb.RevoluteJoint("hinge", axis=(0, 1, 0)), mech.world, rod)
    return mech.assemble()


@pytest.mark.parametrize("name", EXPLICIT)
def test_evaluations_are_as_many_as_forces_are_asked_for(name: str) -> None:
    asked = []

    def tau(t: float, _q: Any, _v: Any) -> Any:
        asked.append(t)
        return np.zeros(1)

    given: dict[str, Any] = {"q": [1.0], "v": [8.0], "integrator": EXPLICIT[name]}
    run = mb.simulate(_pendulum(), (0.0, 0.5), 0.05, tau=tau, progress=False, **given)
    # the energies of the rows, and their balance, are found without the forces tau
    assert run.options["counts"]["evaluations"] == len(asked)


def test_runs_in_directories_count_what_runs_in_memory_do(tmp_path: Any) -> None:
    given: dict[str, Any] = {"q": [1.0], "progress": False}
    found = mb.simulate(_pendulum(), (0.0, 0.5), 0.05, output=tmp_path / "run", **given)
    expected = mb.simulate(_pendulum(), (0.0, 0.5), 0.05, **given).options["counts"]
    for run in (found, mb.load_result(tmp_path / "run")):
        assert run.options["counts"] == expected
        assert 0.0 < run.options["wall_time"] < 60.0
        assert f"{expected['evaluations']} evaluations" in repr(run)


@pytest.mark.slow
def test_steps_that_turn_too_far_are_rejected() -> None:
    coarse = mb.RungeKuttaMuntheKaas(mb.tableaus.BOGACKI_SHAMPINE3, rtol=1e-9)
    run = mb.simulate(
        _pendulum(), (0.0, 4.0), 4.0, q=[3.1], integrator=coarse, progress=False
    )  # falls from the top, ever faster
    assert run.options["counts"]["rejected_steps"] > 0


@pytest.mark.parametrize("method", [mb.GeneralizedAlpha(), mb.BLieDF(2), mb.RATTLie()])
def test_newton_iterates_once_a_step_at_least(method: mb.Integrator) -> None:
    run = mb.simulate(_pendulum(), (0.0, 0.5), 0.05, q=[0.5], integrator=method, progress=False)
    counts = run.options["counts"]
    assert counts["newton_iterations"] >= 10
    assert 1 <= counts["factorisations"] <= counts["newton_iterations"]


def test_counts_go_on_after_an_event_that_starts_the_method_again() -> None:
    bounce = mb.Event("wall", mb.JointPosition("hinge"), direction="falling", reset=mb.Impact(1.0))
    given: dict[str, Any] = {"q": [0.3], "events": [bounce], "integrator": mb.GeneralizedAlpha()}
    run = mb.simulate(_pendulum(), (0.0, 3.0), 0.05, progress=False, **given)
    assert len(run.events) > 1
    assert run.options["counts"]["newton_iterations"] >= 60
