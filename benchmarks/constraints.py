"""Closed mechanisms: how the time of one evaluation grows with their size.

    python benchmarks/constraints.py

measures it alone, and how often each strategy for the constraints takes as long as another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mbkit as mb
from benchmarks.report import Row, Table
from benchmarks.timing import interleaved, sized
from mbkit.spatial import rotation, translation

#: Bodies of the chain that is closed at both ends, and windows of the row of four-bars.
CHAIN = sized((100, 300, 1000, 3000, 10000), (5, 10))
WINDOWS = sized((1, 5, 10, 20, 40, 80, 160), (1, 3))
#: Exponent of growth that is not to be exceeded, in log-log.
SLOPE = 1.1
#: Windows for which every strategy is measured.
COMPARED = sized((1, 2, 4, 8, 16), (2,))

STRATEGIES: dict[str, mb.ConstraintSolver] = {
    "Schur complement": mb.SchurComplement(),
    "minimum norm": mb.MinimumNorm(),
    "null space": mb.NullSpace(),
}


def closed_chain(count: int) -> mb.Mechanism:
    """Return a chain of rods on a circle that stands upright, hinged to the world at both ends."""
    mech = mb.Mechanism(f"closed chain of {count}")
    angles = 2.0 * np.pi * np.arange(count + 1) / (count + 1)
    points = np.c_[np.cos(angles), np.zeros(count + 1), np.sin(angles)]
    rod = mb.SpatialInertia.from_com(
        1.0 / count, (0, 0, 0), np.diag([1e-2, 1.0, 1.0]) / (count * float(count) ** 2)
    )
    before = "world"
    for k in range(count):
        middle = (points[k] + points[k + 1]) / 2.0
        body = mech.add_body(mb.Body(f"rod{k}", rod, translation(middle)))
        mech.add_joint(mb.RevoluteJoint(f"hinge{k}", (0, 1, 0), points[k]), before, body.name)
        before = body.name
    mech.add_joint(mb.RevoluteJoint("last", (0, 1, 0), points[count]), before, "world")
    return mech


def four_bars(windows: int) -> mb.Mechanism:
    """Return a row of four-bar linkages, all rods a metre long: benchmark A02 of IFToMM."""
    mech = mb.Mechanism(f"{windows}-four-bar", gravity=(0.0, -9.81, 0.0))
    rod = mb.SpatialInertia.from_com(1.0, (0, 0, 0), np.diag([0.0, 1.0, 1.0]) / 12.0)
    upright = rotation((0, 0, 1), np.pi / 2)

    def hinge(name: str, x: float, y: float, before: str, after: str) -> None:
        mech.add_joint(mb.RevoluteJoint(name, (0, 0, 1), (x, y, 0)), before, after)

    for k in range(windows + 1):
        mech.add_body(mb.Body(f"rod{k}", rod, translation((k, 0.5, 0)) @ upright))
        hinge(f"ground{k}", k, 0, "world", f"rod{k}")
        if k > 0:
            mech.add_body(mb.Body(f"bar{k}", rod, translation((k - 0.5, 1, 0))))
            hinge(f"left{k}", k - 1, 1, f"rod{k - 1}", f"bar{k}")
            hinge(f"right{k}", k, 1, f"bar{k}", f"rod{k}")
    return mech


def evaluation(system: mb.System) -> Callable[[], Any]:
    """Return a call of forward dynamics at rest, where the mechanism was assembled."""
    q, v = system.reference_configuration(), np.zeros(system.nv)
    out = np.empty(system.nv)
    return lambda: system.forward_dynamics(q, v, out=out)


def growth(title: str, make: Callable[[int], mb.Mechanism], sizes: Sequence[int]) -> Table:
    """Return times by size, and the slope of their logarithms."""
    times, rows = [], []
    for size in sizes:
        started = time.perf_counter()
        system = make(size).assemble()
        assembled = time.perf_counter() - started
        best = interleaved({"": evaluation(system)}, seconds=1e-3).best("")
        times.append(best)
        rows.append(Row(str(size), best, extra=(f"{assembled:.2f} s",)))
    slope = float(np.polyfit(np.log(sizes[-4:]), np.log(times[-4:]), 1)[0])
    rows.append(Row("slope of the last four in log-log", value=slope, bar=SLOPE, extra=("",)))
    return Table(title, rows, extra=("assembled in",))


def strategies(windows: Sequence[int] = COMPARED) -> Table:
    """Return the times of one evaluation with each strategy."""
    rows = []
    for count in windows:
        system = four_bars(count).assemble()
        calls = {
            name: evaluation(system.with_constraint_solver(solver))
            for name, solver in STRATEGIES.items()
        }
        found = interleaved(calls, seconds=1e-3)
        m = system.num_velocity_constraints
        rows += [
            Row(f"{count} windows, nv = {system.nv}, {m} rows: {name}", found.best(name))
            for name in calls
        ]
    return Table("Rows of four-bars, one evaluation by strategy", rows)


def constraints() -> list[Table]:
    """Return all tables."""
    return [
        growth("Forward dynamics of a chain closed at both ends, bodies", closed_chain, CHAIN),
        growth("Forward dynamics of a row of four-bars, windows", four_bars, WINDOWS),
        strategies(),
    ]


if __name__ == "__main__":
    for table in constraints():
        print(table.markdown() + "\n")
