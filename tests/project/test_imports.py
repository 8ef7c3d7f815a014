"""Imports inside functions: a heavy library stands behind each, or it serves for convenience."""

from __future__ import annotations

import ast
import fnmatch
import functools
import tomllib

import pytest

from tests.project.conftest import ROOT
from tests.project.test_public_names import HEAVY

#: Libraries that take a tenth of a second of a start, or that an installation may not have.
LIBRARIES = {
    *HEAVY, "cattrs", "cloudpickle", "distributed", "mujoco", "multiprocessing", "openpyxl", "PIL",
    "pluggy", "pythonfmu", "subprocess",
}  # fmt: skip


@pytest.mark.long
def test_imports_inside_functions_have_a_reason(modules):
    """Commands apart, which import the library when they run."""
    found = set()
    for path in modules:
        own = _name(path)
        if own.startswith("mbkit.cli."):
            continue
        for imported in _inside_functions(path):
            heavy = _libraries(imported) - _libraries(own)
            if not (heavy or _for_convenience(own, imported)):
                found.add((own, imported))
    assert not found


@pytest.mark.long
def test_methods_for_convenience_are_still_there(modules):
    """What the layers list is imported inside a function: no list outlives it."""
    inside = {(_name(path), each) for path in modules for each in _inside_functions(path)}
    for pattern in _ignored():
        assert any(_matches(*each, pattern) for each in inside), pattern


@functools.cache
def _ignored():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = "Packages import downwards only"
    (found,) = (each for each in contracts["contracts"] if each["name"] == layers)
    return tuple(tuple(each.split(" -> ")) for each in found["ignore_imports"])


def _for_convenience(own, imported):
    return any(_matches(own, imported, pattern) for pattern in _ignored())


def _matches(own, imported, pattern):
    importer, target = pattern
    return own == importer and fnmatch.fnmatch(f"{imported}.", target.removesuffix(".*") + ".*")


def _name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _path(module):
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _imported(node):
    """Return what a statement imports; a module that is imported from its package by its name."""
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    whole = [f"{node.module}.{each.name}" for each in node.names]
    parts = [each for each in whole if each.startswith("mbkit.") and _path(each).exists()]
    return parts if len(parts) == len(whole) else [node.module, *parts]


@functools.cache
def _imports(path):
    """Return what a module imports when it is imported itself, and what its functions import."""
    at_the_top, inside = set(), set()
    todo = [(each, at_the_top) for each in ast.parse(path.read_text(encoding="utf-8")).body]
    while todo:
        node, found = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {*_imported(node)}
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            todo += ((each, found) for each in node.orelse)
        else:
            found = inside if isinstance(node, ast.FunctionDef) else found
            parts = ("body", "orelse", "finalbody", "handlers", "cases")
            todo += ((each, found) for part in parts for each in _statements(node, part))
    return at_the_top, inside


def _statements(node, part):
    found = getattr(node, part, ())
    return found if isinstance(found, list) else ()  # an expression's part is no list


def _inside_functions(path):
    return {name for name in _imports(path)[1] if name.startswith("mbkit.")}


def _at_the_top(module):
    path = _path(module)
    return _imports(path)[0] if path.exists() else set()


@functools.cache
def _libraries(module):
    """Return the libraries that are imported with a module and all that it imports."""
    seen, todo = set(), [module]
    while todo:
        name = todo.pop()
        if name not in seen and name.partition(".")[0] == "mbkit":
            parts = name.split(".")
            packages = [".".join(parts[:k]) for k in range(1, len(parts))]
            todo += [*_at_the_top(name), *packages]
        seen.add(name)
    return {name.partition(".")[0] for name in seen} & LIBRARIES
