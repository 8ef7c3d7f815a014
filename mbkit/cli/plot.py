"""``mbkit plot``: a picture of a result."""

from __future__ import annotations

import pathlib

import click

from mbkit.cli.files import TARGET, check_target
from mbkit.errors import printable
from mbkit.io.results.netcdf import load_result


@click.command(short_help="Draw a result file or run directory.")
@click.argument("run", type=click.Path(exists=True, path_type=pathlib.Path))
@click.option(
    "-o",
    "--output",
    type=TARGET,
    help="Picture to write; its suffix (.png, .svg, .pdf) says in which format. "
    "Default: beside RUN, as .png.",
)
@click.option("--force", is_flag=True, help="Replace the picture if it exists.")
def plot(run: pathlib.Path, output: pathlib.Path | None, force: bool) -> None:
    """Draw positions, velocities and energies over time of RUN, a result file or a run directory.

    \b
    Example:
      mbkit plot run.nc -o run.svg
    """
    output = run.with_suffix(".png") if output is None else output
    check_target(output, force=force)

    load_result(run).plot(output)
    click.echo(f"Wrote {printable(output)}.")
