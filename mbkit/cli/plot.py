"""``mbkit plot``: a picture of a result."""

from __future__ import annotations

import pathlib

import click

from mbkit.cli.files import EXISTING, TARGET, check_target
from mbkit.errors import printable


@click.command(short_help="Draw a result file.")
@click.argument("run", type=EXISTING)
@click.option(
    "-o",
    "--output",
    type=TARGET,
    help="Picture to write; its suffix (.png, .svg, .pdf) says in which format. "
    "Default: beside RUN, as .png.",
)
@click.option("--force", is_flag=True, help="Replace the picture if it exists.")
def plot(run: pathlib.Path, output: pathlib.Path | None, force: bool) -> None:
    """Draw positions, velocities and energies of the result file RUN over time.

    \b
    Example:
      mbkit plot run.nc -o run.svg
    """
    output = run.with_suffix(".png") if output is None else output
    check_target(output, force=force)

    from mbkit.io.netcdf import load_result

    load_result(run).plot(output)
    click.echo(f"Wrote {printable(output)}.")
