"""The command ``mbkit`` and its subcommands."""

from __future__ import annotations

import click

from mbkit.cli.group import Commands


@click.group("mbkit", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mbkit")
@click.option("--debug", is_flag=True, help="Show where an error was raised.")
def main(debug: bool) -> None:
    """Rigid multibody systems: look at a model, simulate it, plot the result.

    \b
    A model is a TOML file (see examples/models/), a URDF or an MJCF. A first session:
      mbkit info arm.toml
      mbkit view arm.toml
      mbkit simulate arm.toml -o run.nc --t-end 5
      mbkit plot run.nc -o run.png
      mbkit animate run.nc -o run.html

    \b
    A project, with models, studies and a plugin of its own:
      mbkit new pendulum
      mbkit run pendulum/studies/swing.toml

    Angles are in radians, all else in SI units.
    """
