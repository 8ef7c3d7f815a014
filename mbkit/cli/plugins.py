"""``mbkit plugins``: what there is beside what comes with mbkit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

    from mbkit.plugins import Plugin


@click.command(short_help="List the plugins that are installed.")
@click.option("--all", "everything", is_flag=True, help="Also what comes with mbkit itself.")
def plugins(everything: bool) -> None:
    """List the plugins there are: version, where each comes from, and what it provides.

    These are the installed ones, and that of the project in the working directory. One that cannot
    be imported, or breaks its contract, is listed with the cause; everything else works without it.

    \b
    Examples:
      mbkit plugins
      mbkit plugins --all
    """
    from rich.console import Console

    from mbkit.cli.group import registry
    from mbkit.plugins.registry import BUILT_IN

    registry().load()
    found = registry().plugins
    if not everything:
        found = tuple(plugin for plugin in found if plugin.origin != BUILT_IN)
    if not found:
        click.echo("No plugins are installed; docs/plugins.md says how to write one.")
        return
    # Into a file or a pipe, lines are as long as they need to be: names must not be cut.
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=200)
    console.print(_table(found))


def _table(found: tuple[Plugin, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from mbkit.errors import printable

    table = Table("plugin", "version", "from", "provides")
    for plugin in found:
        end = f"skipped: {plugin.fault}" if plugin.fault else _provided(plugin.provides)
        style = "yellow" if plugin.fault else ""
        texts = (plugin.name, plugin.version, plugin.origin, end)
        table.add_row(*(Text(printable(text), style=style) for text in texts[:3]), Text(end, style))
    return table


def _provided(provides: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what a plugin provides, a line for each kind."""
    from mbkit.plugins.contracts import KINDS

    return "\n".join(
        f"{KINDS[kind].title}{'s' * (len(things) > 1)}: {', '.join(things)}"
        for kind, things in provides.items()
        if things
    )
