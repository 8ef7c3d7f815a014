"""Cost of forces in the time loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mbkit as mb
from benchmarks.force_loops import evaluations, springs
from benchmarks.mechanisms import REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import Timings, interleaved, sized
from mbkit.kernels.layout import NUM_POWERS
from mbkit.systems.memory.workspace import Workspace
from tests.trees import random_pose, random_state

BODIES = 30
REPRESENTATIONS = sized((mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed()), (mb.BodyFixed(),))
STEP = 1e-4
#: A long run and a short one: what both have in common, such as making the system's arrays and
#: computing energies at the end, is no evaluation.
STEPS = sized(500, 20)
FEW = 10
#: Evaluations of the forces by step of the method of order 4.
STAGES = 4

#: Evaluations in one call of a compiled loop.
CALLS = sized(500, 5)

#: Most that an evaluation with forces may take, by that of the same tree without.
BARS = {"30 joint springs": 1.03, "four on bodies": 1.15}

#: Most that one spring between bodies may take beyond its own arithmetic. [% of an evaluation]
SPRING_BAR = 1.0

#: Springs between bodies far from each other, and across one joint each.
PAIRS = {
    "far": ((3, 28), (10, 20), (5, 25), (8, 29)),
    "near": ((3, 4), (10, 12), (20, 22), (26, 28)),
}

#: Most that a call of a force in Python may take beyond its own code. [s]
PYTHON_BAR = 3e-6


def forces() -> list[Table]:
    """Return a table for each representation, one of springs on bodies, one of forces in Python."""
    tables = [_compiled(each) for each in REPRESENTATIONS]
    return [*tables, _between_bodies(), _python()]


def _cases(mechanism: mb.Mechanism) -> dict[str, list[mb.Force]]:
    rng = np.random.default_rng(5)
    joints = list(mechanism.joints)
    springs: list[mb.Force] = [mb.JointSpring(f"s {name}", name, 5.0) for name in joints]
    dampers: list[mb.Force] = [mb.JointDamper(f"d {name}", name, 0.3) for name in joints]
    four = [
        mb.SpringDamper(
            "pair", "body3", "body28", stiffness=20.0, damping=0.5, point_a=rng.normal(size=3)
        ),
        mb.Bushing(
            "bushing", "body10", "body20", stiffness=rng.uniform(1, 5, 6),
            damping=rng.uniform(0.1, 0.5, 6), frame_a=random_pose(rng), frame_b=random_pose(rng),
        ),
        mb.BodyWrench("wrench", "body29", wrench=rng.normal(size=6), point=(0.1, 0.0, 0.2)),
        mb.Drag("drag", "body17", linear=0.4, quadratic=0.2),
    ]  # fmt: skip
    alone: dict[str, list[mb.Force]] = {type(force).__name__: [force] for force in four}
    return {
        "30 joint springs": springs,
        "30 joint dampers": dampers,
        "30 springs and 30 dampers": [*springs, *dampers],
        **alone,
        "four on bodies": list(four),
        "UniformField": [mb.UniformField("field", acceleration=(0.1, 0.2, -1.0))],
    }


def _loop(system: mb.System, state: Any) -> Callable[[], Any]:
    """Return what evaluates vdot CALLS times, in memory of its own."""
    space = Workspace(system.arrays, system.evaluator)
    space.record[0]["forward_dynamics"] = system.evaluator.function(system.equations)
    vectors = state.q.copy(), state.v.copy(), np.zeros(system.nv), np.zeros(NUM_POWERS)

    def call() -> None:
        assert evaluations(space.address, CALLS, *vectors) == 0

    return call


def _evaluations(
    representation: mb.Representation, cases: dict[str, list[mb.Force]], rounds: int
) -> dict[str, float]:
    """Return the time of an evaluation of vdot with these forces, and with none. [s]."""
    system = benchmark_tree(BODIES, REVOLUTE).assemble(
        mb.RelativeCoordinates(representation=representation)
    )
    state = random_state(np.random.default_rng(BODIES), system, 0.1)
    loops = {"none": _loop(system, state)}
    loops |= {name: _loop(system.with_forces(each), state) for name, each in cases.items()}
    times = interleaved(loops, rounds=rounds, seconds=1e-3)
    return {name: times.best(name) / CALLS for name in loops}


def _compiled(representation: mb.Representation, rounds: int = 300) -> Table:
    """Return what compiled forces add, in one representation."""
    cases = _cases(benchmark_tree(BODIES, REVOLUTE))
    found = _evaluations(representation, cases, rounds)
    without = found["none"]
    rows = [Row("none", without)]
    rows += [
        Row(name, found[name], without, found[name] / without, BARS.get(name)) for name in cases
    ]
    title = f"Forces, {representation.name}: an evaluation of vdot of {BODIES} bodies"
    return Table(title, rows, peer="without")


def _between_bodies(rounds: int = 300) -> Table:
    """Return what springs between bodies take beyond their own arithmetic."""
    rng = np.random.default_rng(6)
    cases: dict[str, list[mb.Force]] = {
        name: [
            mb.SpringDamper(
                f"{a} to {b}", f"body{a}", f"body{b}", stiffness=20.0, rest_length=0.3,
                damping=0.5, point_a=rng.normal(size=3), point_b=rng.normal(size=3),
            )
            for a, b in pairs
        ]
        for name, pairs in PAIRS.items()
    }  # fmt: skip
    rows = []
    for representation in REPRESENTATIONS:
        own = _own_arithmetic(cases["far"])
        found = _evaluations(representation, cases, rounds)
        for name, each in cases.items():
            whole = found[name] - found["none"]
            beyond = 100.0 * (whole - own) / len(each) / found["none"]
            share = f"{100.0 * whole / found['none']:.1f} %"
            row = Row(
                f"{representation.name}, {name}", whole, own, beyond, SPRING_BAR, "%", (share,)
            )
            rows.append(row)
    title = f"Four springs with dampers between bodies: what they add to an evaluation of {BODIES}"
    return Table(title, rows, "own arithmetic", ("of an evaluation",))


def _own_arithmetic(forces: Sequence[mb.Force], rounds: int = 300) -> float:
    """Return the time of the springs' law alone, where all that it needs lies ready. [s]."""
    rng = np.random.default_rng(7)
    poses = np.array([random_pose(rng) for _ in range(2 * len(forces))])
    numbers = np.array([force.parameters() for force in forces])
    R, p = np.ascontiguousarray(poses[:, :3, :3]), np.ascontiguousarray(poses[:, :3, 3])
    V, W = rng.normal(size=(len(poses), 6)), np.zeros((len(poses), 6))
    times = interleaved(
        {"": lambda: springs(CALLS, R, p, V, W, numbers)}, rounds=rounds, seconds=1e-3
    )
    return times.best("") / CALLS


def _runs(name: str, system: mb.System, state: Any) -> dict[str, Callable[[], Any]]:
    def run(steps: int) -> None:
        mb.simulate(
            system, (0.0, steps * STEP), STEP,
            q=state.q, v=state.v, save_every=steps, progress=False,
        )  # fmt: skip

    return {name: lambda: run(STEPS), f"{name}, few": lambda: run(FEW)}


def _evaluation(times: Timings, name: str) -> float:
    """Return the time of an evaluation of vdot. [s].

    Of the best times: a round takes so long that neighbours in it say little of each other.
    """
    return (times.best(name) - times.best(f"{name}, few")) / (STAGES * (STEPS - FEW))


class _OnJoints(mb.Force):
    """A spring in every joint."""

    def evaluate(self, t: float, q: Any, v: Any, poses: Any, twists: Any, out: Any) -> None:
        """Write generalized forces."""
        np.multiply(q, -5.0, out)


class _OnBody(mb.Force):
    """A wind on one body."""

    acts_on = "bodies"
    bodies = ("body28",)

    def evaluate(self, t: float, q: Any, v: Any, poses: Any, twists: Any, out: Any) -> None:
        """Write a wrench."""
        out[0, 3] = 0.5


def _python(rounds: int = 100) -> Table:
    """Return what a call of a force in Python takes beyond its own code."""
    system = benchmark_tree(BODIES, REVOLUTE).assemble()
    state = random_state(np.random.default_rng(BODIES), system, 0.1)
    poses, twists = np.zeros((1, 4, 4)), np.zeros((1, 6))
    cases: Sequence[tuple[str, mb.Force, Any]] = (
        ("on all joints", _OnJoints("joints"), np.zeros(system.nv)),
        ("on a body", _OnBody("body"), np.zeros((1, 6))),
    )
    functions = _runs("none", system, state)
    for name, force, out in cases:
        functions |= _runs(name, system.with_forces([force]), state)
        functions[f"{name}, own code"] = _own_code(force, state, poses, twists, out)
    times = interleaved(functions, rounds=rounds)
    rows = []
    for name, _, _ in cases:
        own = times.best(f"{name}, own code")
        whole = _evaluation(times, name) - _evaluation(times, "none")
        rows.append(Row(name, whole, own, (whole - own) * 1e6, PYTHON_BAR * 1e6, "us"))
    return Table(f"A force in Python in a run of {BODIES} bodies", rows, peer="its own code")


def _own_code(force: mb.Force, state: Any, poses: Any, twists: Any, out: Any) -> Callable[[], Any]:
    def call() -> None:
        force.evaluate(0.0, state.q, state.v, poses, twists, out)

    return call
