"""Ensembles of closed mechanisms whose steps are taken in lanes: each run is the run alone."""

from unittest import mock

import numpy as np
import pytest

import mbkit as mb
from benchmarks.absolute import hanging_ladder
from benchmarks.constraints import four_bars
from examples.closed_loops import delta_robot
from mbkit.kernels.lanes import native_width
from mbkit.simulation.ensembles import in_lanes, in_threads
from mbkit.sparsity import nesting
from tests.constraints.loops import consistent, mobile_loops
from tests.every_representation import REPRESENTATIONS
from tests.simulation import test_ensembles_in_lanes as of_trees
from tests.simulation.test_ensembles_in_lanes import (
    COUNT,
    PAIR,
    assert_steps_were_chosen,
    check_alone,
)

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


@pytest.fixture(autouse=True)
def few_runs_are_enough(monkeypatch):
    """What is compiled for closed mechanisms is so for as few runs as here."""
    monkeypatch.setattr(in_lanes, "LEAST_CLOSED_RUNS", 1)


def loops(representation):
    """Loops that are closed by joints of several kinds, of a tree of any joints, with forces."""
    kinds = ("revolute", "universal", "spherical", "cylindrical")
    system, q = mobile_loops(np.random.default_rng(3), 9, kinds, representation)
    body = system.body_names[-1]
    forces = [
        mb.Drag("drag", body, linear=0.4, quadratic=0.3),
        mb.UniformField("wind", acceleration=(0.3, -2.0, 0.1)),
    ]
    return system.with_forces(forces), q


def assembled(mech, coordinates=None, solver=None):
    """A mechanism where it was put together."""
    system = mech.assemble() if coordinates is None else mech.assemble(coordinates)
    system = system if solver is None else system.with_constraint_solver(solver)
    return system, system.reference_configuration()


def coupled():
    """Bodies with a rod between them, on a plane, and a gear on one; a table says where one is."""
    mech = mb.Mechanism("coupled")
    box = mb.SpatialInertia.box(2.0, size=(0.3, 0.5, 0.7))
    for name, parent, joint in (
        ("a", "world", mb.FreeJoint("of a")), ("b", "world", mb.FreeJoint("of b")),
        ("c", "a", mb.RevoluteJoint("i")), ("d", "a", mb.PrismaticJoint("j")),
    ):  # fmt: skip
        mech.add_body(mb.Body(name, box))
        mech.add_joint(joint, parent, name)
    points = {"point_a": (0.1, 0.2, 0.3), "point_b": (0.3, -0.1, 0.2)}
    length = float(np.linalg.norm(np.subtract(*points.values())))
    mech.add_constraint(mb.Distance("rod", "a", "b", length=length, **points))
    mech.add_constraint(mb.GearRatio("gears", "i", "j", ratio=-0.3))
    mech.add_constraint(mb.PointOnPlane("table", "world", "b", normal=(0.0, 0.0, 1.0)))
    point, times = (0.1, 0.0, 0.0), np.linspace(-1.0, 1.0, 5)
    held = mb.PrescribedPoint("held", "d", point=point, times=times, positions=[point] * 5)
    mech.add_constraint(held)
    return assembled(mech)


def nested():
    """A ladder, each of whose windows is closed at a body of its own."""
    with mock.patch.object(nesting, "ONE_BLOCK", 0):
        system, q = assembled(hanging_ladder(9), solver=mb.SchurComplement())
    assert system.arrays.closure.propagations is not None
    return system, q


CASES = {
    **{each.name: lambda each=each: loops(each) for each in REPRESENTATIONS},
    "absolute": lambda: assembled(delta_robot.build(), mb.AbsoluteCoordinates()),
    "redundant": lambda: assembled(four_bars(2)),
    "redundant, Schur": lambda: assembled(four_bars(2), solver=mb.SchurComplement()),
    "constraints": coupled,
    "nested": nested,
}

#: Nested loops have lanes of their own in the solver alone, which steps of one size compile.
NAMES = [pytest.param(each, marks=pytest.mark.long if each == "nested" else ()) for each in CASES]

METHODS = {
    "projected": {"save_every": 4},
    "pulled": {"stabilisation": mb.Baumgarte(frequency=50.0), "save_every": 3},
    "drifting": {"stabilisation": None, "save_at": [0.0, 0.008, 0.02]},
    "products of exponentials": {"integrator": mb.CommutatorFree()},
    "multistep": {"integrator": mb.MultistepMuntheKaas(4), "save_every": 2},
    "within steps": {"save_at": [0.0007, 0.0031, 0.0099, 0.02]},
}


def starts(system, q):
    """States along a motion, at speeds of which some take more corrections than others beside."""
    rng = np.random.default_rng(8)
    v = consistent(system, q, rng.normal(size=system.nv))
    run = mb.simulate(system, (0.0, (COUNT - 1) * 2e-3), 2e-3, q=q, v=v, progress=False)
    speeds = rng.permutation(np.geomspace(0.1, 10.0, COUNT))[:, None]
    return {"q": run.q, "v": run.v * speeds, "tau": rng.normal(size=(COUNT, system.nv))}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_runs_of_closed_mechanisms_side_by_side_are_the_runs_alone(taken, name, method):
    """Bit by bit, with multipliers; a run that tears its loops open fails alone."""
    system, q = CASES[name]()
    given = starts(system, q)
    given["v"][9] *= 1e4
    options = {"t_span": (0.0, 0.02), "h": 2e-3, **METHODS[method]}
    runs = mb.simulate(system, **options, **given, progress=False)
    width = native_width()
    given_up = {number // width * width for (number,) in runs.failures}
    assert sorted(taken) == [(k, k not in given_up) for k in range(0, COUNT, width)]
    assert len(given_up) < len(taken)
    assert np.isfinite(runs.multipliers[~runs.failed]).all()
    assert np.abs(runs.multipliers[~runs.failed]).max() > 0.0
    check_alone(runs, system, options, given)


ADAPTIVE = {
    "projected": {"integrator": PAIR},
    "pulled": {"integrator": PAIR, "stabilisation": mb.Baumgarte(frequency=50.0), "save_every": 2},
    "drifting": {"integrator": PAIR, "stabilisation": None, "save_at": [0.0, 0.05, 0.1]},
    "of order 3": {
        "integrator": mb.RungeKuttaMuntheKaas(mb.tableaus.BOGACKI_SHAMPINE3, rtol=1e-5, atol=1e-7),
    },
}


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("name", NAMES)
def test_each_run_of_a_closed_mechanism_chooses_its_steps(monkeypatch, left_alone, name, method):
    """Rows that count are chosen for each run where its step begins, and hold until it is taken."""
    monkeypatch.setattr(in_threads, "cores", lambda: 1)  # a second thread may come too late
    system, q = CASES[name]()
    given = starts(system, q)
    options = {"t_span": (0.0, 0.1), "h": 0.05, **ADAPTIVE[method]}
    runs = mb.simulate(system, **options, **given, progress=False)
    assert left_alone == [[]]
    if name in [each.name for each in REPRESENTATIONS]:
        assert_steps_were_chosen(runs)
    assert runs.counts["evaluations"].max() > 1.5 * runs.counts["evaluations"].min()
    assert np.abs(runs.multipliers).max() > 0.0
    check_alone(runs, system, options, given)


def test_runs_beside_one_that_fails_have_their_own_bits(monkeypatch, left_alone):
    """Those that drift too far fail, taken alone with whoever was on the way beside them."""
    monkeypatch.setattr(in_threads, "cores", lambda: 1)  # as above
    system, q = CASES["absolute"]()
    given = starts(system, q)
    given["v"] *= 40.0
    options = {"t_span": (0.0, 0.1), "h": 0.05, **ADAPTIVE["drifting"]}
    runs = mb.simulate(system, **options, **given, progress=False)
    alone = {number for left in left_alone for number in left}
    failed = {number for (number,) in runs.failures}
    assert failed
    assert failed <= alone
    assert len(alone) < COUNT
    check_alone(runs, system, options, given, [*failed, 0, 7])
