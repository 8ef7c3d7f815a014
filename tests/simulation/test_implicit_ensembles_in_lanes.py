"""Ensembles whose implicit steps are taken in lanes: each run is the run alone, bit for bit."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.lanes import native_width
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.simulation import test_ensembles_in_lanes as of_trees
from tests.simulation.test_ensembles_in_lanes import COUNT, check_alone, states
from tests.trees import random_mechanism

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning"),
    pytest.mark.filterwarnings("ignore::mbkit.LargeStepWarning"),
]

taken = of_trees.taken

#: Joints whose motion subspaces are constant, as derivatives in lanes ask for.
KINDS = ("revolute", "prismatic", "helical", "screw", "spherical", "free", "fixed", "translational")

METHODS = {
    "usual": (mb.GeneralizedAlpha(), {"save_every": 7}),
    "damped": (mb.GeneralizedAlpha(0.2, start="plain"), {"save_at": [0.0, 0.008, 0.02]}),
    "trapezoidal": (
        mb.GeneralizedAlpha(coefficients=mb.AlphaCoefficients.newmark(), formulation="index3"), {},
    ),
}  # fmt: skip


def assert_iterations_differ(runs):
    """Some runs took more iterations, and more matrices, than others beside them."""
    for name in ("newton_iterations", "factorisations"):
        counts = runs.counts[name][~runs.failed]
        assert counts.min() < counts.max()


@pytest.mark.parametrize("name", METHODS)
def test_implicit_runs_side_by_side_are_the_runs_alone(taken, name):
    """Each with matrices of its own, made when it needs one; one that is too fast fails alone."""
    integrator, further = METHODS[name]
    system = random_mechanism(np.random.default_rng(5), 10, KINDS, reach=4).assemble()
    given = states(system, 0.5)
    given["v"] *= np.geomspace(0.1, 10.0, COUNT)[::-1, None]
    given["v"][9] *= 1e160
    options = {"t_span": (0.0, 0.02), "h": 1e-3, "integrator": integrator, **further}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert list(runs.failures) == [(9,)]
    width = native_width()
    assert sorted(taken) == [(k, k != 9 // width * width) for k in range(0, COUNT, width)]
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


def test_joints_whose_subspaces_change_are_taken_one_by_one(taken):
    """Their derivatives are not written for lanes."""
    system = random_mechanism(np.random.default_rng(5), 2, ["universal"]).assemble()
    given = states(system, 0.3)
    options = {"t_span": (0.0, 0.01), "h": 1e-3, "integrator": mb.GeneralizedAlpha()}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert not taken
    assert runs.completed.all()
