"""The commands that come with mbkit, registered as those of plugins are."""

from __future__ import annotations

from collections.abc import Mapping

import click

from mbkit.cli.animate import animate
from mbkit.cli.compare import compare, report
from mbkit.cli.convert import convert
from mbkit.cli.info import info
from mbkit.cli.new import new
from mbkit.cli.plot import plot
from mbkit.cli.plugins import plugins
from mbkit.cli.run import run
from mbkit.cli.simulate import simulate
from mbkit.cli.sweep import sweep
from mbkit.cli.view import view
from mbkit.cli.warmup import warmup
from mbkit.plugins import hookimpl


@hookimpl
def mbkit_commands() -> Mapping[str, click.Command]:
    """Return the commands of mbkit, in the order in which help lists them."""
    commands = (
        info, view, simulate, plot, animate, convert, new, run, compare, sweep, report, plugins,
        warmup,
    )  # fmt: skip
    return {str(command.name): command for command in commands}
