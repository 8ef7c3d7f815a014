"""The reference of names: every public name stands in it, once."""

from __future__ import annotations

import collections
import importlib
import inspect
import re

import pytest

import mbkit as mb
from tests.project.conftest import ROOT
from tools.pages import reference

#: Modules that users import or reach from `mbkit`; what is in them is public.
PUBLIC_MODULES = (
    "mbkit.conventions", "mbkit.integrators.tableaus", "mbkit.lie", "mbkit.plugins",
    "mbkit.spatial", "mbkit.studies", "mbkit.testing", "mbkit.viz",
)  # fmt: skip


@pytest.fixture(scope="module")
def listed():
    """How often each object of the reference is there, by what a user imports."""
    return collections.Counter(
        name for names in reference.public_names().values() for name in names
    )


def test_every_name_of_mbkit_is_there_once(listed):
    names = [
        f"mbkit.{name}"
        for name in dir(mb)
        if not name.startswith("_") and not inspect.ismodule(getattr(mb, name))
    ]
    assert len(names) > 200
    assert [name for name in names if listed[name] != 1] == []


@pytest.mark.parametrize("module", PUBLIC_MODULES)
def test_every_name_of_a_public_module_is_there_once(module, listed):
    """Under the name in `mbkit` where it has one, under that of the module otherwise."""
    there = importlib.import_module(module)
    wrong = []
    for name in there.__all__:
        same = getattr(mb, name, None) is getattr(there, name)
        count = listed[f"mbkit.{name}"] * same + listed[f"{module}.{name}"]
        if count != 1 and not inspect.ismodule(getattr(there, name)):
            wrong.append((name, count))
    assert not wrong


def test_modules_that_pages_use_are_in_the_reference():
    """What a page of documentation takes from a module, the reference must have."""
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    used = {
        name
        for page in pages
        for name in re.findall(r"\bmb\.([a-z_]+)\.[A-Za-z]", page.read_text(encoding="utf-8"))
        if inspect.ismodule(getattr(mb, name, None))
    }
    modules = {getattr(mb, name).__name__ for name in used}
    assert "mbkit.studies" in modules
    assert modules <= {*PUBLIC_MODULES}


def test_a_page_has_an_entry_for_each_of_its_names():
    names = ["mbkit.Body", "mbkit.simulate", "mbkit.conventions.DRAKE"]
    text = reference.page("Some", names)
    assert [text.count(f":: {name}\n") for name in names] == [1, 1, 1]
