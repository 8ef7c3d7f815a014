"""Ensembles in lanes where Python runs the kernels: runs alone, with every index looked at."""

import numpy as np
import pytest

import mbkit as mb
from benchmarks.constraints import four_bars
from mbkit.kernels.compile import UNCOMPILED
from mbkit.kernels.lanes import native_width
from mbkit.simulation.ensembles import in_lanes, in_threads
from tests.forces.cases import every_force, tree
from tests.simulation import test_ensembles_in_lanes as of_trees
from tests.simulation.test_closed_ensembles_in_lanes import starts
from tests.simulation.test_ensembles_in_lanes import PAIR, check_alone, numbers_of_their_own
from tests.trees import random_mechanism

if not UNCOMPILED:
    pytest.skip("lanes are compiled, and tested for more runs", allow_module_level=True)

pytestmark = [
    pytest.mark.filterwarnings("ignore::mbkit.FailedRunsWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.LargeStepWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning"),
]

COUNT = native_width() + 3  # a group, and one that is not full

taken = of_trees.taken
left_alone = of_trees.left_alone


@pytest.fixture(autouse=True)
def few_runs_are_enough(monkeypatch):
    """On one thread, which is the only one in Python."""
    monkeypatch.setattr(in_lanes, "LEAST_RUNS", COUNT)
    monkeypatch.setattr(in_lanes, "LEAST_CLOSED_RUNS", COUNT)
    monkeypatch.setattr(in_lanes, "LARGEST_GROUP", np.inf)
    monkeypatch.setattr(in_threads, "cores", lambda: 1)


def states(system, size=0.3):
    """Return random states of the runs of a tree."""
    return {name: rows[:COUNT] for name, rows in of_trees.states(system, size).items()}


def check(system, given, integrator, parameters=None, **further):
    """Compare runs of both groups with those alone; all of which went side by side."""
    options = {"t_span": (0.0, 0.006), "h": 2e-3, "integrator": integrator, **further}
    runs = mb.simulate(system, **options, **given, parameters=parameters, progress=False)
    assert not runs.failures
    for k in (0, COUNT - 1):
        own = {name: values[k] for name, values in (parameters or {}).items()}
        check_alone(runs, system.with_parameters(own) if own else system, options, given, [k])


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("integrator", "further"),
    [
        (mb.RungeKuttaMuntheKaas(), {"save_at": [3e-4, 0.002, 0.005]}),
        (mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, truncation=3), {}),
        (mb.CrouchGrossman(), {}),
        (mb.CommutatorFree(), {"save_every": 2}),
        (mb.MultistepMuntheKaas(3), {}),
        (mb.GeneralizedAlpha(), {}),
        (mb.BLieDF(2), {}),
    ],
    ids=lambda each: getattr(each, "name", None) or type(each).__name__,
)
def test_steps_of_one_size(taken, integrator, further):
    """Of joints that have functions for lanes, and of joints that are called one by one."""
    kinds = ["revolute", "spherical", "universal", "angles"]
    system = random_mechanism(np.random.default_rng(5), 4, kinds, reach=3).assemble()
    check(system, states(system), integrator, **further)
    assert taken == [(0, True), (native_width(), True)]


@pytest.mark.every_case
@pytest.mark.parametrize("integrator", [PAIR, mb.GeneralizedAlpha(rtol=1e-3)])
def test_steps_that_each_run_chooses(left_alone, integrator):
    """From rest up to fast motions."""
    system = random_mechanism(np.random.default_rng(5), 3, ["revolute", "free"]).assemble()
    given = states(system)
    given["v"] *= np.geomspace(0.1, 3.0, COUNT)[:, None]
    check(system, given, integrator, t_span=(0.0, 0.05), h=0.025)
    assert left_alone
    assert not any(left_alone)


@pytest.mark.parametrize("integrator", [mb.RungeKuttaMuntheKaas(), mb.GeneralizedAlpha()])
def test_forces_and_numbers_of_each_run(taken, integrator):
    """Of every kind."""
    rng = np.random.default_rng(31)
    mech, single = tree(rng)
    for force in every_force(rng, mech, single):
        mech.add_force(force)
    system = mech.assemble()
    parameters = {name: rows[:COUNT] for name, rows in numbers_of_their_own(system, rng).items()}
    check(system, states(system), integrator, parameters, t_span=(0.25, 0.252))
    assert taken == [(0, True), (native_width(), True)]


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("integrator", "solver"),
    [
        (mb.RungeKuttaMuntheKaas(), mb.SchurComplement()),
        (mb.GeneralizedAlpha(), mb.MinimumNorm()),
        (mb.GeneralizedAlpha(formulation="index3", rtol=1e-3), mb.MinimumNorm()),
    ],
)
def test_closed_mechanisms(taken, left_alone, integrator, solver):
    """A window, whose rows are redundant, with projection."""
    system = four_bars(1).assemble().with_constraint_solver(solver)
    given = starts(system, system.reference_configuration())
    check(
        system,
        {name: rows[:COUNT] for name, rows in given.items()},
        integrator,
        t_span=(0.0, 0.004),
    )
    if integrator.adaptive:
        assert left_alone == [[]]
    else:
        assert taken == [(0, True), (native_width(), True)]
