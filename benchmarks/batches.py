"""Many configurations in one call, against Pinocchio's functions that run on several cores."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
import pinocchio as pin

import mbkit as mb
from benchmarks.mechanisms import MIXED, REVOLUTE, benchmark_tree
from benchmarks.pinocchio_loops import pinocchio_loops
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.peers.pinocchio_twin import PinocchioTwin
from tests.peers.robots import PinocchioRobot, robot_files
from tests.trees import random_state

#: Configurations in a call.
SAMPLES = sized(4096, 64)

#: Robots of example-robot-data.
ROBOTS = sized(("panda/panda", "talos_data/talos_full_v2"), ("panda/panda",))

#: Most of Pinocchio's time that a call may take, of few bodies, of many, and of mixed joints.
FEW = 10
BARS = {
    "inverse dynamics": (0.12, 0.10, 0.12),
    "forward dynamics": (0.12, 0.10, 0.12),
    "mass matrix": (0.12, 0.20, None),
    "derivatives of forward dynamics": (0.20, 0.20, 0.20),
}

#: Of these Pinocchio has no function for many samples, and its loop is one in C++.
IN_LOOPS = ("mass matrix", "derivatives of forward dynamics")

#: Most of the time in body-fixed twists that another representation may take.
OTHERS = 1.5

#: Of a loop, and between loops. [s]
SECONDS = 2e-2
PAUSE = sized(2e-2, 0.0)

CORES = len(os.sched_getaffinity(0))

Call = Callable[[], Any]


@attrs.frozen
class Case:
    """A system, the model in Pinocchio, and samples for both, one a row."""

    title: str
    system: mb.System
    model: pin.Model
    own: dict[str, Any]
    peer: dict[str, Any]
    mixed: bool = False


def batches() -> list[Table]:
    """Return times by sample."""
    title = f"{SAMPLES} configurations in one call, by configuration"
    rows = [row for case in _cases() for row in _rows(case)]
    return [
        Table(f"{title}, against Pinocchio on {CORES} cores", rows, peer="Pinocchio"),
        Table(f"Pinocchio on {CORES} threads: its time by that on one", _threads()),
        Table(f"{title}, in other representations", _in_representations(), peer="body-fixed"),
        Table(f"{title}, in single precision", _in_single_precision(), peer="double precision"),
    ]


def _cases() -> Iterator[Case]:
    for count in sized((7, 30, 100), (7,)):
        mechanism = benchmark_tree(count, REVOLUTE)
        system = mechanism.assemble()
        yield _case(f"{count} bodies", system, PinocchioTwin(mechanism, system))
    count = sized(30, 7)
    mechanism = benchmark_tree(count, MIXED)
    system = mechanism.assemble()
    title = f"{count} bodies with mixed joints"
    yield _case(title, system, PinocchioTwin(mechanism, system), mixed=True)
    for name in ROBOTS:
        path = robot_files()[name]
        with warnings.catch_warnings():  # that <mimic> couples joints; Pinocchio ignores it too
            warnings.simplefilter("ignore", mb.ModelFileWarning)
            system = mb.load_urdf(path, mimic="independent").assemble()
        yield _case(name.rpartition("/")[2], system, PinocchioRobot(path, system, floating=False))


def _case(title: str, system: mb.System, twin: Any, *, mixed: bool = False) -> Case:
    """Return samples for both. The joints are such that velocities differ by their order alone."""
    rng = np.random.default_rng(0)
    states = [random_state(rng, system) for _ in range(SAMPLES)]
    own = {
        "q": np.array([state.q for state in states]),
        "v": np.array([state.v for state in states]),
        "x": np.array([state.tau for state in states]),
    }
    order = (
        twin.order if isinstance(twin, PinocchioRobot) else np.argmax(twin.rates(own["q"][0]), 1)
    )
    columns = {
        "q": np.array([twin.positions(q) for q in own["q"]]).T,
        "v": own["v"][:, order].T,
        "x": own["x"][:, order].T,
    }
    peer = {name: np.asfortranarray(array) for name, array in columns.items()}
    case = Case(f"{title} ({system.nv} velocities)", system, twin.model, own, peer, mixed)
    _check(case, order)
    return case


def _check(case: Case, order: Any) -> None:
    """Refuse to time two programs that do not compute the same."""
    own, peer = _own(case), _peer(case, CORES)
    for what in ("inverse dynamics", "forward dynamics"):
        found, expected = own[what]()[:, order].T, peer[what]()
        difference = np.abs(found - expected).max() / np.abs(expected).max()
        if not difference < 1e-9:
            raise RuntimeError(f"{case.title}, {what}: differs from Pinocchio by {difference:.1e}")
    loops = pinocchio_loops(case.model, CORES, case.peer)
    if loops is None:
        return
    pair = np.ix_(order, order)
    for what, (call, out) in loops.items():
        call()
        found = own[what]()
        if what == "mass matrix":
            found, expected = np.triu(found[-1][pair]), np.triu(out[-1].T)
        else:
            found = np.array([each[-1][pair] for each in found[:3]])
            expected = np.array([each.T for each in out[-1]])
            expected[2] = np.triu(expected[2]) + np.triu(expected[2], 1).T
        if not np.abs(found - expected).max() < 1e-7 * np.abs(expected).max():
            raise RuntimeError(f"{case.title}, {what}: differs from Pinocchio's")


def _own(case: Case) -> dict[str, Call]:
    system, q, v, x = case.system, case.own["q"], case.own["v"], case.own["x"]
    out, M = np.empty_like(v), np.empty((SAMPLES, system.nv, system.nv))
    return {
        "inverse dynamics": lambda: system.inverse_dynamics(q, v, x, out=out),
        "forward dynamics": lambda: system.forward_dynamics(q, v, x, out=out),
        "mass matrix": lambda: system.mass_matrix(q, out=M),
        "derivatives of forward dynamics": lambda: system.forward_dynamics_derivatives(q, v, x),
        "inverse dynamics, new": lambda: system.inverse_dynamics(q, v, x),
        "forward dynamics, new": lambda: system.forward_dynamics(q, v, x),
    }


def _peer(case: Case, threads: int) -> dict[str, Call]:
    q, v, x = case.peer["q"], case.peer["v"], case.peer["x"]
    pool = pin.ModelPool(case.model, CORES)
    return {
        "inverse dynamics": lambda: pin.rneaInParallel(threads, pool, q, v, x),
        "forward dynamics": lambda: pin.abaInParallel(threads, pool, q, v, x),
    }


def _rows(case: Case) -> list[Row]:
    rows = []
    own, peer = _own(case), _peer(case, CORES)
    loops = pinocchio_loops(case.model, CORES, case.peer)
    size = 2 if case.mixed else int(case.model.njoints > FEW)
    for what, bars in BARS.items():
        label = f"{case.title}, {what}"
        if what in IN_LOOPS:
            label += ", loop in C++"
            if loops is None:
                rows.append(Row(f"{label}: not compiled", bar=bars[size]))
                continue
            peer[what] = loops[what][0]
        functions = {"own": own[what], "peer": peer[what]}
        if f"{what}, new" in own:
            functions["new"] = own[f"{what}, new"]
        found = interleaved(functions, seconds=SECONDS, pause=PAUSE)
        for name, note in (("own", ", out=" if "new" in functions else ""), ("new", "")):
            if name in functions:
                times = found.best(name) / SAMPLES, found.best("peer") / SAMPLES
                rows.append(Row(label + note, *times, found.ratio(name, "peer"), bars[size]))
    return rows


def _in_representations() -> list[Row]:
    """Return times of the same calls in the representations of twists, by body-fixed ones."""
    rows = []
    for count in sized((7, 30), (7,)):
        mechanism = benchmark_tree(count, REVOLUTE)
        rng = np.random.default_rng(0)
        systems = {
            each.name: mechanism.assemble(mb.RelativeCoordinates(representation=each))
            for each in (mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed())
        }
        q, v, x = rng.normal(size=(3, SAMPLES, count))
        for what in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
            given = (q,) if what == "mass_matrix" else (q, v, x)
            functions = {}
            for name, system in systems.items():
                call = getattr(system, what)
                functions[name] = functools.partial(call, *given, out=call(*given))
            found = interleaved(functions, seconds=SECONDS)
            first, *others = functions
            for name in others:
                times = found.best(name) / SAMPLES, found.best(first) / SAMPLES
                label = f"{count} bodies, {what.replace('_', ' ')}, {name}"
                rows.append(Row(label, *times, found.ratio(name, first), OTHERS))
    return rows


def _threads() -> list[Row]:
    """Return what Pinocchio gains by its threads: that it uses them is part of the comparison."""
    if not pin.WITH_OPENMP:
        raise RuntimeError("Pinocchio was built without OpenMP: its functions use one core")
    mechanism = benchmark_tree(30, REVOLUTE)
    system = mechanism.assemble()
    case = _case("30 bodies", system, PinocchioTwin(mechanism, system))
    one, all_ = _peer(case, 1), _peer(case, CORES)
    rows = []
    for what in ("inverse dynamics", "forward dynamics"):
        functions = {"one": one[what], "all": all_[what]}
        found = interleaved(functions, seconds=SECONDS, pause=PAUSE)
        rows.append(Row(f"{case.title}, {what}", value=found.ratio("all", "one")))
    return rows


def _in_single_precision() -> list[Row]:
    """Return times of the same calls in single precision, of arguments and results in it."""
    rows = []
    for count in sized((7, 30), (7,)):
        system = benchmark_tree(count, REVOLUTE).assemble()
        rng = np.random.default_rng(0)
        states = [random_state(rng, system) for _ in range(SAMPLES)]
        given = [np.array([getattr(s, name) for s in states]) for name in ("q", "v", "tau")]
        rounded = [each.astype(np.float32) for each in given]
        single = system.in_single_precision()
        for what in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
            some = 1 if what == "mass_matrix" else 3
            own, peer = getattr(single, what), getattr(system, what)
            functions = {
                "own": functools.partial(own, *rounded[:some], out=own(*rounded[:some])),
                "peer": functools.partial(peer, *given[:some], out=peer(*given[:some])),
            }
            found = interleaved(functions, seconds=SECONDS, pause=PAUSE)
            times = found.best("own") / SAMPLES, found.best("peer") / SAMPLES
            rows.append(Row(f"{count} bodies, {what}", *times, found.ratio("own", "peer")))
    return rows
