"""Benchmarks run in their least size: whether they work, not how fast they are."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]

#: Scripts that are run for themselves.
ALONE = ("kills", "long_runs")

#: All parts of `run.py`, in processes that take seconds in their least size.
PARTS = (
    (
        "starting",
        "dynamics",
        "derivatives",
        "large",
        "batches",
        "joints",
        "simulation",
        "ensembles",
    ),
    ("inverse", "gradients", "constraints", "absolute", "hanging", "precision", "forces"),
    ("loops", "constrained", "work"),
    ("operations",),
    ("orders",),
)

pytestmark = pytest.mark.compiled


def run(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"MBKIT_BENCHMARKS_SMALL": "1", "PYTHONPATH": str(ROOT)} | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("script", ALONE)
def test_scripts(script):
    """Each says something in the end."""
    assert run(f"benchmarks/{script}.py")


@pytest.mark.slow
@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: parts[0])
def test_parts(parts):
    """Each gives a table."""
    assert run("benchmarks/run.py", "--small", *parts).count("\n\n**") >= len(parts)


def test_all_parts_are_run():
    code = "from benchmarks import run; print(*run.parts())"
    names = run("-c", code).splitlines()[-1].split()
    assert sorted(names) == sorted(part for parts in PARTS for part in parts)


@pytest.mark.slow
def test_operations_are_counted():
    """By the kernels as Python, on numbers that count."""
    counts = json.loads(run("-m", "benchmarks.operations", NUMBA_DISABLE_JIT="1"))
    on_axes = counts["chain of revolute joints, frames on the joints' axes/kinematics/body-fixed"]
    assert (on_axes["multiplications"], on_axes["additions"]) == (111.0, 84.0)


def test_every_script_is_reached():
    """By `run.py`, or by itself; what `run.py` imports is there."""
    code = (
        "import sys; from benchmarks import forward_kinematics, run; run.parts();"
        "print(*(n for n in sys.modules if n.startswith('benchmarks.')))"
    )
    reached = {name.removeprefix("benchmarks.") for name in run("-c", code).split()}
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert scripts - reached <= {*ALONE, "sweep_kills"}  # tests/studies/test_sweep.py
