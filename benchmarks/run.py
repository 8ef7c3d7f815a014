"""Measure mbkit against Pinocchio, MuJoCo and Exudyn.

    python benchmarks/run.py                  everything, some minutes
    python benchmarks/run.py dynamics large   only these parts
    python benchmarks/run.py --small          everything in the least size: whether it works

Prints tables in markdown, with what each number must not exceed, and writes them with the machine
to results/benchmarks.md and results/benchmarks.json; `orders` also writes the tables of
docs/orders.md, and `work` the plot of docs/work-precision.md. Nothing else should be running
meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import attrs

Parts = dict[str, Callable[[], list[Any]]]


def parts() -> Parts:
    """Return what is measured, by name; sizes are chosen when it is imported."""
    from benchmarks.absolute import absolute_coordinates
    from benchmarks.batches import batches
    from benchmarks.closed_loops import closed_loops
    from benchmarks.constrained_runs import constrained_runs
    from benchmarks.constraints import constraints
    from benchmarks.custom_joints import custom_joints
    from benchmarks.derivatives import derivatives
    from benchmarks.dynamics import against_pinocchio, large_trees
    from benchmarks.ensembles import ensembles
    from benchmarks.forces import forces
    from benchmarks.gradients import gradients
    from benchmarks.hanging import hanging_loops
    from benchmarks.inverse_kinematics import inverse_kinematics
    from benchmarks.joints import joints
    from benchmarks.operations import operations
    from benchmarks.orders import PAGE as ORDERS
    from benchmarks.orders import orders
    from benchmarks.precision import precision
    from benchmarks.report import written
    from benchmarks.simulations import against_mujoco
    from benchmarks.starting import starting
    from benchmarks.work_precision import PAGE as SCRATCH
    from benchmarks.work_precision import work_precision

    return {
        "dynamics": against_pinocchio,
        "derivatives": lambda: [derivatives()],
        "large": lambda: [large_trees()],
        "batches": batches,
        "constraints": constraints,
        "absolute": absolute_coordinates,
        "hanging": hanging_loops,
        "operations": operations,
        "joints": lambda: [*joints(), custom_joints()],
        "precision": lambda: [precision()],
        "simulation": lambda: [against_mujoco()],
        "ensembles": ensembles,
        "gradients": lambda: [gradients()],
        "forces": forces,
        "loops": closed_loops,
        "orders": lambda: written(orders(), ORDERS),
        "constrained": constrained_runs,
        "work": lambda: written(work_precision(), SCRATCH),
        "inverse": lambda: [inverse_kinematics()],
        "starting": lambda: [starting()],
    }


def main() -> None:
    """Measure, print and write."""
    if "--small" in sys.argv:
        os.environ["MBKIT_BENCHMARKS_SMALL"] = "1"
    known = parts()
    from benchmarks.report import machine

    parser = argparse.ArgumentParser(description="Measure mbkit against other programs.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(known)}")
    parser.add_argument("--small", action="store_true", help="whether it works, not how fast")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("results"))
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(known)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(known)}")

    about = machine()
    texts = ["Measured on " + ", ".join(f"{key} {value}" for key, value in about.items()) + "."]
    print(texts[0] + "\n")
    tables = []
    for part in arguments.parts or known:
        for table in known[part]():
            tables.append(table)
            texts.append(table.markdown())
            print(texts[-1] + "\n", flush=True)
    missed = [
        f"{row.what} ({table.title})" for table in tables for row in table.rows if row.met is False
    ]
    texts.append("All bars are met." if not missed else "Missed: " + "; ".join(missed) + ".")
    print(texts[-1])

    if arguments.small:
        return
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "benchmarks.md").write_text("\n\n".join(texts) + "\n")
    document = {"machine": about, "tables": [attrs.asdict(table) for table in tables]}
    (arguments.output / "benchmarks.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
