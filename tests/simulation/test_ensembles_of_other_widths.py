"""Ensembles in lanes of the width of other processors: each run is the run alone, bit for bit."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.lanes import Lanes
from mbkit.simulation.ensembles import in_lanes
from mbkit.systems.calls import evaluator
from tests.simulation import test_closed_ensembles_in_lanes as of_loops
from tests.simulation import test_ensembles_in_lanes as of_trees
from tests.simulation import test_implicit_ensembles_in_lanes as implicit
from tests.simulation.test_ensembles_in_lanes import COUNT, PAIR, check_alone, states, unlike
from tests.simulation.test_implicit_ensembles_in_lanes import ADAPTIVE, METHODS, with_stops
from tests.systems.test_other_widths import OTHER
from tests.trees import MAKERS, random_mechanism

pytestmark = [
    pytest.mark.long,  # minutes of compiling
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::mbkit.FailedRunsWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.LargeStepWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.StiffnessWarning"),
]

taken = of_trees.taken
left_alone = of_trees.left_alone
few_runs_are_enough = of_loops.few_runs_are_enough
of_any_size = implicit.of_any_size


@pytest.fixture(autouse=True)
def registers_have_the_other_width(monkeypatch):
    """For systems that are made meanwhile."""
    for module in (evaluator, in_lanes):
        monkeypatch.setattr(module, "native_lanes", lambda: Lanes(OTHER))


def tree():
    """A tree of every joint, and starts of it."""
    system = random_mechanism(np.random.default_rng(5), len(MAKERS), reach=4).assemble()
    given = states(system, 0.3, seed=2)
    given["v"] *= np.geomspace(0.1, 1.0, COUNT)[:, None]
    return system, given


def closed(name):
    """A closed mechanism of another test, and starts of it."""
    system, q = of_loops.CASES[name]()
    return system, of_loops.starts(system, q)


def grid(name):
    """The options of runs on a grid by an implicit method of another test."""
    integrator, further = METHODS[name]
    return {"integrator": integrator, **further}


CASES = {
    "Runge and Kutta": (tree, {"save_every": 7}),
    "multistep": (tree, {"integrator": mb.MultistepMuntheKaas(4), "save_every": 2}),
    "implicit": (tree, grid("usual")),
    "differences": (tree, grid("differences")),
    "loops": (lambda: closed("body_fixed"), of_loops.METHODS["projected"]),
    "implicit loops": (lambda: closed("body_fixed"), grid("usual")),
    "implicit constraints": (lambda: closed("constraints"), grid("usual")),
}


@pytest.mark.parametrize("name", CASES)
def test_runs_on_a_grid_are_the_runs_alone(taken, name):
    """Runs that are too fast for their steps fail alone."""
    make, further = CASES[name]
    system, given = make()
    options = {"t_span": (0.0, 0.02), "h": 1e-3, **further}
    runs = mb.simulate(system, **options, **given, progress=False)
    given_up = {number // OTHER * OTHER for (number,) in runs.failures}
    assert sorted(taken) == [(k, k not in given_up) for k in range(0, COUNT, OTHER)]
    assert len(given_up) < len(taken)
    check_alone(runs, system, options, given)


def stopped():
    """A tree with a stiff stop, and starts of which some need many small steps."""
    system = with_stops(mb.BodyFixed())
    return system, unlike(system)


ADAPTIVE_CASES = {
    "Runge and Kutta": (stopped, PAIR),
    "implicit": (stopped, ADAPTIVE["usual"]),
    "loops": (lambda: closed("body_fixed"), PAIR),
}


@pytest.mark.parametrize("name", ADAPTIVE_CASES)
def test_runs_that_choose_their_steps_are_the_runs_alone(of_any_size, left_alone, name):
    """Each its own ones, beside others whose steps are larger or rejected."""
    make, integrator = ADAPTIVE_CASES[name]
    system, given = make()
    options = {"t_span": (0.0, 0.1), "h": 0.05, "integrator": integrator}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert left_alone == [[]]
    evaluations = runs.counts["evaluations"]
    assert evaluations.max() > 1.5 * evaluations.min()
    check_alone(runs, system, options, given)
