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


LIFT = '''"""Translation along an axis, one for the other way round."""

from typing import final

import attrs

from mbkit.joints.bases.axis_motion import AxisMotion


@final
@attrs.frozen
class ScissorLiftJoint(AxisMotion):
    """Translation along an axis; q is the way. [m]."""

    rate = 0.0
    lead = 1.0
'''

LINE = "from mbkit.joints.scissor_lift import ScissorLiftJoint as ScissorLiftJoint\n"

USED = """
import mbkit as mb
from mbkit.joints import JOINT_TYPES
from mbkit.plugins import registry

joint = mb.ScissorLiftJoint("lift", axis=(1, 0, 0))
mechanism = mb.Mechanism("table", gravity=(-9.81, 0, 0))
body = mechanism.add_body(mb.Body("top", mb.SpatialInertia.sphere(2.0, radius=0.1)))
mechanism.add_joint(joint, mechanism.world, body)
text = mechanism.to_toml()
assert 'type = "scissor_lift"' in text, text
read = mb.parse_model(text)
assert type(read.joints["lift"].joint) is mb.ScissorLiftJoint
assert read.assemble().forward_dynamics([0.0], [0.0]).round(9) == [-9.81]
assert JOINT_TYPES["scissor_lift"] is registry().find("joint", "scissor_lift")
print(mb.__file__)
"""


@pytest.mark.long
def test_new_joint_is_one_file_and_one_line(tmp_path):
    package = tmp_path / "mbkit"
    here = Path(mb.__file__).parent
    shutil.copytree(here, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "joints" / "scissor_lift.py").write_text(LIFT, encoding="utf-8")
    with (package / "joints" / "built_in.py").open("a", encoding="utf-8") as file:
        file.write(LINE)
    done = subprocess.run(
        [sys.executable, "-c", USED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(package / "__init__.py")
