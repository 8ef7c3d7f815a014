"""The written documentation: its code runs, and its links lead somewhere."""

from __future__ import annotations

import pathlib
import re
import shlex

from click.testing import CliRunner

from mbkit.cli.main import main

CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGE = re.compile(r"\bdocs/[\w/-]+\.md\b")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


COMMAND = re.compile(r"^    mbkit (.+)$", re.MULTILINE)


def test_code_runs(document, tmp_path, monkeypatch):
    """A page runs from top to bottom in an empty folder: its Python, then its commands."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    text = document.read_text()
    for block in CODE.finditer(text):
        # Blank lines before it, so that a traceback has the line numbers of the page.
        source = "\n" * text.count("\n", 0, block.start(1)) + block[1]
        exec(compile(source, str(document), "exec"), namespace)  # noqa: S102 - our own pages
    for command in COMMAND.findall(text):
        done = CliRunner().invoke(main, shlex.split(command))
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
