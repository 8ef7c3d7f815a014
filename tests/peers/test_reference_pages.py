"""Pages of the reference, which Sphinx makes of docstrings."""

from __future__ import annotations

import inspect
import re

from click.testing import CliRunner

import mbkit as mb
from mbkit.cli.built_in import mbkit_commands
from mbkit.cli.main import main
from tools.pages import commands, contents, reference

#: An entry, and not the table of names.
ENTRY = re.compile(r"\.\. (?:auto(?!summary)\w+|py:data):: (.*)")


def test_every_public_name_has_an_entry():
    """By subject, each once, and in the text of its page."""
    found = reference.public_names()
    listed = [name for names in found.values() for name in names]
    assert len(listed) == len({*listed})
    public = {
        f"mbkit.{name}" for name in dir(mb)
        if not (name.startswith("_") or inspect.ismodule(getattr(mb, name)))
    }  # fmt: skip
    assert public <= {*listed}
    assert {"mbkit.testing.check_joint", "mbkit.spatial.rotation"} <= {*listed}
    pages = [reference.page(subject, names) for subject, names in found.items()]
    entries = [each for page in pages for each in ENTRY.findall(page)]
    assert sorted(entries) == sorted(listed)


def test_contents_are_the_headings_and_links_of_a_page():
    text = "[a](a.md#x)\n## One\n[b](b.md), [elsewhere](https://x.org/y.md), [a](a.md)\n## Two\n"
    assert contents.sections(text) == [("", ["a"]), ("One", ["b"])]


def test_the_page_of_the_command_line_is_what_the_commands_print(monkeypatch, tmp_path):
    """Each command has a section, and in it each line of its help."""
    monkeypatch.chdir(tmp_path)  # no project, whose plugin may add commands
    texts = commands.help_texts()
    assert [*texts] == ["mbkit", *(f"mbkit {name}" for name in mbkit_commands())]
    page = commands.page(texts)
    for command, text in texts.items():
        _, *name = command.split()
        printed = CliRunner(env={"COLUMNS": "80"}).invoke(main, [*name, "--help"]).output
        if name:
            assert printed == f"{text}\n"
        else:  # commands of plugins that are installed here come last, perhaps with long names
            assert printed.split()[: len(text.split())] == text.split()
        section = page.partition(f"\n{command}\n{'-' * len(command)}\n")[2]
        shown = "".join(f"   {line}".rstrip() + "\n" for line in text.splitlines())
        assert section.startswith(f"\n.. code-block:: text\n\n{shown}")
