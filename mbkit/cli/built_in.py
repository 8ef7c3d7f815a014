"""The commands that come with mbkit, registered as those of plugins are."""

from __future__ import annotations

from collections.abc import Mapping

import click

from mbkit.cli.commands.animate import animate
from mbkit.cli.commands.compare import compare, report
from mbkit.cli.commands.convert import convert
from mbkit.cli.commands.info import info
from mbkit.cli.commands.new import new
from mbkit.cli.commands.plot import plot
from mbkit.cli.commands.plugins import plugins
from mbkit.cli.commands.run import run
from mbkit.cli.commands.simulate import simulate
from mbkit.cli.commands.sweep import sweep
from mbkit.cli.commands.view import view
from mbkit.cli.commands.warmup import warmup
from mbkit.plugins import hookimpl


@hookimpl
def mbkit_commands() -> Mapping[str, click.Command]:
    """Return the commands of mbkit, in the order in which help lists them."""
    commands = (
        info, view, simulate, plot, animate, convert, new, run, compare, sweep, report, plugins,
        warmup,
    )  # fmt: skip
    return {str(command.name): command for command in commands}
