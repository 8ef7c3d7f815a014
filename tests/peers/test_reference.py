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
    "mbkit.conventions", "mbkit.integrators.coefficients.tableaus", "mbkit.lie", "mbkit.plugins",
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


#: An import from a module of mbkit, of names on one line or in parentheses; a name in prose.
IMPORT = re.compile(r"^ *from (mbkit\.[\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
NAMED = re.compile(r"`(mbkit(?:\.\w+)+)[`(]")


def test_names_that_pages_take_from_modules_are_in_the_reference(listed):
    """`from mbkit.x import Y`, in pages and examples, and `mbkit.x.Y` in the text of pages."""
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    pages = [each for each in pages if not each.is_relative_to(ROOT / "docs" / "decisions")]
    pages.remove(ROOT / "docs" / "architecture.md")  # which has a joint that is not there
    used = set()
    for page in [*pages, *(ROOT / "examples").rglob("*.py")]:
        text = page.read_text(encoding="utf-8")
        for module, names in IMPORT.findall(text):
            used |= {f"{module}.{each.split()[0]}" for each in names.strip("() \n").split(",")}
        if page.suffix == ".md":
            used |= {*NAMED.findall(text)}
    assert {"mbkit.forces.ForceKernels", "mbkit.spatial.translation", "mbkit.Modes"} <= used
    assert sorted(name for name in used if not _is_listed(name, listed)) == []


def _is_listed(name, listed):
    """Whether a name of a page is there, perhaps under a shorter one, or is that of a module."""
    module, _, word = name.rpartition(".")
    value = getattr(importlib.import_module(module), word)
    parents = [module.rsplit(".", k)[0] for k in range(module.count(".") + 1)]
    return inspect.ismodule(value) or any(
        listed[f"{each}.{word}"] and getattr(importlib.import_module(each), word, None) is value
        for each in parents
    )


def test_a_page_has_an_entry_for_each_of_its_names():
    names = ["mbkit.Body", "mbkit.simulate", "mbkit.conventions.DRAKE"]
    text = reference.page("Some", names)
    assert [text.count(f":: {name}\n") for name in names] == [1, 1, 1]
