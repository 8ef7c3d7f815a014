"""Cost of each representation: executed operations by body, counted, beside the time.

Counting runs the kernels as Python on numbers that count, in a process of its own:

    NUMBA_DISABLE_JIT=1 python -m benchmarks.operations      prints the counts as JSON

Counted is what is executed. Products with entries that happen to be 0 or 1 are, and so is the look
for numbers that are not finite after forward dynamics, one addition and one product a velocity.
Signs, comparisons and copies are not, nor are products of two constants of the code.
"""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

import mbkit as mb
from benchmarks.mechanisms import MIXED, REACH, REVOLUTE, benchmark_tree
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from tests.trees import random_state

REPRESENTATIONS = {
    "body-fixed": mb.BodyFixed(),
    "spatial": mb.Spatial(),
    "hybrid": mb.Hybrid(),
    "mixed": mb.Mixed(),
}

#: Sizes: operations by body are the difference between the first two, divided by as many bodies.
COUNTED = sized((30, 60), (4, 6))
TIMED = sized((30, 100), (4, 6))

#: Most that any representation's forward dynamics may take of the fastest one's time.
SLOWEST = 2.0

KINEMATICS = "kinematics"
MASS_MATRIX = "mass matrix"
ALGORITHMS = {
    KINEMATICS: "",
    "inverse dynamics": "inverse_dynamics",
    "forward dynamics": "forward_dynamics",
    MASS_MATRIX: "mass_matrix",
}
JOINTS = "joints alone, in each of these"


@attrs.frozen
class Tree:
    """What is measured: trees of one kind, in one choice of frames."""

    title: str
    kinds: tuple[str, ...]
    reach: int
    body_frames: str

    def system(self, count: int) -> mb.System:
        """Return the tree of this many bodies."""
        general = self.body_frames == "user"
        mechanism = benchmark_tree(count, self.kinds, reach=self.reach, misaligned=general)
        return mechanism.assemble(mb.RelativeCoordinates(body_frames=self.body_frames))


TREES = [
    Tree("chain of revolute joints, frames on the joints' axes", REVOLUTE, 1, "joint"),
    Tree("chain of revolute joints, any frames", REVOLUTE, 1, "user"),
    Tree("tree of mixed joints, frames on the joints' axes", MIXED, REACH, "joint"),
    Tree("tree of mixed joints, any frames", MIXED, REACH, "user"),
]


def _functions() -> dict[tuple[str, str], Any]:
    """Return the functions by algorithm and representation."""
    kinematics = importlib.import_module("benchmarks.forward_kinematics")
    found = {(JOINTS, ""): kinematics.joints_alone}
    for what, name in ALGORITHMS.items():
        for title, representation in REPRESENTATIONS.items():
            found[what, title] = (
                representation.kernel(name)
                if name
                else getattr(kinematics, f"kinematics_{representation.name}")
            )
    return found


# ------------------------------------------------------------------------------------- counting


def count_operations() -> dict[str, dict[str, float]]:
    """Return operations by body and kind, under "tree/algorithm/representation"."""
    found = {}
    for tree in TREES:
        few, many = (_counts(tree, count) for count in COUNTED)
        for (what, title), counts in few.items():
            by_body = {
                kind: (many[what, title][kind] - number) / (COUNTED[1] - COUNTED[0])
                for kind, number in counts.items()
            }
            if what == MASS_MATRIX:  # not O(n)
                by_body = {kind: number / COUNTED[0] for kind, number in counts.items()}
            found[f"{tree.title}/{what}/{title}"] = by_body
    return found


def _counts(tree: Tree, count: int) -> dict[tuple[str, str], dict[str, int]]:
    from mbkit.studies.laboratory.counting.counted import Counted, counting
    from mbkit.studies.laboratory.counting.number_types import OtherNumbers

    system = tree.system(count)
    state = random_state(np.random.default_rng(count), system)
    numbers = OtherNumbers(system, Counted)
    q, v, x = (numbers.vector(a) for a in (state.q, state.v, state.vdot))
    found = {}
    for key, function in _functions().items():
        size = system.nv**2 if key[0] == MASS_MATRIX else system.nv
        with counting() as counts:
            numbers.call(function, q, v, x, size)
        found[key] = dict(counts)
    return found


def uncompiled_json(module: str) -> Any:
    """Return what a module prints as JSON when it is run with kernels that Python runs."""
    done = subprocess.run(
        [sys.executable, "-m", module],
        cwd=pathlib.Path(__file__).parents[1], env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{module} failed:\n{done.stderr}")
    return json.loads(done.stdout)


# --------------------------------------------------------------------------------------- timing


def _calls(system: mb.System) -> dict[tuple[str, str], Callable[[], Any]]:
    """Return what is timed: one call of each function, without the checks of a system's method."""
    from mbkit.systems.calls.direct import direct_call

    state = random_state(np.random.default_rng(1), system)
    q, v, x = state.q, state.v, state.vdot
    out, M = np.empty(system.nv), np.empty((system.nv, system.nv))
    workspace = system.evaluator.take()

    def call(what: str, function: Any) -> Callable[[], Any]:
        if what == MASS_MATRIX:
            square = direct_call(function.address, 0, (M.shape, q.shape))
            return lambda: square(workspace.record, M, q)
        dynamics = direct_call(function.address, 0, (out.shape, q.shape, v.shape, x.shape))
        return lambda: dynamics(workspace.record, out, q, v, x)

    functions = _functions()
    calls = {key: call(key[0], function) for key, function in functions.items()}
    for key, function in calls.items():
        if function() != 0:
            raise RuntimeError(f"{key} failed")
    return calls


def _times(system: mb.System) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the best time of each call [s], and its ratio to that of the fastest."""
    calls = _calls(system)
    found = {}
    for what in (JOINTS, *ALGORITHMS):
        titles = [title for algorithm, title in calls if algorithm == what]
        timings = interleaved({title: calls[what, title] for title in titles})
        fastest = min(titles, key=timings.median)
        for title in titles:
            found[what, title] = timings.best(title), timings.ratio(title, fastest)
    return found


# --------------------------------------------------------------------------------------- tables


def operations() -> list[Table]:
    """Return a table for each kind of tree."""
    counts = uncompiled_json("benchmarks.operations")
    return [_table(tree, counts) for tree in TREES]


def _table(tree: Tree, counts: dict[str, dict[str, float]]) -> Table:
    small, large = TIMED
    times = {count: _times(tree.system(count)) for count in TIMED}
    rows = []
    for (what, title), (best, ratio) in times[small].items():
        number = counts[f"{tree.title}/{what}/{title}"]
        later, later_ratio = times[large][what, title]
        cells = [
            f"{number['multiplications']:.0f}",
            f"{number['additions']:.0f}",
            f"{number['divisions'] + number['roots']:.3g}",
            f"{number['angles']:.3g}",
            f"{1e9 * later / large:.1f} ns",
            f"{later_ratio:.2f}" if title else "",
        ]
        rows.append(
            Row(
                f"{what}, {title}" if title else what,
                mbkit=best / small,
                value=ratio if title else None,
                bar=SLOWEST if what == "forward dynamics" else None,
                extra=cells,
            )
        )
    heads = ["products", "sums", "quotients", "sin, cos", f"time at {large}", "to the fastest"]
    return Table(
        f"Operations and time by body: {tree.title} (time and ratio at {small} bodies last)",
        rows,
        extra=heads,
    )


if __name__ == "__main__":
    print(json.dumps(count_operations()))
