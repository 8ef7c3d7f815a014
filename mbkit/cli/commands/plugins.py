"""``mbkit plugins``: the plugins that extend mbkit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

import mbkit as mb
from mbkit.cli.main import registry
from mbkit.errors import UsageError, printable, suggestion

if TYPE_CHECKING:
    from rich.table import Table

    from mbkit.plugins import Plugin
    from mbkit.testing import Checked


@click.command(short_help="List the plugins that are installed, or check them.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Also what comes with mbkit itself.")
@click.option("--check", is_flag=True, help="Look whether what they provide keeps its contracts.")
def plugins(names: tuple[str, ...], everything: bool, check: bool) -> None:
    """List the plugins there are: version, where each comes from, and what it provides.

    These are the installed ones, and that of the project in the working directory; or those of the
    given names. One that cannot be imported, or breaks its contract, is listed with the cause;
    everything else works without it.

    With --check the laws of bodies, joints, forces, constraints, integrators and representations
    are tried on examples that the plugins give. The exit code is 1 where one is broken, or a plugin
    was skipped.

    \b
    Examples:
      mbkit plugins
      mbkit plugins --all
      mbkit plugins --check cam
    """
    from mbkit.plugins.registry import BUILT_IN

    registry().load()
    found = registry().plugins
    if names:
        known = {plugin.name: plugin for plugin in found}
        for name in names:
            if name not in known:
                raise UsageError(f"There is no plugin '{name}'; {suggestion(name, known)}")
        found = tuple(known[name] for name in dict.fromkeys(names))
    elif not everything:
        found = tuple(plugin for plugin in found if plugin.origin != BUILT_IN)
    if not found:
        click.echo("No plugins are installed; docs/plugins.md says how to write one.")
    elif check:
        _check(found)
    else:
        _list(found)


def _list(found: tuple[Plugin, ...]) -> None:
    from rich.console import Console

    # Into a file or a pipe, lines are as long as they need to be: names must not be cut.
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=200)
    console.print(_table(found))


def _check(found: tuple[Plugin, ...]) -> None:
    """Print the checks of each plugin in turn; end with code 1 where one fails."""
    broken, left = [], 0
    for plugin in found:
        click.echo(f"{printable(plugin)} ({printable(plugin.origin)})")
        for checked in mb.testing.check_plugin(plugin):
            _print(checked)
            left += checked.holds is None
            if checked.holds is False and plugin.name not in broken:
                broken.append(plugin.name)
    if broken:
        click.echo(f"Laws are broken by {', '.join(map(printable, broken))}.")
        raise click.exceptions.Exit(1)
    click.echo(f"Everything that was checked holds{f'; {left} not checked' * bool(left)}.")


def _print(checked: Checked) -> None:
    """Print the number of laws that hold, and the lines of those that do not."""
    mark = {True: "ok  ", False: "FAIL", None: "--  "}[checked.holds]
    report = checked.report
    found = checked.remark if report is None else str(report).partition("\n")[0]
    click.echo(f"  {mark}  {printable(checked.what)}: {printable(found)}")
    for line in () if report is None else report.failed:
        click.echo(f"          {printable(line)}")


def _table(found: tuple[Plugin, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table("plugin", "version", "from", "provides")
    for plugin in found:
        end = f"skipped: {plugin.fault}" if plugin.fault else _provided(plugin.provides)
        style = "yellow" if plugin.fault else ""
        texts = (plugin.name, plugin.version, plugin.origin, end)
        table.add_row(*(Text(printable(text), style=style) for text in texts[:3]), Text(end, style))
    return table


def _provided(provides: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the objects that a plugin provides, a line for each kind."""
    from mbkit.plugins.contracts import KINDS

    return "\n".join(
        f"{KINDS[kind].title}{'s' * (len(things) > 1)}: {', '.join(things)}"
        for kind, things in provides.items()
        if things
    )
