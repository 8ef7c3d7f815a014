"""A new class of a family is one file, and one line in the family's list: all else follows."""

from __future__ import annotations

import importlib
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mbkit as mb
from mbkit.catalogue import file_name
from mbkit.constraints import CONSTRAINT_TYPES
from mbkit.forces import FORCE_TYPES
from mbkit.integrators import INTEGRATORS
from mbkit.joints import JOINT_TYPES, LOCAL_COORDINATES, ORIENTATIONS, LocalCoordinates, Orientation
from mbkit.parts import BODY_TYPES
from mbkit.plugins import registry
from mbkit.representations import REPRESENTATIONS
from tests.project.new_classes import NEW_CLASSES

FAMILIES = (
    "constraints", "forces", "integrators", "joints", "parts", "representations", "solvers",
)  # fmt: skip

#: Contracts, with the table by name that follows from the list, and the kind in the registry.
TABLES = [
    (mb.Body, BODY_TYPES, "body"),
    (mb.Joint, JOINT_TYPES, "joint"),
    (mb.Force, FORCE_TYPES, "force"),
    (mb.Constraint, CONSTRAINT_TYPES, "constraint"),
    (mb.Integrator, INTEGRATORS, "integrator"),
    (mb.Representation, {name: type(each) for name, each in REPRESENTATIONS.items()}, None),
    (Orientation, ORIENTATIONS, None),
    (LocalCoordinates, LOCAL_COORDINATES, None),
]


def listed(family):
    """What the list of a family has, by the names in it."""
    names = vars(importlib.import_module(f"mbkit.{family}.built_in"))
    return {name: each for name, each in names.items() if not name.startswith("_")}


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_listed_is_public_under_its_own_name(family):
    package = importlib.import_module(f"mbkit.{family}")
    for name, each in listed(family).items():
        assert name == each.__name__
        assert getattr(mb, name) is each
        assert getattr(package, name) is each


@pytest.mark.parametrize(("contract", "table", "kind"), TABLES)
def test_every_listed_class_is_in_the_tables(contract, table, kind):
    """And no other one: classes of a contract that stand in a package are all in its list."""
    classes = {
        each
        for family in FAMILIES
        for each in listed(family).values()
        if inspect.isclass(each) and issubclass(each, contract)
    }
    assert set(table.values()) == classes
    assert table == {file_name(each, contract): each for each in table.values()}
    if kind is not None:
        assert registry().known(kind).items() >= table.items()


@pytest.mark.long
@pytest.mark.parametrize("new", NEW_CLASSES, ids=lambda new: new.family)
def test_a_new_class_is_one_file_and_one_line(new, tmp_path):
    """It is public, files and studies know its name, and it works as the others do."""
    package = tmp_path / "mbkit"
    here = Path(mb.__file__).parent
    shutil.copytree(here, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / new.family / f"{new.module}.py").write_text(new.text, encoding="utf-8")
    with (package / new.family / "built_in.py").open("a", encoding="utf-8") as file:
        file.write(new.line)
    done = subprocess.run(
        [sys.executable, "-c", f"import mbkit as mb\n{new.checks}\nprint(mb.__file__)"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(package / "__init__.py")
