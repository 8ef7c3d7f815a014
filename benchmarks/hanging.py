"""Loops that hang on loops, in relative coordinates: how the cost of a step grows.

    python benchmarks/hanging.py

Beside absolute coordinates, and beside the same with all loops closed at once.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np

import mbkit as mb
from benchmarks.absolute import STEP, absolute, hanging_ladder, rimmed_wheel, times_of_steps
from benchmarks.report import Row, Table
from benchmarks.timing import sized
from mbkit.sparsity import patterns

#: Sizes; up to which of them the others are measured too; the slope in log-log that is not to be
#: exceeded, the most of the time in absolute coordinates, and the longest assembly. [s]
WINDOWS = sized((50, 100, 200, 500, 1000), (3, 6))
COMPARED = sized(100, 3)
SLOPE = 1.1
TIMES_ABSOLUTE = 1.5
ASSEMBLED = 5.0

FAMILIES: Mapping[str, Callable[[int], mb.Mechanism]] = {
    "ladder": hanging_ladder,
    "rim": rimmed_wheel,
}


def all_at_once(mech: mb.Mechanism) -> mb.System:
    """Return a mechanism in relative coordinates whose loops are not closed at their bases."""
    own = patterns.nested_pattern
    patterns.nested_pattern = lambda *_: None
    try:
        return mech.assemble()
    finally:
        patterns.nested_pattern = own


def growth(family: str, sizes: Sequence[int] = WINDOWS) -> Table:
    """Return a table of one family."""
    make = FAMILIES[family]
    rows, steps = [], []
    for size in sizes:
        mech = make(size)
        began = time.perf_counter()
        systems = {"": mech.assemble()}
        assembled = time.perf_counter() - began
        if size <= COMPARED:
            systems |= {"absolute": absolute(mech), "at once": all_at_once(mech)}
        found = {name: float(np.median(x)) for name, x in times_of_steps(systems, STEP).items()}
        steps.append(found[""])
        compared = size == COMPARED
        rows.append(
            Row(
                str(size), found[""], found.get("absolute"),
                found[""] / found["absolute"] if compared else None,
                TIMES_ABSOLUTE if compared else None,
                extra=(
                    f"{found['at once'] * 1e3:.2f} ms" if "at once" in found else "",
                    f"{assembled:.1f} s",
                ),
            )
        )  # fmt: skip
        if size == max(sizes):
            rows.append(
                Row("assembling it", value=assembled, bar=ASSEMBLED, unit="s", extra=("", ""))
            )
    slope = float(np.polyfit(np.log(sizes), np.log(steps), 1)[0])
    rows.append(Row("slope in log-log", value=slope, bar=SLOPE, extra=("", "")))
    return Table(
        f"Relative coordinates, {family}: a step of RKMK4 with projection", rows,
        peer="absolute", extra=("all at once", "assembled in"),
    )  # fmt: skip


def hanging_loops() -> list[Table]:
    """Return all tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mb.RedundantConstraintsWarning)
        return [growth(family) for family in FAMILIES]


if __name__ == "__main__":
    for table in hanging_loops():
        print(table.markdown() + "\n", flush=True)
