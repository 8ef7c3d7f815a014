"""Rules for every file of the project: sizes, and nothing of one machine."""

from __future__ import annotations

import ast
import functools
import re
import statistics
import tomllib

import pytest

from tests.project.conftest import ROOT

# Put together here, so that this file does not hold what it looks for.
INDEX_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
    )
]
# Modules that may be long, and why.
LONG = {
    "mbkit/systems/system.py": "one class, all of whose methods stand there with their docstrings",
    "mbkit/kernels/compile.py": "the only door to numba; most of it twice, compiled and as Python",
    "mbkit/kernels/lanes.py": "one type of numbers, with all that can be done with them",
}
MACHINE_PATH = re.compile(r"(?<![\w.}/-])/(?:home|root|work|opt|Users|mnt)/\w")


@functools.cache
def _text(path):
    try:
        return path.read_text()
    except UnicodeDecodeError:  # a picture
        return ""


def test_no_file_names_a_package_index(files):
    """The project serves whatever index and mirror pip is set up with."""
    assert not [(str(path), host) for path in files for host in INDEX_HOSTS if host in _text(path)]


def test_no_file_names_a_place_on_one_machine(files):
    found = [path for path in files if path.name != "test_files.py"]
    assert not [str(path) for path in found if MACHINE_PATH.search(_text(path))]


def test_pins_have_hashes_and_no_addresses(files):
    pins = [path for path in files if path.parent.name == "requirements" and path.suffix == ".txt"]
    assert len(pins) == 3
    for path in pins:
        text = path.read_text()
        assert "://" not in text
        requirements = re.split(r"\n(?=[a-z])", text.strip())
        assert [line for line in requirements if "--hash=sha256:" not in line] == []


def test_modules_are_short(modules):
    """What has more than 400 lines holds more than one idea, but for what is named above."""
    long = [each for each in modules if _text(each).count("\n") > 400]
    assert [str(each) for each in long if not each.as_posix().endswith(tuple(LONG))] == []


def test_the_title_of_a_module_names_a_thing(modules):
    """No title asks, so that a list of modules reads like a table of contents."""
    titles = {str(each): _parsed(each)[0] for each in modules}
    questions = ("what", "how", "which", "where", "who", "when", "whether", "why", "whose")
    assert [each for each, title in titles.items() if not title] == []
    assert [each for each, title in titles.items() if title.lower().startswith(questions)] == []


def test_functions_are_short(modules):
    """What has more than 60 lines of code has steps that want names."""
    lengths = {str(each): _parsed(each)[1] for each in modules}
    assert [(k, name) for k, own in lengths.items() for name, n in own.items() if n > 60] == []


def test_most_modules_and_functions_are_short(modules):
    """Half of the modules have at most 150 lines; half of the functions 8, nine in ten 35."""
    assert statistics.median(len(_text(path).splitlines()) for path in modules) <= 150
    lengths = sorted(length for path in modules for length in _parsed(path)[1].values())
    assert lengths[len(lengths) // 2] <= 8
    assert lengths[9 * len(lengths) // 10] <= 35


def test_what_the_layers_let_through_stands_in_functions(modules):
    """So that no circle of packages is made by imports for type checkers."""
    contracts = tomllib.loads(_text(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(each for each in contracts if each["name"] == "Packages import downwards only")
    found = []
    for importer, imported in (each.split(" -> ") for each in layers["ignore_imports"]):
        tree = ast.parse(_text((ROOT / importer.replace(".", "/")).with_suffix(".py")))
        functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
        inside = {part for each in functions for part in ast.walk(each)}
        found += [
            (importer, each.module)
            for each in ast.walk(tree)
            if isinstance(each, ast.ImportFrom) and each not in inside
            and f"{each.module}.".startswith(imported.rstrip("*").rstrip(".") + ".")
        ]  # fmt: skip
    assert not found


@functools.cache
def _parsed(path):
    """Return the docstring of a module, and the lines of code in the body of each function.

    No docstring, comments or blanks are counted.
    """
    text = path.read_text()
    lines, tree = text.splitlines(), ast.parse(text)
    lengths = {}
    for node in _functions(tree):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        code = lines[body[0].lineno - 1 : node.end_lineno] if body else []
        count = sum(1 for line in code if line.strip() and not line.lstrip().startswith("#"))
        lengths[f"{node.name}, line {node.lineno}"] = count
    return ast.get_docstring(tree) or "", lengths


def _functions(node):
    """Yield the functions in a statement; none is in an expression, and most nodes are of these."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield child
            yield from _functions(child)


@pytest.mark.parametrize("mark", ["TO" + "DO", "FIX" + "ME", "XX" + "X"])
def test_nothing_is_marked_unfinished(files, mark):
    """What is left to do stands in an issue."""
    pattern = re.compile(rf"\b{mark}\b")
    found = [path for path in files if mark in _text(path)]  # far faster than the pattern
    assert not [str(path) for path in found if pattern.search(_text(path))]
