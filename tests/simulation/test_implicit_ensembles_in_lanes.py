"""Ensembles whose implicit steps are taken in lanes: each run is the run alone, bit for bit."""

import itertools

import numpy as np
import pytest

import mbkit as mb
from benchmarks.constraints import four_bars
from mbkit.integrators import step_memory
from mbkit.integrators.implicit_in_lanes import ImplicitStepInLanes
from mbkit.kernels.lanes import native_width
from mbkit.simulation.ensembles import in_lanes, in_threads
from mbkit.sparsity import step_blocks
from tests.constraints.loops import consistent
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.simulation import test_ensembles_in_lanes as of_trees
from tests.simulation.test_closed_ensembles_in_lanes import CASES, starts
from tests.simulation.test_ensembles_in_lanes import (
    COUNT,
    check_alone,
    check_stopped,
    states,
    unlike,
)
from tests.trees import MAKERS, random_mechanism

#: One in turn for each closed mechanism: neither of the two knows the other.
METHODS_OF_LOOPS = [
    (mb.GeneralizedAlpha, "stabilized_index2"),
    (mb.BLieDF, "index3"),
    (mb.GeneralizedAlpha, "index3"),
    (mb.BLieDF, "stabilized_index2"),
]

pytestmark = [
    pytest.mark.filterwarnings("ignore::mbkit.FailedRunsWarning"),
    pytest.mark.long,  # minutes of compiling
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.LargeStepWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.LockedMechanismWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.RedundantConstraintsWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning"),
]

taken = of_trees.taken
left_alone = of_trees.left_alone

METHODS = {
    "usual": (mb.GeneralizedAlpha(), {"save_every": 7}),
    "damped": (mb.GeneralizedAlpha(0.2, start="plain"), {"save_at": [0.0, 0.008, 0.02]}),
    "trapezoidal": (
        mb.GeneralizedAlpha(coefficients=mb.AlphaCoefficients.newmark(), formulation="index3"), {},
    ),
    "differences": (mb.BLieDF(3), {"save_every": 4}),
    "differences on a vector space": (mb.BLieDF(2, correction=False), {"save_at": [0.008, 0.02]}),
}  # fmt: skip


def assert_others_were_taken(taken, runs):
    """All groups were taken together in which no run fails."""
    width = native_width()
    given_up = {number // width * width for (number,) in runs.failures}
    assert sorted(taken) == [(k, k not in given_up) for k in range(0, COUNT, width)]
    assert len(given_up) < len(taken)


def assert_iterations_differ(runs):
    """Some runs took more iterations, and more matrices, than others beside them."""
    for name in ("newton_iterations", "factorisations"):
        counts = runs.counts[name][~runs.failed]
        assert counts.min() < counts.max()


@pytest.mark.parametrize("name", METHODS)
def test_implicit_runs_side_by_side_are_the_runs_alone(taken, name):
    """Each with matrices of its own, made when it needs one; one that is too fast fails alone."""
    integrator, further = METHODS[name]
    system = random_mechanism(np.random.default_rng(5), len(MAKERS), reach=4).assemble()
    given = states(system, 0.3, seed=2)
    given["v"] *= np.geomspace(0.1, 1.0, COUNT)[:, None]
    given["v"][9] *= 1e160
    options = {"t_span": (0.0, 0.02), "h": 1e-3, "integrator": integrator, **further}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert (9,) in runs.failures
    assert_others_were_taken(taken, runs)
    assert_iterations_differ(runs)
    check_alone(runs, system, options, given)


@each_representation
def test_forces_act_on_implicit_runs_side_by_side(taken, representation):
    """Of every kind, with their derivatives; some of them known over time."""
    rng = np.random.default_rng(31)
    mech, single = tree(rng)
    for force in every_force(rng, mech, single):
        mech.add_force(force)
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    given = states(system, 0.5)
    options = {
        "t_span": (0.25, 0.27), "h": 1e-3, "save_every": 6, "integrator": mb.GeneralizedAlpha()
    }  # fmt: skip
    runs = mb.simulate(system, **options, **given, progress=False)
    assert taken
    assert all(together for _, together in taken)
    assert_iterations_differ(runs)
    check_alone(runs, system, options, given)


@pytest.mark.parametrize(
    ("name", "method", "formulation"),
    [(name, *each) for name, each in zip(CASES, itertools.cycle(METHODS_OF_LOOPS), strict=False)],
)
def test_implicit_runs_of_closed_mechanisms_are_the_runs_alone(
    monkeypatch, taken, name, method, formulation
):
    """Bit by bit, with multipliers; runs that are too fast for some mechanisms fail alone."""
    monkeypatch.setattr(in_lanes, "LEAST_CLOSED_RUNS", 1)
    system, q = CASES[name]()
    given = starts(system, q)
    given["v"][9] *= 1e4
    integrator = method(formulation=formulation)
    options = {"t_span": (0.0, 0.02), "h": 2e-3, "save_every": 3, "integrator": integrator}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert_others_were_taken(taken, runs)
    assert np.abs(runs.multipliers[~runs.failed, 1:]).max() > 0.0
    check_alone(runs, system, options, given)


def test_multipliers_at_times_are_those_of_the_states(monkeypatch, taken):
    """As in a run alone: what `save_at` asks for is not what Newton's method has left."""
    monkeypatch.setattr(in_lanes, "LEAST_CLOSED_RUNS", 1)
    system, q = CASES["constraints"]()
    given = starts(system, q)
    options = {
        "t_span": (0.0, 0.02), "h": 2e-3, "save_at": [0.0, 0.008, 0.02],
        "integrator": mb.GeneralizedAlpha(),
    }  # fmt: skip
    runs = mb.simulate(system, **options, **given, progress=False)
    assert all(together for _, together in taken)
    check_alone(runs, system, options, given)


def test_runs_through_a_change_point_are_the_runs_alone(monkeypatch, taken):
    """A parallelogram that passes where it is flat, where rows of its constraints are redundant."""
    monkeypatch.setattr(in_lanes, "LEAST_CLOSED_RUNS", 1)
    system = four_bars(1).assemble()
    q = system.reference_configuration()
    v = consistent(system, q, np.ones(system.nv))
    speeds = np.geomspace(1.0, 60.0, COUNT)[:, None]
    given = {"q": np.repeat(q[None], COUNT, axis=0), "v": speeds * v / np.abs(v).max()}
    options = {"t_span": (0.0, 0.1), "h": 2e-3, "integrator": mb.GeneralizedAlpha()}
    runs = mb.simulate(system, **options, **given, progress=False)
    turned = np.abs(runs.q[:, :, 0] - q[0]).max(axis=1)
    assert turned.max() > np.pi
    assert sum(together for _, together in taken) > 0
    check_alone(runs, system, options, given)


def hanging_bodies():
    """A chain of bodies in absolute coordinates, whose matrix is by blocks."""
    mech = random_mechanism(np.random.default_rng(8), 12, reach=2)
    system = mech.assemble(mb.AbsoluteCoordinates())
    return system, system.reference_configuration()


BY_BLOCKS = {"hanging bodies": hanging_bodies} | {
    name: CASES[name] for name in ("constraints", "body_fixed", "redundant", "absolute")
}


@pytest.mark.parametrize(
    ("name", "method", "formulation"),
    [
        (name, *each)
        for name, each in zip(BY_BLOCKS, itertools.cycle(METHODS_OF_LOOPS), strict=False)
    ],
)
def test_matrices_by_blocks_are_those_of_the_runs_alone(
    monkeypatch, taken, name, method, formulation
):
    """Bit by bit: one pattern for all runs, and pivots inside of its nodes of their own."""
    monkeypatch.setattr(in_lanes, "LEAST_CLOSED_RUNS", 1)
    monkeypatch.setattr(step_blocks, "SPARED", -np.inf)
    monkeypatch.setattr(step_blocks, "LARGEST_PART", 2.0)
    solved = []
    called = ImplicitStepInLanes.called

    def noted(step, *, forces):
        solved.append("solve" in step.step.functions)
        return called(step, forces=forces)

    monkeypatch.setattr(ImplicitStepInLanes, "called", noted)
    system, q = BY_BLOCKS[name]()
    given = starts(system, q)
    given["v"][9] *= 1e4
    options = {
        "t_span": (0.0, 0.02), "h": 2e-3, "save_every": 3,
        "integrator": method(formulation=formulation),
    }  # fmt: skip
    runs = mb.simulate(system, **options, **given, progress=False)
    assert solved == [True]
    assert_others_were_taken(taken, runs)
    check_alone(runs, system, options, given)


@pytest.fixture
def of_any_size(monkeypatch):
    """Runs that choose their steps go side by side where that takes longer, too, and few of them.

    On one thread: a second one may come too late to find any.
    """
    monkeypatch.setattr(in_lanes, "LARGEST_GROUP", np.inf)
    monkeypatch.setattr(in_lanes, "LEAST_CLOSED_RUNS", 1)
    monkeypatch.setattr(in_threads, "cores", lambda: 1)


ADAPTIVE = {
    "usual": mb.GeneralizedAlpha(rtol=1e-4),
    "damped": mb.GeneralizedAlpha(0.2, start="plain", rtol=1e-2, atol=1e-4),
    "trapezoidal": mb.GeneralizedAlpha(
        coefficients=mb.AlphaCoefficients.newmark(), rtol=1e-3, tolerance=1e-12
    ),
}


def with_stops(representation):
    """A tree with joints on groups, and forces of which one is stiff where it acts."""
    rng = np.random.default_rng(8)
    kinds = ["revolute", "spherical", "cylindrical", "free", "planar", "screw"]
    mech = random_mechanism(rng, 7, kinds, reach=3)
    single = [name for name, edge in mech.joints.items() if edge.joint.num_velocities == 1]
    mech.add_force(mb.JointSpring("spring", single[0], stiffness=30.0, rest=0.2))
    mech.add_force(
        mb.LimitStop("stop", single[0], lower=-0.1, upper=0.1, stiffness=1e6, damping=1.0)
    )
    mech.add_force(mb.DryFriction("friction", single[1], friction=3.0, smoothing=0.01))
    mech.add_force(mb.Drag("drag", list(mech.bodies)[-1], linear=0.4, quadratic=0.3))
    return mech.assemble(mb.RelativeCoordinates(representation=representation))


@pytest.mark.parametrize("name", ADAPTIVE)
@each_representation
def test_each_implicit_run_chooses_its_steps(of_any_size, left_alone, representation, name):
    """Of a stiff system, where steps are rejected, and each is solved as if it were alone."""
    system = with_stops(representation)
    given = unlike(system)
    options = {
        "t_span": (0.25, 0.75), "h": 0.25, "integrator": ADAPTIVE[name]
    }  # fmt: skip
    runs = mb.simulate(system, **options, **given, progress=False)
    assert left_alone
    assert not any(left_alone)
    rejected = runs.counts["rejected_steps"]
    assert rejected.max() > 5
    assert rejected.min() < rejected.max()
    assert_iterations_differ(runs)
    check_alone(runs, system, options, given)


@pytest.mark.parametrize("formulation", ["stabilized_index2", "index3"])
@pytest.mark.parametrize("name", CASES)
def test_each_implicit_run_of_a_closed_mechanism_chooses_its_steps(
    of_any_size, left_alone, name, formulation
):
    """With multipliers; whoever is beside a run that is too fast for its mechanism starts anew."""
    system, q = CASES[name]()
    given = starts(system, q)
    options = {
        "t_span": (0.0, 0.1), "h": 0.05, "save_every": 2,
        "integrator": mb.GeneralizedAlpha(formulation=formulation, rtol=1e-4),
    }  # fmt: skip
    runs = mb.simulate(system, **options, **given, progress=False)
    assert len(left_alone) == 1
    assert {number for (number,) in runs.failures} <= set(left_alone[0])
    assert len(left_alone[0]) < COUNT
    assert runs.counts["evaluations"].max() > 1.5 * runs.counts["evaluations"].min()
    assert np.abs(runs.multipliers[~runs.failed, 1:]).max() > 0.0
    check_alone(runs, system, options, given)


@pytest.mark.parametrize("formulation", ["stabilized_index2", "index3"])
@pytest.mark.parametrize("name", ["tree", "absolute"])
def test_steps_that_are_not_solved_are_smaller_in_their_lanes_alone(
    monkeypatch, of_any_size, left_alone, name, formulation
):
    """Where few iterations are allowed Newton's method fails in many steps, not in all of them."""
    monkeypatch.setattr(step_memory, "MOST_ITERATIONS", 3)
    if name == "tree":
        system = with_stops(mb.BodyFixed())
        given = unlike(system)
    else:
        system, q = CASES[name]()
        given = starts(system, q)
    integrator = mb.GeneralizedAlpha(formulation=formulation, rtol=1e-3)
    options = {"t_span": (0.0, 0.1), "h": 0.05, "integrator": integrator}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert left_alone == [[]]
    rejected = runs.counts["rejected_steps"]
    assert rejected.max() > 50
    assert rejected.max() > 5 * rejected.min()
    check_alone(runs, system, options, given, range(COUNT))


def test_an_implicit_run_that_fails_leaves_those_beside_it_alone(of_any_size, left_alone):
    """They are taken anew, one by one, and the others go on in lanes."""
    system = random_mechanism(np.random.default_rng(5), 5, ["revolute", "free"]).assemble()
    given = unlike(system)
    given["v"][9] *= 1e160
    options = {"t_span": (0.0, 0.1), "h": 0.01, "integrator": ADAPTIVE["usual"]}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert list(runs.failures) == [(9,)]
    assert 9 in left_alone[0]
    assert not any(left_alone[1:])
    assert len(left_alone[0]) == native_width()
    check_alone(runs, system, options, given)


def test_implicit_runs_that_choose_their_steps_are_stopped_at_grid_points(monkeypatch, of_any_size):
    """Ctrl-C leaves each at the grid point that it has reached last, with its multipliers."""
    system, q = CASES["constraints"]()
    integrator = mb.GeneralizedAlpha(rtol=1e-4)
    parts = "q", "v", "multipliers"
    check_stopped(monkeypatch, system, starts(system, q), integrator, parts)


@pytest.mark.parametrize("name", BY_BLOCKS)
def test_matrices_by_blocks_go_with_steps_of_each_run(monkeypatch, of_any_size, left_alone, name):
    """Some are made anew, in the memory of one that is not, with the bits of the others kept."""
    monkeypatch.setattr(step_blocks, "SPARED", -np.inf)
    monkeypatch.setattr(step_blocks, "LARGEST_PART", 2.0)
    system, q = BY_BLOCKS[name]()
    given = starts(system, q)
    integrator = mb.GeneralizedAlpha(rtol=1e-4)
    options = {"t_span": (0.0, 0.1), "h": 0.05, "integrator": integrator}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert left_alone == [[]]
    check_alone(runs, system, options, given)


def test_large_systems_go_one_by_one(left_alone):
    """Runs of these take longer side by side: the numbers of a group are its width by nv^2."""
    count = int(np.sqrt(12800 / native_width()))
    system = random_mechanism(np.random.default_rng(5), count, ["revolute"], reach=2).assemble()
    options = {"t_span": (0.0, 0.01), "h": 0.01, "integrator": ADAPTIVE["usual"]}
    runs = mb.simulate(system, **options, **states(system, 0.3), progress=False)
    assert not left_alone
    assert not runs.failures
