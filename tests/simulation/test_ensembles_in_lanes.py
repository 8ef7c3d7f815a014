"""Ensembles whose steps are taken in lanes: each run is the run alone, bit for bit."""

import signal

import attrs
import numpy as np
import pytest

import mbkit as mb
from mbkit.kernels.lanes import native_width
from mbkit.simulation.ensembles import adaptive_in_lanes, in_lanes, in_threads
from mbkit.simulation.ensembles.adaptive_in_lanes import AdaptiveGroup
from tests.every_representation import each_representation
from tests.forces.cases import every_force, tree
from tests.trees import MAKERS, random_mechanism, random_state

ROWS = (
    "t", "q", "v", "kinetic_energy", "potential_energy", "dissipated_energy", "supplied_energy",
    "multipliers", "residuals",
)  # fmt: skip

#: Groups of eight or four runs, and one that is not full, but has the two that are taken together.
COUNT = 22

STONE = mb.SpatialInertia.box(2.0, size=(0.2, 0.3, 0.5))

pytestmark = [
    pytest.mark.compiled,  # without machine code there are no lanes
    pytest.mark.filterwarnings("ignore::mbkit.FailedRunsWarning"),
]


@pytest.fixture
def taken(monkeypatch):
    """The groups that were taken together, and those that were given up: (first, whether)."""
    found = []
    take = in_lanes.Group.take

    def noted(group, drawn, *others):
        left = take(group, drawn, *others)
        found.append((drawn.start, not left))
        return left

    monkeypatch.setattr(in_lanes.Group, "take", noted)
    return found


@pytest.fixture
def left_alone(monkeypatch):
    """Whoever was left to be taken alone by a failure, by each thread that took runs so.

    A thread that comes late may find too few runs to begin with: how many is up to the machine.
    """
    found, failed = [], []
    take, advance = AdaptiveGroup.take, AdaptiveGroup._advance

    def noted(group, *others):
        left = list(take(group, *others))
        found.append(left if group in failed else [])
        assert group in failed or len(left) < group.lanes.least
        return left

    def watched(group, *others):
        fine = advance(group, *others)
        if not fine:
            failed.append(group)
        return fine

    monkeypatch.setattr(AdaptiveGroup, "take", noted)
    monkeypatch.setattr(AdaptiveGroup, "_advance", watched)
    return found


def states(system, size, seed=4):
    """Random q, v and tau of an ensemble."""
    rng = np.random.default_rng(seed)
    found = [random_state(rng, system, size) for _ in range(COUNT)]
    return {name: np.array([getattr(each, name) for each in found]) for name in ("q", "v", "tau")}


def check_alone(runs, system, options, given, numbers=(0, 3, 7, 8, 9, COUNT - 1)):
    """Compare runs of every group with those alone; one that fails with what is left of it."""
    for k in numbers:
        own = {name: rows[k] for name, rows in given.items()}
        try:
            alone = mb.simulate(system, **options, **own, progress=False)
        except (mb.ConstraintError, mb.ConvergenceError, mb.NotFiniteError) as error:
            alone, reason = error.result, f"{type(error).__name__}: {error}"
        else:
            reason = None
        assert runs.failures.get((k,)) == reason
        assert runs[k].message == alone.message
        for name in ROWS:
            np.testing.assert_array_equal(getattr(runs[k], name), getattr(alone, name), name)
        assert runs[k].options["steps_taken"] == alone.options["steps_taken"]
        assert runs[k].options["counts"] == {"evaluations": 0, **alone.options["counts"]}


@pytest.mark.some(8)
@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")
@pytest.mark.filterwarnings("ignore::mbkit.SingularityWarning")
@pytest.mark.parametrize(
    ("integrator", "further"),
    [
        (mb.RungeKuttaMuntheKaas(), {"save_every": 7}),
        (mb.RungeKuttaMuntheKaas(), {"save_at": [0.0, 0.004, 0.01]}),
        (mb.RungeKuttaMuntheKaas(), {"save_at": [3e-4, 7e-4, 0.004, 0.0043, 0.0098]}),
        (mb.CrouchGrossman(), {"save_at": [0.0, 0.0013, 0.0055, 0.01]}),
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


@pytest.mark.some(4)
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


@pytest.mark.some(4)
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


def unlike(system, seed=4):
    """Starts from rest up to fast motions, of which some take many times the steps of others."""
    given = states(system, 0.4, seed)
    given["v"] *= np.geomspace(0.1, 10.0, COUNT)[::-1, None]
    return given


def assert_steps_were_chosen(runs):
    """Some runs took far more steps than others, and some were rejected."""
    evaluations = runs.counts["evaluations"]
    assert evaluations.max() > 2 * evaluations.min()
    assert np.any(runs.counts["rejected_steps"] > 0)
    assert np.any(runs.counts["rejected_steps"] == 0)


PAIR = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-7)


@pytest.mark.some(4)
@each_representation
def test_each_run_chooses_its_steps_side_by_side(left_alone, representation):
    """With springs, a stop and friction, and joints on groups; nobody waits at grid points."""
    rng = np.random.default_rng(8)
    kinds = ["revolute", "spherical", "cylindrical", "free", "planar", "screw"]
    mech = random_mechanism(rng, 7, kinds, reach=3)
    single = [name for name, edge in mech.joints.items() if edge.joint.num_velocities == 1]
    a, b = list(mech.bodies)[-2:]
    mech.add_force(mb.JointSpring("spring", single[0], stiffness=30.0, rest=0.2))
    mech.add_force(
        mb.LimitStop("stop", single[0], lower=-0.1, upper=0.1, stiffness=1e4, damping=1.0)
    )
    mech.add_force(mb.DryFriction("friction", single[1], friction=0.3, smoothing=0.1))
    mech.add_force(mb.JointEffort("motor", single[1], effort=0.4))
    mech.add_force(mb.Drag("drag", a, linear=0.4, quadratic=0.3))
    mech.add_force(mb.BodyWrench("thrust", b, wrench=rng.normal(size=6), axes="body"))
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    given = unlike(system)
    options = {"t_span": (0.25, 0.5), "h": 0.05, "save_every": 2, "integrator": PAIR}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert left_alone
    assert not any(left_alone)
    assert_steps_were_chosen(runs)
    check_alone(runs, system, options, given)


@pytest.mark.filterwarnings("ignore::mbkit.EnergyBalanceWarning")
@pytest.mark.parametrize(
    ("integrator", "further"),
    [
        (mb.RungeKuttaMuntheKaas(mb.tableaus.BOGACKI_SHAMPINE3, rtol=1e-5, atol=1e-7), {}),
        (mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE8, rtol=1e-9), {"save_every": 3}),
        (attrs.evolve(PAIR, truncation=2), {"save_at": [0.0, 0.02, 0.1]}),
    ],
)
def test_pairs_of_every_kind_go_side_by_side(monkeypatch, left_alone, integrator, further):
    """On one thread, one attempt at a time; a run that grows without bounds fails alone."""
    monkeypatch.setattr(in_threads, "cores", lambda: 1)
    monkeypatch.setattr(adaptive_in_lanes, "ATTEMPTS", 1)
    monkeypatch.setattr("mbkit.simulation.stepping.chunks.CHUNK", 0.0)
    system = random_mechanism(np.random.default_rng(5), 5, ["revolute", "free"]).assemble()
    given = unlike(system)
    given["v"][9] *= 1e160
    options = {"t_span": (0.0, 0.1), "h": 0.01, "integrator": integrator, **further}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert (9,) in runs.failures
    assert 9 in left_alone[0]
    assert not any(left_alone[1:])
    assert len(left_alone[0]) == native_width()
    check_alone(runs, system, options, given)


@pytest.mark.some(4)
@each_representation
def test_forces_that_read_the_time_act_at_that_of_each_run(left_alone, representation):
    """Of tables with several pieces, which runs side by side look up at times of their own."""
    rng = np.random.default_rng(8)
    mech = random_mechanism(rng, 4, ["revolute", "spherical", "prismatic"], reach=2)
    single = [name for name, edge in mech.joints.items() if edge.joint.num_velocities == 1]
    times = [0.2, 0.27, 0.31, 0.36, 0.5]
    mech.add_force(mb.JointEffort("motor", single[0], effort=rng.normal(size=5), times=times))
    body, wrenches = list(mech.bodies)[-1], rng.normal(size=(5, 6))
    mech.add_force(mb.BodyWrench("thrust", body, wrench=wrenches, times=times, axes="body"))
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    given = unlike(system)
    options = {"t_span": (0.15, 0.55), "h": 0.2, "integrator": PAIR}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert left_alone
    assert all(len(left) < 2 for left in left_alone)
    assert runs.counts["evaluations"].max() > 1.5 * runs.counts["evaluations"].min()
    still = mb.simulate(system.without_forces(["thrust"]), **options, **given, progress=False)
    assert np.abs(still.q[:, -1] - runs.q[:, -1]).max() > 1e-4
    check_alone(runs, system, options, given)


def numbers_of_their_own(system, rng):
    """Parameters of a tree but for its joints, another value of each in each run of an ensemble."""
    found = {}
    kept = ("times", "frame_a", "frame_b")
    for name, value in system.parameters.items():
        kind, _, field = name.rpartition(".")
        if kind.startswith("joints") or field in kept or name == "forces.field.acceleration":
            continue
        spread = 0.01 if field in ("com", "lower", "upper") else 0.1
        factor = 1.0 + spread * rng.uniform(-1.0, 1.0, (COUNT, *([1] * np.ndim(value))))
        found[name] = factor * value
    return found


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("representation", "integrator"),
    [
        (mb.BodyFixed(), mb.RungeKuttaMuntheKaas()),
        (mb.Spatial(), PAIR),
        (mb.Hybrid(), mb.GeneralizedAlpha()),
        (mb.Mixed(), mb.RungeKuttaMuntheKaas()),
        (mb.BodyFixed(), mb.MultistepMuntheKaas(3)),
        (mb.Mixed(), mb.BLieDF(2)),
        (mb.Spatial(), mb.CommutatorFree()),
        (mb.BodyFixed(), mb.GeneralizedAlpha(rtol=1e-4)),
    ],
    ids=lambda each: type(each).__name__,
)
def test_runs_with_numbers_of_their_own(taken, left_alone, representation, integrator):
    """Masses, gravity, and all that forces of every kind have, in all joints."""
    rng = np.random.default_rng(31)
    mech, single = tree(rng)
    for force in every_force(rng, mech, single):
        mech.add_force(force)
    mech.add_joint(mb.FreeJoint("flies"), mech.world, mech.add_body(mb.Body("stone", STONE)))
    system = mech.assemble(mb.RelativeCoordinates(representation=representation))
    given = states(system, 0.3)
    given["v"][9] *= 1e160
    parameters = numbers_of_their_own(system, rng)
    options = {"t_span": (0.25, 0.29), "h": 2e-3, "save_every": 6, "integrator": integrator}
    runs = mb.simulate(system, **options, **given, parameters=parameters, progress=False)
    assert list(runs.failures) == [(9,)]
    if taken:
        width = native_width()
        assert [first for first, together in taken if not together] == [9 // width * width]
    else:
        alone = {number for left in left_alone for number in left}
        assert 9 in alone
        assert len(alone) < COUNT
    for k in (0, 7, 9, 15, COUNT - 1):
        own = system.with_parameters({name: values[k] for name, values in parameters.items()})
        check_alone(runs, own, options, given, [k])


def test_models_that_lanes_do_not_hold_together_go_one_by_one(taken):
    """A spring that is none in some runs, or a field of its own, is another table of forces."""
    mech = random_mechanism(np.random.default_rng(8), 3, ["revolute", "prismatic"], reach=2)
    first, second = list(mech.joints)[:2]
    mech.add_force(mb.JointSpring("spring", first, stiffness=2.0))
    mech.add_force(mb.JointSpring("other", second, stiffness=3.0))
    mech.add_force(mb.UniformField("wind", acceleration=(0.3, 0.0, 0.1)))
    system = mech.assemble()
    given = states(system, 0.5)
    options = {"t_span": (0.0, 0.01), "h": 1e-3}
    for parameters in (
        {"forces.spring.stiffness": np.linspace(0.0, 5.0, COUNT)},
        {"forces.wind.acceleration": np.linspace(0.0, 5.0, COUNT)[:, None] * np.eye(3)[2]},
    ):
        runs = mb.simulate(system, **options, **given, parameters=parameters, progress=False)
        assert not taken
        for k in (0, 9):
            own = system.with_parameters({name: values[k] for name, values in parameters.items()})
            check_alone(runs, own, options, given, [k])


def check_stopped(monkeypatch, system, given, integrator, parts):
    """Each run of an ensemble stopped by Ctrl-C ends at the grid point that it reached last.

    parts: the arrays of results that must be there those of the whole ensemble.
    """
    options = {"t_span": (0.0, 0.1), "h": 0.01, "integrator": integrator, "progress": False}
    whole = mb.simulate(system, **options, **given)
    monkeypatch.setattr(in_threads, "cores", lambda: 1)
    monkeypatch.setattr(adaptive_in_lanes, "ATTEMPTS", 1)
    monkeypatch.setattr("mbkit.simulation.stepping.chunks.CHUNK", 0.0)
    advance, calls = AdaptiveGroup._advance, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 20:
            signal.raise_signal(signal.SIGINT)
        return advance(*arguments)

    monkeypatch.setattr(AdaptiveGroup, "_advance", interrupted)
    runs = mb.simulate(system, **options, save_every=5, **given)
    steps = runs.steps_taken[runs.lengths > 0]
    assert np.any((steps > 0) & (steps % 5 > 0))
    for k, taken in enumerate(steps):
        assert runs[k].t[-1] == whole.t[k, taken]
        for part in parts:
            own, other = getattr(runs[k], part)[-1], getattr(whole, part)[k, taken]
            np.testing.assert_array_equal(own, other, part)


def test_runs_that_choose_their_steps_are_stopped_at_grid_points(monkeypatch):
    """Ctrl-C leaves each run at the grid point that it has reached last."""
    system = random_mechanism(np.random.default_rng(5), 5, ["revolute", "free"]).assemble()
    check_stopped(monkeypatch, system, unlike(system), PAIR, ("q", "v"))
