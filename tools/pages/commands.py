"""A page of the command line, from what `mbkit COMMAND --help` prints."""

from __future__ import annotations

import pathlib

import click
from sphinx.application import Sphinx
from sphinx.config import Config

from mbkit.cli.built_in import mbkit_commands
from mbkit.cli.main import main

#: The page, from the root of the project.
PAGE = pathlib.Path("build", "reference", "command-line.rst")

#: Columns of a line, as click prints them where it finds no terminal.
WIDTH = 80

ABOUT = """\
Command line
============

What ``mbkit --help`` and ``mbkit COMMAND --help`` print. Plugins may add commands, which
``mbkit --help`` lists after these.
"""


class OwnCommands(click.Group):
    """The commands of mbkit alone, in its order; installed plugins are another matter."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(self.commands)


def help_texts() -> dict[str, str]:
    """Return what ``--help`` prints, by command: "mbkit", "mbkit info" and so on."""
    group = OwnCommands("mbkit", commands=dict(mbkit_commands()), params=main.params)
    group.help, group.context_settings = main.help, main.context_settings
    top = _context(group, "mbkit", None)
    found = {"mbkit": group.get_help(top)}
    for name, command in group.commands.items():
        found[f"mbkit {name}"] = command.get_help(_context(command, name, top))
    return found


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return command.make_context(
        name, [], parent, resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH
    )


def page(texts: dict[str, str]) -> str:
    """Return the page in reStructuredText: a section a command, with its help as it is printed.

    Parameters
    ----------
    texts
        Help by command, of `help_texts`.
    """
    parts = [ABOUT]
    for title, text in texts.items():
        lines = [f"   {line}".rstrip() for line in text.splitlines()]
        head = [title, "-" * len(title), "", ".. code-block:: text", ""]
        parts.append("\n".join([*head, *lines, ""]))
    return "\n".join(parts)


def _write(app: Sphinx, config: Config) -> None:
    path, text = pathlib.Path(app.srcdir) / PAGE, page(help_texts())
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before a build looks for its sources."""
    app.connect("config-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
