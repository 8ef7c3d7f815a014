"""What forces add to the time loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mbkit as mb
from benchmarks.mechanisms import REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import Timings, interleaved
from tests.trees import random_pose, random_state

BODIES = 30
STEP = 1e-4
#: A long run and a short one: what both have in common, such as making the system's arrays and
#: computing energies at the end, is no evaluation.
STEPS = 500
FEW = 10
#: Evaluations of the forces by step of the method of order 4.
STAGES = 4

#: Most that a run with forces may take, by that of the same run without.
BARS = {"30 joint springs": 1.03, "four on bodies": 1.15}

#: Most that a call of a force in Python may take beyond its own code. [s]
PYTHON_BAR = 3e-6


def forces() -> list[Table]:
    """Return a table for each representation, and one of forces in Python."""
    tables = [_compiled(each) for each in (mb.BodyFixed(), mb.Spatial(), mb.Hybrid(), mb.Mixed())]
    return [*tables, _python()]


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


def _compiled(representation: mb.Representation, rounds: int = 100) -> Table:
    """Return what compiled forces add, in one representation."""
    mechanism = benchmark_tree(BODIES, REVOLUTE)
    system = mechanism.assemble(mb.RelativeCoordinates(representation=representation))
    state = random_state(np.random.default_rng(BODIES), system, 0.1)
    cases = _cases(mechanism)
    runs = _runs("none", system, state)
    for name, each in cases.items():
        runs |= _runs(name, system.with_forces(each), state)
    times = interleaved(runs, rounds=rounds)
    without = _evaluation(times, "none")
    rows = [Row("none", without)]
    for name in cases:
        found = _evaluation(times, name)
        rows.append(Row(name, found, without, found / without, BARS.get(name)))
    title = f"Forces, {representation.name}: an evaluation in a run of {BODIES} bodies"
    return Table(title, rows, peer="without")


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
        functions[f"{name}, own code"] = _loop(force, state, poses, twists, out)
    times = interleaved(functions, rounds=rounds)
    rows = []
    for name, _, _ in cases:
        own = times.best(f"{name}, own code")
        whole = _evaluation(times, name) - _evaluation(times, "none")
        rows.append(Row(name, whole, own, (whole - own) * 1e6, PYTHON_BAR * 1e6, "us"))
    return Table(f"A force in Python in a run of {BODIES} bodies", rows, peer="its own code")


def _loop(force: mb.Force, state: Any, poses: Any, twists: Any, out: Any) -> Callable[[], Any]:
    def call() -> None:
        force.evaluate(0.0, state.q, state.v, poses, twists, out)

    return call
