"""Absolute coordinates: how the cost of a step grows, what it is beside relative ones, and hubs.

    python benchmarks/absolute.py chain 100 300 1000      one family at these sizes
    python benchmarks/absolute.py chain --method alpha     by an implicit method
    python benchmarks/absolute.py                          all, with the sizes of the tables

Every body is on a joint of its own to the world, and every joint of the mechanism closes a loop.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import mbkit as mb
from benchmarks.compared_models import RODS, bridge
from benchmarks.report import Row, Table
from benchmarks.timing import SMALL, sized
from mbkit.spatial import rotation, translation

#: Sizes, the slope in log-log that is not to be exceeded, and memory of a fresh process. [bytes]
BODIES = sized((100, 300, 1000, 3000, 10000), (5, 10))
LOOPS = sized((10, 30, 100, 300, 1000), (3, 5))
SLOPE = 1.1
MEMORY = 4 * 2**30

#: Most of the time of a step in relative coordinates that one in absolute ones may take.
TIMES_RELATIVE = 3.0

#: How often a step is measured.
ROUNDS = sized(5, 1)
STEP = 1e-3

#: Gravity, not quite downwards: what hangs does not rest.
_DOWN = (2.0, 0.0, -9.81)


# ------------------------------------------------------------------------------- mechanisms


def hanging_chain(count: int) -> mb.Mechanism:
    """Return a chain of bars that hang on hinges of random axes, the first on the world."""
    rng = np.random.default_rng(count)
    mech = mb.Mechanism(f"hanging chain of {count}", gravity=_DOWN)
    bar = mb.SpatialInertia.box(1.0, size=(0.05, 0.05, 0.2))
    before = "world"
    for k in range(count):
        mech.add_body(mb.Body(f"bar{k}", bar, translation((0, 0, -0.2 * k - 0.1))))
        axis = rng.normal(size=3) * (1.0, 1.0, 0.3)
        hinge = mb.RevoluteJoint(f"hinge{k}", axis=axis, point=(0, 0, -0.2 * k))
        mech.add_joint(hinge, before, f"bar{k}")
        before = f"bar{k}"
    return mech


def _hinge(mech: mb.Mechanism, name: str, x: float, z: float, before: str, after: str) -> None:
    mech.add_joint(mb.RevoluteJoint(name, axis=(0, 1, 0), point=(x, 0, z)), before, after)


def row_of_four_bars(windows: int) -> mb.Mechanism:
    """Return four-bar linkages side by side on the ground; three rows of each are redundant."""
    mech = mb.Mechanism(f"row of {windows} four-bars", gravity=_DOWN)
    bar = mb.SpatialInertia.box(1.0, size=(1.0, 0.05, 0.05))
    upright = rotation((0, 1, 0), np.pi / 2)
    for k in range(windows + 1):
        mech.add_body(mb.Body(f"rod{k}", bar, translation((k, 0, 0.5)) @ upright))
        _hinge(mech, f"ground{k}", k, 0, "world", f"rod{k}")
        if k > 0:
            mech.add_body(mb.Body(f"bar{k}", bar, translation((k - 0.5, 0, 1))))
            _hinge(mech, f"left{k}", k - 1, 1, f"rod{k - 1}", f"bar{k}")
            _hinge(mech, f"right{k}", k, 1, f"bar{k}", f"rod{k}")
    return mech


def hanging_ladder(windows: int) -> mb.Mechanism:
    """Return four-bar linkages below each other, each hinged to the lowest bar of the one above."""
    mech = mb.Mechanism(f"hanging ladder of {windows}", gravity=_DOWN)
    bar = mb.SpatialInertia.box(1.0, size=(1.0, 0.05, 0.05))
    upright = rotation((0, 1, 0), np.pi / 2)
    above = "world"
    for k in range(windows):
        for side, x in (("left", 0), ("right", 1)):
            mech.add_body(mb.Body(f"{side}{k}", bar, translation((x, 0, -k - 0.5)) @ upright))
        mech.add_body(mb.Body(f"rung{k}", bar, translation((0.5, 0, -k - 1))))
        for side, x in (("left", 0), ("right", 1)):
            _hinge(mech, f"top {side}{k}", x, -k, above, f"{side}{k}")
            _hinge(mech, f"foot {side}{k}", x, -k - 1, f"{side}{k}", f"rung{k}")
        above = f"rung{k}"
    return mech


def wheel(spokes: int, *, axle: bool = True) -> mb.Mechanism:
    """Return a hub on an axle, or free, with as many spokes hinged to it."""
    mech = mb.Mechanism(f"wheel of {spokes} spokes", gravity=_DOWN)
    mech.add_body(mb.Body("hub", mb.SpatialInertia.cylinder(5.0, radius=0.5, length=0.2)))
    held = mb.RevoluteJoint("axle", axis=(0.1, 0.2, 1.0)) if axle else mb.FreeJoint("flight")
    mech.add_joint(held, "world", "hub")
    spoke = mb.SpatialInertia.box(1.0, size=(1.0, 0.05, 0.03))
    for k in range(spokes):
        turn = rotation((0, 0, 1), 2 * np.pi * k / spokes)
        mech.add_body(mb.Body(f"spoke{k}", spoke, turn @ translation((1.0, 0, 0))))
        axis = turn[:3, :3] @ (0.0, 1.0, 0.3)
        root = mb.RevoluteJoint(f"root{k}", axis=axis, point=0.5 * turn[:3, 0])
        mech.add_joint(root, "hub", f"spoke{k}")
    return mech


def rimmed_wheel(spokes: int) -> mb.Mechanism:
    """Return a hub on an axle, spokes hinged to it, and bars between their ends but for one."""
    mech = mb.Mechanism(f"wheel of {spokes} spokes with a rim", gravity=_DOWN)
    mech.add_body(mb.Body("hub", mb.SpatialInertia.cylinder(5.0, radius=0.5, length=0.2)))
    mech.add_joint(mb.RevoluteJoint("axle", axis=(0, 1, 0)), "world", "hub")
    bar = mb.SpatialInertia.box(1.0, size=(1.0, 0.05, 0.03))
    turns = [rotation((0, 1, 0), 2 * np.pi * k / spokes) for k in range(spokes)]
    for k, turn in enumerate(turns):
        mech.add_body(mb.Body(f"spoke{k}", bar, turn @ translation((1.0, 0, 0))))
        root, end = 0.5 * turn[:3, 0], 1.5 * turn[:3, 0]
        _hinge(mech, f"root{k}", root[0], root[2], "hub", f"spoke{k}")
        if k > 0:
            before = 1.5 * turns[k - 1][:3, 0]
            mech.add_body(mb.Body(f"rim{k}", bar, translation((before + end) / 2)))
            _hinge(mech, f"left{k}", before[0], before[2], f"spoke{k - 1}", f"rim{k}")
            _hinge(mech, f"right{k}", end[0], end[2], f"rim{k}", f"spoke{k}")
    return mech


def absolute(mech: mb.Mechanism) -> mb.System:
    """Return a mechanism in absolute coordinates."""
    return mech.assemble(mb.AbsoluteCoordinates())


# ---------------------------------------------------------------------------------- measuring

#: By name: what is made, its sizes, and whether their slope has a bar.
FAMILIES: Mapping[str, tuple[Callable[[int], mb.Mechanism], Sequence[int]]] = {
    "chain": (hanging_chain, BODIES),
    "four-bars": (row_of_four_bars, LOOPS),
    "ladder": (hanging_ladder, LOOPS),
    "wheel": (wheel, LOOPS),
}


#: By name: what takes the steps, and in words.
METHODS: Mapping[str, mb.Integrator] = {
    "rkmk4": mb.RungeKuttaMuntheKaas(),
    "alpha": mb.GeneralizedAlpha(),
    "alpha3": mb.GeneralizedAlpha(formulation="index3"),
    "bliedf": mb.BLieDF(2),
}
WORDS = {
    "rkmk4": "RKMK4 with projection",
    "alpha": "the generalized-alpha method, stabilised",
    "alpha3": "the generalized-alpha method in index 3",
    "bliedf": "BLieDF of two steps, stabilised",
}


def times_of_steps(
    systems: Mapping[str, mb.System], h: float, rounds: int = ROUNDS, method: str = "rkmk4"
) -> Any:
    """Return what a step takes of the processor, {name: (rounds,)}. [s].

    The difference of two runs, so that what happens once does not count; in turn, so that whatever
    slows the machine down slows all down. Implicit methods keep their matrix for up to 50 steps.
    """
    found: dict[str, list[float]] = {name: [] for name in systems}
    least, most = (4, 4000) if method == "rkmk4" else (50, 8000)
    counts = {name: max(least, most // len(each.body_names)) for name, each in systems.items()}
    for system in systems.values():
        _processor_time(system, h, 3, method)
    for _ in range(rounds):
        for name, system in systems.items():
            few = _processor_time(system, h, 3, method)
            many = _processor_time(system, h, 3 + counts[name], method)
            found[name].append((many - few) / counts[name])
    return {name: np.array(each) for name, each in found.items()}


def _processor_time(system: mb.System, h: float, steps: int, method: str) -> float:
    began = time.thread_time()
    mb.simulate(
        system, (0.0, h * steps), h, integrator=METHODS[method], save_every=steps, progress=False
    )
    return time.thread_time() - began


def measured(family: str, size: int, method: str = "rkmk4") -> dict[str, float]:
    """Return what one mechanism takes: step [s], assembly [s], memory of the process [bytes]."""
    import resource

    warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
    mech = FAMILIES[family][0](size)
    began = time.perf_counter()
    system = absolute(mech)
    assembled = time.perf_counter() - began
    step = float(np.median(times_of_steps({"": system}, STEP, 3, method)[""]))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rows = system.num_velocity_constraints
    return {"step": step, "assembled": assembled, "memory": memory, "rows": rows}


def growth(family: str, sizes: Sequence[int] | None = None, method: str = "rkmk4") -> Table:
    """Return a table of one family, each size in a process of its own."""
    sizes = FAMILIES[family][1] if sizes is None else sizes
    found = [_in_fresh_process(family, size, method) for size in sizes]
    rows = [
        Row(
            str(size), each["step"], value=each["memory"] / MEMORY, bar=1.0,
            extra=(
                f"{each['rows']:.0f}", f"{each['assembled']:.1f} s",
                f"{each['memory'] / 2**30:.2f} GiB",
            ),
        )
        for size, each in zip(sizes, found, strict=True)
    ]  # fmt: skip
    if len(sizes) > 1:
        steps = [each["step"] for each in found]
        slope = float(np.polyfit(np.log(sizes), np.log(steps), 1)[0])
        extra = ("", "", "")
        rows.append(Row("slope in log-log", value=slope, bar=SLOPE, extra=extra))
    return Table(
        f"Absolute coordinates, {family}: a step of {WORDS[method]}; measured: memory over 4 GiB",
        rows, extra=("rows", "assembled in", "memory"),
    )  # fmt: skip


def _in_fresh_process(family: str, size: int, method: str) -> dict[str, float]:
    if SMALL:
        return measured(family, size, method)
    root = pathlib.Path(__file__).parents[1]
    said = subprocess.run(
        [
            sys.executable, "-m", "benchmarks.absolute", "--one", family, str(size),
            "--method", method,
        ],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(said.stdout.splitlines()[-1])
    return found


def beside_relative(
    bodies: int = RODS, steps: Sequence[float] = (2.5e-3, 5e-4), method: str = "rkmk4"
) -> Table:
    """Return what a step in absolute coordinates costs in those in relative ones."""
    model = bridge(bodies)
    systems = {"relative": model.system, "absolute": absolute(model.mechanism())}
    rows = []
    for h in steps:
        found = times_of_steps(systems, h, method=method)
        ratio = float(np.median(found["absolute"] / found["relative"]))
        rows.append(
            Row(
                f"{model.name}, h = {h:g} s", float(np.median(found["absolute"])),
                float(np.median(found["relative"])), ratio, TIMES_RELATIVE,
            )
        )  # fmt: skip
    return Table(f"A step of {WORDS[method]} in absolute coordinates", rows, peer="relative")


def absolute_coordinates() -> list[Table]:
    """Return all tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        return [
            beside_relative(),
            *(growth(family) for family in FAMILIES),
            beside_relative(steps=(5e-4,), method="alpha"),
            *(
                growth(family, method=method)
                for family in ("chain", "ladder")
                for method in METHODS
                if method != "rkmk4"
            ),
        ]


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description="Measure absolute coordinates.")
    parser.add_argument("family", nargs="?", choices=[*FAMILIES, "bridge"])
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--method", choices=[*METHODS], default="rkmk4")
    parser.add_argument("--one", action="store_true", help="in this process, as JSON")
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.family, arguments.sizes[0], arguments.method)))
    elif arguments.family is None:
        for table in absolute_coordinates():
            print(table.markdown() + "\n", flush=True)
    elif arguments.family == "bridge":
        steps = (2.5e-3, 5e-4) if arguments.method == "rkmk4" else (5e-4,)
        bodies = arguments.sizes[0] if arguments.sizes else RODS
        print(beside_relative(bodies, steps, arguments.method).markdown())
    else:
        found = growth(arguments.family, arguments.sizes or None, arguments.method)
        print(found.markdown())


if __name__ == "__main__":
    main()
