"""Notebooks are their pages, and run from top to bottom."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def test_there_is_one():
    assert NOTEBOOKS


@each_notebook
def test_it_is_its_page(path):
    """After an edit of the page: python tools/notebook.py PAGE."""
    spec = importlib.util.spec_from_file_location("notebook", ROOT / "tools" / "notebook.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert path.read_text() == tool.notebook(path.with_suffix(".md").read_text())


def test_a_joint_is_written_checked_and_simulated_in_fewer_than_15_lines():
    """Blank lines apart; all that is needed to run stands in the first three cells of code."""
    content = json.loads((ROOT / "docs" / "tutorials" / "custom-joint.ipynb").read_text())
    code = ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]
    start = "\n".join(code[:3])
    assert all(word in start for word in ("class RailJoint", "check_joint", "simulate"))
    assert len([line for line in start.splitlines() if line.strip()]) < 15


@pytest.mark.long
@each_notebook
def test_its_cells_run_in_order(path, tmp_path):
    """In a process of their own, in an empty folder; no outputs of anybody are in it.

    The code of its page is run by `make test`, where what it compiles can be kept.
    """
    content = json.loads(path.read_text())
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 3
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    code = "\n\n".join("".join(cell["source"]) for cell in cells)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, check=False,
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
