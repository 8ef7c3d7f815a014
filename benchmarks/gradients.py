"""The gradient of a run by all inertial parameters and springs, against the run itself."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import mbkit as mb
from benchmarks.mechanisms import MIXED, REVOLUTE, benchmark_tree
from benchmarks.python_forces import with_pull, with_pushes
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.closed_loops.mechanisms import CASES, Case
from tests.trees import random_state

STEP = 1e-3
STEPS = sized(500, 20)

#: Most of the time of a run that its gradient may take.
BAR = 6.0

#: Closed mechanisms that are measured, whose loops joints close.
CLOSED = ("four-bar", "3-four-bar", "Bricard", "Stewart platform")

#: Fields of joints that are their places on their bodies.
PLACES = (".S_pred", ".S_succ")

#: Joints of trees whose motions have numbers besides the joints' places, and these numbers.
WITH_NUMBERS = ("helical", "universal", "spherical")
NUMBERS = (".pitch", ".axis1", ".axis2")

#: Forces between two bodies, by their name and those of the bodies.
FORCES: dict[str, Callable[[str, str, str], mb.Force]] = {
    "springs": lambda name, a, b: mb.SpringDamper(
        name, a, b, stiffness=5.0, rest_length=1.0, damping=0.1
    ),
    "bushings": lambda name, a, b: mb.Bushing(name, a, b, stiffness=(5.0,) * 6, damping=(0.1,) * 6),
    "drags": lambda name, a, b: mb.Drag(name, b, linear=0.1, quadratic=0.2, point=(0.1, 0.2, 0.1)),
}

METHODS: dict[str, mb.Integrator] = {
    "RKMK4": mb.RungeKuttaMuntheKaas(),
    "generalized-alpha": mb.GeneralizedAlpha(),
}

#: That of closed mechanisms with steps of its own size, of at most so many of those of others.
ADAPTIVE = mb.RungeKuttaMuntheKaas(mb.tableaus.DORMAND_PRINCE5, rtol=1e-8)
WIDER = 20


def gradients(sizes: tuple[int, ...] = sized((7, 30), (7,))) -> Table:
    """Return times of gradients by all inertial parameters and the start, at most `BAR` runs.

    And by the parameters of as many forces of one kind, of runs with these; by pitches and axes of
    the joints of trees; of runs with forces in Python; of runs of closed mechanisms, by places of
    all their joints, by the numbers of all their rods, or by the axes of joints that close them,
    besides; with a coupling in Python; and of a ball that rolls.
    """
    rows = [
        _row(count, kinds, name)
        for name in METHODS
        for kinds in (REVOLUTE, MIXED)
        for count in sizes
    ]
    rows += [
        _row(count, kinds, "RKMK4", force)
        for force in FORCES
        for kinds in (REVOLUTE, MIXED)
        for count in sizes
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.SingularityWarning)  # of universal joints, by chance
        rows += [_row_of_joints(count, name) for name in METHODS for count in sizes]
        rows += [
            _row_of_python(15, kind, method, known=known)
            for known in (True, False)
            for kind in ("hinges", "pair")
            for method in METHODS
        ]
        rows.append(_row_of_efforts(10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        rows += [
            _closed_row(case, adaptive=adaptive)
            for adaptive in (False, True)
            for case in CASES
            if case.name in CLOSED
        ]
        rows += [
            _closed_row(case, method, places=True)
            for method in METHODS
            for case in CASES
            if case.name in CLOSED
        ]
        rows.append(_row_of_rods(6))
        rows += [_row_of_rods(6, method, numbers=True) for method in METHODS]
        rows += [_row_of_shafts(method) for method in METHODS]
        rows += [_row_of_a_coupling(8, method) for method in METHODS]
        rows += [_row_of_a_composite(method) for method in METHODS]
        rows += [_row_of_a_ball(method, every=each) for method in METHODS for each in (False, True)]
    title = "Gradient of a run by all inertial parameters and its start, against the run"
    return Table(title, rows, peer="run")


def _row(count: int, kinds: tuple[str, ...], method: str, force: str = "") -> Row:
    mechanism = benchmark_tree(count, kinds)
    rng = np.random.default_rng(count)
    for k in range(count if force else 0):
        a, b = rng.choice(list(mechanism.bodies), 2, replace=False)
        mechanism.add_force(FORCES[force](f"force {k}", str(a), str(b)))
    system = mechanism.assemble()
    state = random_state(np.random.default_rng(count), system, 0.1)
    kind = "mixed" if len(kinds) > 1 else "revolute"
    more = f", {count} {force}" if force else ""
    what = f"{count} bodies, {kind}, {method}{more}"
    of = ("bodies.", "forces.")
    return _measured(what, system, (state.q, state.v), METHODS[method], of)


def _row_of_joints(count: int, method: str) -> Row:
    """Return the row of a tree by the pitches and axes of its joints besides."""
    system = benchmark_tree(count, WITH_NUMBERS).assemble()
    state = random_state(np.random.default_rng(count), system, 0.1)
    what = f"{count} bodies, {method}, pitches and axes"
    return _measured(what, system, (state.q, state.v), METHODS[method], ("bodies.", *NUMBERS))


def _row_of_python(count: int, kind: str, method: str, *, known: bool) -> Row:
    """Return the row of hinges with forces in Python on all of them, or on a pair of bodies."""
    forces = with_pushes if kind == "hinges" else with_pull
    system = forces(benchmark_tree(count, REVOLUTE), known=known)
    state = random_state(np.random.default_rng(count), system, 0.1)
    of = "each hinge" if kind == "hinges" else "two bodies"
    what = f"{count} bodies, {method}, Python on {of}, {'derivatives' if known else 'traced'}"
    return _measured(what, system, (state.q, state.v), METHODS[method], ("bodies.",))


def _row_of_efforts(count: int) -> Row:
    """Return the row of a tree whose efforts a function in Python gives."""
    system = benchmark_tree(count, MIXED).assemble()
    state = random_state(np.random.default_rng(count), system, 0.1)
    what = f"{count} bodies, {system.nv} velocities, RKMK4, tau(t, q, v)"
    given = {"tau": lambda t, q, v: -0.1 * v}
    return _measured(what, system, (state.q, state.v), METHODS["RKMK4"], ("bodies.",), **given)


def _closed_row(
    case: Case, method: str = "RKMK4", *, adaptive: bool = False, places: bool = False
) -> Row:
    system = case.system()
    start = system.close_loops(system.reference_configuration(), case.velocity(system))
    if adaptive:
        what = f"{case.name}, adaptive"
        return _measured(what, system, start, ADAPTIVE, ("bodies.",), h=WIDER * STEP)
    what = f"{case.name}, {method}{', places' if places else ''}"
    of = ("bodies.", *PLACES) if places else ("bodies.",)
    return _measured(what, system, start, METHODS[method], of)


def _row_of_rods(count: int, method: str = "RKMK4", *, numbers: bool = False) -> Row:
    """Return the row of bodies on ball joints, side by side, whose neighbours rods connect.

    `numbers`: by lengths and ends of the rods besides.
    """
    mechanism = mb.Mechanism("rods", gravity=(0.3, -0.2, -9.81))
    inertia = mb.SpatialInertia.from_com(1.0, (0.2, 0.1, 0.3), 0.1 * np.eye(3))
    for k in range(count):
        mechanism.add_body(mb.Body(f"body {k}", inertia))
        ball = mb.SphericalJoint(f"ball {k}", point=(0.0, 0.4 * k, 0.0))
        mechanism.add_joint(ball, mechanism.world, f"body {k}")
    for k in range(count - 1):
        ends = {"point_a": (0.1, 0.4 * k, 0.5), "point_b": (0.1, 0.4 * (k + 1), 0.5)}
        pair = f"body {k}", f"body {k + 1}"
        mechanism.add_constraint(mb.Distance(f"rod {k}", *pair, length=0.4, **ends))
    system = mechanism.assemble()
    v = np.random.default_rng(count).normal(size=system.nv)
    start = system.close_loops(system.reference_configuration(), v)
    what = f"{count} bodies, {count - 1} rods, {method}{', numbers' if numbers else ''}"
    of = ("bodies.", "constraints.") if numbers else ("bodies.",)
    return _measured(what, system, start, METHODS[method], of)


def _row_of_shafts(method: str) -> Row:
    """Return the row of double Cardan shafts, by the axes of joints that close loops besides."""
    case = next(each for each in CASES if each.name == "double Cardan")
    system = case.system()
    start = system.close_loops(system.reference_configuration(), case.velocity(system))
    axes = tuple(f".{joint}.axis{k}" for joint in system.loop_joints for k in (1, 2))
    what = f"{case.name}, {method}, axes"
    return _measured(what, system, start, METHODS[method], ("bodies.", *axes))


def _row_of_a_coupling(count: int, method: str) -> Row:
    """Return the row of a tree in which a function in Python couples two hinges."""
    mechanism = benchmark_tree(count, REVOLUTE)
    driver, driven = list(mechanism.joints)[:2]
    mechanism.add_constraint(mb.JointCoupling("cam", driver, driven, lambda x: 0.1 * np.sin(x)))
    system = mechanism.assemble()
    v = random_state(np.random.default_rng(count), system, 0.1).v
    start = system.close_loops(system.reference_configuration(), v)
    what = f"{count} bodies, a coupling in Python, {method}"
    return _measured(what, system, start, METHODS[method], ("bodies.",))


def _row_of_a_composite(method: str) -> Row:
    """Return the row of a four-bar that a ball on a rail closes, by their places besides."""
    mechanism = mb.Mechanism("four-bar", gravity=(0.0, 0.0, -9.81))
    points = np.array([(0.0, 0.0, 0.0), (0.0, 0.0, 0.3), (0.8, 0.0, 0.5), (0.9, 0.0, 0.0)])
    before = mechanism.world
    for k, (a, b) in enumerate(itertools.pairwise(points)):
        inertia = mb.SpatialInertia.from_com(1.0, 0.5 * (a + b), 0.01 * np.diag([1.0, 1.5, 2.0]))
        body = mechanism.add_body(mb.Body(f"rod {k}", inertia))
        mechanism.add_joint(mb.RevoluteJoint(f"hinge {k}", axis=(0, 1, 0), point=a), before, body)
        before = body
    ball, rail = (
        mb.SphericalJoint("ball", point=points[-1]),
        mb.PrismaticJoint("rail", axis=(0, 1, 0)),
    )
    mechanism.add_joint(mb.CompositeJoint("last", ball, rail), mechanism.world, before)
    system = mechanism.assemble(mb.RelativeCoordinates(loop_joints=("last",)))
    start = system.close_loops(system.reference_configuration(), [3.0, 0.0, 0.0])
    what = f"four-bar that a composite joint closes, {method}, numbers and places"
    of = ("bodies.", "joints.last.")
    return _measured(what, system, start, METHODS[method], of)


def _row_of_a_ball(method: str, *, every: bool) -> Row:
    """Return the row of a ball that rolls; by all its inputs, besides."""
    mechanism = mb.Mechanism("rolling", gravity=(1.0, -0.2, -9.81))
    inertia = mb.SpatialInertia.from_com(1.0, (0.02, 0.01, 0.03), np.diag([0.05, 0.06, 0.07]))
    mechanism.add_body(mb.Body("ball", inertia))
    mechanism.add_joint(mb.FreeJoint("free"), mechanism.world, "ball")
    mechanism.add_constraint(
        mb.RollingSphere("table", "world", "ball", radius=0.3, point_a=(0.0, 0.0, -0.3))
    )
    system = mechanism.assemble()
    v = np.random.default_rng(1).normal(size=system.nv)
    start = system.close_loops(system.reference_configuration(), v)
    what = f"ball that rolls, {method}{', numbers and places' if every else ''}"
    of = ("bodies.", *PLACES, "constraints.") if every else ("bodies.",)
    return _measured(what, system, start, METHODS[method], of)


def _measured(
    what: str,
    system: mb.System,
    start: Any,
    method: mb.Integrator,
    of: tuple[str, ...],
    h: float = STEP,
    **given: Any,
) -> Row:
    """Return the row of a system from a start (q, v), by parameters whose names begin or end so."""
    q, v = start
    by = [name for name in system.parameters if name.startswith(of) or name.endswith(of)]
    by = ["q", "v", *by]

    def taken() -> Any:
        return mb.simulate(
            system, (0.0, STEPS * STEP), h, integrator=method, q=q, v=v, progress=False, **given,
        )  # fmt: skip

    def loss(t: Any, q: Any, v: Any) -> Any:
        return 0.5 * (v * v).sum(), None, v

    run = taken()
    times = interleaved({"own": lambda: mb.gradient(run, loss, by), "peer": taken}, rounds=15)
    return Row(
        what,
        times.best("own"),
        times.best("peer"),
        times.ratio("own", "peer"),
        BAR,
    )
