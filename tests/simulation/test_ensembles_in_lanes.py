"""Ensembles whose steps are taken in lanes: each run is the run alone, bit for bit."""

import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.lanes import native_width
from mbkit.simulation.ensembles import in_lanes
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.trees import MAKERS, random_mechanism, random_state

ROWS = (
    "t", "q", "v", "kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy",
)  # fmt: skip

#: Groups of eight or four runs, and one that is not full, but has the two that are taken together.
COUNT = 22

pytestmark = pytest.mark.compiled  # without machine code there are no lanes


@pytest.fixture
def taken(monkeypatch):
    """The groups that were taken together, and those that were given up: (first, whether)."""
    found = []
    take = in_lanes.Group.take

    def noted(group, first, *others):
        found.append((first, take(group, first, *others)))
        return found[-1][1]

    monkeypatch.setattr(in_lanes.Group, "take", noted)
    return found


def states(system, size, seed=4):
    """Random q, v and tau of an ensemble."""
    rng = np.random.default_rng(seed)
    found = [random_state(rng, system, size) for _ in range(COUNT)]
    return {name: np.array([getattr(each, name) for each in found]) for name in ("q", "v", "tau")}


def check_alone(runs, system, options, given):
    """Compare runs of every group with those alone; one that fails with what is left of it."""
    for k in (0, 3, 7, 8, 9, COUNT - 1):
        own = {name: rows[k] for name, rows in given.items()}
        try:
            alone = mb.simulate(system, **options, **own, progress=False)
        except mb.NotFiniteError as error:
            alone, reason = error.result, f"NotFiniteError: {error}"
        else:
            reason = None
        assert runs.failures.get((k,)) == reason
        assert runs[k].message == alone.message
        for name in ROWS:
            np.testing.assert_array_equal(getattr(runs[k], name), getattr(alone, name), name)
        assert runs[k].options["steps_taken"] == alone.options["steps_taken"]
        assert runs[k].options["counts"] == {"evaluations": 0, **alone.options["counts"]}


@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")
@pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning")
@pytest.mark.parametrize(
    ("integrator", "further"),
    [
        (mb.RungeKuttaMuntheKaas(), {"save_every": 7}),
        (mb.RungeKuttaMuntheKaas(), {"save_at": [0.0, 0.004, 0.01]}),
        (mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, truncation=3), {}),
        (mb.CommutatorFree(), {"save_every": 4}),
        (mb.MultistepMuntheKaas(4), {}),
    ],
)
def test_runs_side_by_side_are_the_runs_alone(taken, integrator, further):
    """Of a tree with every joint, in random frames; a run that grows without bounds fails alone."""
    mech = random_mechanism(np.random.default_rng(5), len(MAKERS), reach=4)
    system = mech.assemble()
    given = states(system, 0.3)
    given["v"][9] *= 1e3
    options = {"t_span": (0.0, 0.01), "h": 1e-3, "integrator": integrator, **further}
    runs = mb.simulate(system, **options, **given, progress=False)
    width = native_width()
    given_up = {number // width * width for (number,) in runs.failures}
    assert sorted(taken) == [(k, k not in given_up) for k in range(0, COUNT, width)]
    assert (9,) in runs.failures
    assert len(given_up) < len(taken)
    check_alone(runs, system, options, given)


@each_representation
def test_springs_and_dampers_in_joints_act_side_by_side(taken, representation):
    """With a uniform field too; powers and energies are those of the runs alone."""
    rng = np.random.default_rng(8)
    mech = random_mechanism(rng, 5, ["revolute", "spherical", "prismatic"])
    tree = mech.assemble()
    sizes = {name: np.arange(tree.nq)[tree.position_slice(name)].size for name in tree.joint_names}
    first, second = [name for name, size in sizes.items() if size == 1][:2]
    mech.add_force(mb.JointSpring("spring", first, stiffness=30.0, rest=0.2))
    mech.add_force(mb.JointDamper("damper", first, damping=0.7))
    mech.add_force(mb.JointDamper("other", second, damping=0.4))
    mech.add_force(mb.UniformField("wind", acceleration=(0.3, -2.0, 0.1)))
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    given = states(system, 0.5)
    given["v"][9] *= 1e160
    options = {"t_span": (0.0, 0.02), "h": 1e-3, "save_every": 6}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert list(runs.failures) == [(9,)]
    assert sum(together for _, together in taken) == len(taken) - 1
    assert np.all(runs.dissipated_energy[0, 1:] > 0.0)
    check_alone(runs, system, options, given)


@each_representation
def test_forces_on_bodies_act_side_by_side(taken, representation):
    """Of every kind, some of them known over time."""
    rng = np.random.default_rng(31)
    mech, single = tree(rng)
    for force in every_force(rng, mech, single):
        mech.add_force(force)
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    given = states(system, 0.5)
    given["v"][9] *= 1e160
    options = {"t_span": (0.25, 0.27), "h": 1e-3, "save_every": 6}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert (9,) in runs.failures
    assert sum(together for _, together in taken) == len(taken) - 1
    check_alone(runs, system, options, given)
