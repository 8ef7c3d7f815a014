"""The written documentation: its code runs, and its links lead somewhere."""

from __future__ import annotations

import pathlib
import re
import shlex
import sys
import tomllib

import attrs
import pytest
from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.main import main

ROOT = pathlib.Path(__file__).parents[2]
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


COMMAND = re.compile(r"^    (mbkit|cd) (.+)$", re.MULTILINE)


@pytest.fixture
def plugins_apart(monkeypatch, registry):
    """Plugins and modules of projects that a page makes end with it."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in MADE:
            del sys.modules[name]


#: Names of the projects that pages make.
MADE = ("cart", "pendulum", "bumpstop")


@pytest.mark.long
@pytest.mark.every_case
@pytest.mark.filterwarnings("error::mbkit.errors.ForceDerivativeWarning")
def test_code_runs(document, tmp_path, monkeypatch, plugins_apart):
    """A page runs from top to bottom in an empty folder, its Python and its commands."""
    run_code(document, tmp_path, monkeypatch)


def run_code(document, tmp_path, monkeypatch):
    """Run a page."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    text = document.read_text()
    found = [*CODE.finditer(text), *COMMAND.finditer(text)]
    for block in sorted(found, key=lambda match: match.start()):
        if block.re is CODE:
            # Blank lines before it, so that a traceback has the line numbers of the page.
            source = "\n" * text.count("\n", 0, block.start(1)) + block[1]
            exec(compile(source, str(document), "exec"), namespace)  # noqa: S102 - our own pages
        elif block[1] == "cd":
            monkeypatch.chdir(block[2])
        else:
            done = CliRunner().invoke(main, shlex.split(block[2]))
            assert done.exit_code == 0, done.output


def test_links_lead_somewhere(document):
    """Links within the project name files that exist, and headings that are in them."""
    broken = []
    for target in LINK.findall(document.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, heading = target.partition("#")
        path = document.parent / file if file else document
        if not path.exists() or (heading and heading not in _anchors(path.read_text())):
            broken.append(target)
    assert not broken


def _anchors(text):
    """Return the names that a browser of the repository gives to the headings of a page."""
    titles = HEADING.findall(text)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_pages_that_the_code_names_exist(modules):
    """A docstring that sends its reader to a page must not send them nowhere."""
    root = pathlib.Path(__file__).parents[2]
    named = {page for path in modules for page in PAGE.findall(path.read_text())}
    assert named
    assert not [page for page in sorted(named) if not (root / page).exists()]


def test_the_page_on_forces_lists_the_arguments_of_all():
    """Every force that comes with mbkit has a row with all of its arguments, and no other."""
    page = (ROOT / "docs" / "forces.md").read_text(encoding="utf-8")
    _, _, rows = page.partition("| Class | Arguments after the name |\n|---|---|\n")
    listed = {}
    for row in rows.partition("\n\n")[0].splitlines():
        name, arguments = re.fullmatch(r"\| `(\w+)` \| (.*) \|", row).groups()
        listed[name] = {*re.findall(r"`([a-z_]+)(?:=[^`]*)?`", arguments)}
    public = [getattr(mb, name) for name in dir(mb)]
    classes = [each for each in public if isinstance(each, type)]
    forces = [each for each in classes if issubclass(each, mb.Force) and attrs.has(each)]
    expected = {each.__name__: {*attrs.fields_dict(each)} - {"name"} for each in forces}
    assert listed == expected


def test_the_first_table_of_architecture_names_files_that_exist():
    """A contributor finds a subject by this table, whatever has moved."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, _, rows = page.partition("| Subject | File |\n|---|---|\n")
    named = re.findall(r"`([a-z_]+/[\w/]*(?:\.py)?)`", rows.partition("\n\n")[0])
    assert len(named) >= 20
    assert not [name for name in named if not (ROOT / "mbkit" / name).exists()]


def test_the_page_on_architecture_names_modules_of_systems_that_exist():
    """Who reads a method of `System` finds the function behind it by this table."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, _, rows = page.partition("| Module of `systems` | Functions |\n|---|---|\n")
    cells = [row.split(" | ")[0] for row in rows.partition("\n\n")[0].splitlines()]
    named = [name for cell in cells for name in re.findall(r"`([\w/]+)`", cell)]
    assert len(named) >= 20
    assert not [name for name in named if not (ROOT / f"mbkit/systems/{name}.py").is_file()]


def test_the_page_on_architecture_has_the_packages_in_the_order_of_their_layers():
    """Which package may import which is read off this order; the linter holds the layers."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if each.get("containers") == ["mbkit"]
    ]
    expected = [name.strip(" ()") for layer in contract["layers"] for name in layer.split("|")]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, _, rows = page.partition("| Package | Contents |\n|---|---|\n")
    listed = re.findall(r"^\| `(\w+)` \|", rows.partition("\n\n")[0], re.MULTILINE)
    assert listed == expected


def test_terms_of_the_glossary_are_in_alphabetical_order():
    """A term is looked up by its place; what stands in brackets behind it does not count."""
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| Term \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    assert len(tables) == 2
    for table in tables:
        terms = [row.strip("| ").partition(" |")[0] for row in table.splitlines()]
        keys = [re.sub(r"[`(].*", "", term).replace("-", " ").strip().lower() for term in terms]
        assert keys == sorted(keys)


def test_the_changelog_moves_modules_to_where_they_are():
    """What a module was moved to has not moved on since."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, _, rows = text.partition("| old module | new module |\n|---|---|\n")
    moved = [row.strip("| ").split(" | ") for row in rows.partition("\n\n")[0].splitlines()]
    assert len(moved) >= 50
    assert not [new for old, new in moved for name in _listed(old, new) if not _exists(name)]


def _listed(old, new):
    """Return the full names of the second cell; `package.`, same names as in the first."""
    package, *names = re.findall(r"`([\w.]+)`", new)
    if not package.endswith("."):
        return [package, *names]
    return [package + name for name in names or re.findall(r"`([\w.]+)`", old)[1:]]


def _exists(name):
    """Return whether it is a module, a package, or something that a module defines."""
    path = ROOT / name.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module = path.parent.with_suffix(".py")
    defined = rf"^(?:def|class) {path.name}\b"
    return module.is_file() and bool(re.search(defined, module.read_text("utf-8"), re.MULTILINE))
