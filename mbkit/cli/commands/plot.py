"""``mbkit plot``: a picture of a result, or of several compared."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import click

import mbkit as mb
from mbkit.cli.files import TARGET, check_target
from mbkit.errors import printable

_PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg")


@click.command(short_help="Draw result files or run directories.")
@click.argument(
    "runs",
    metavar="RUN...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=pathlib.Path),
)
@click.option(
    "-o",
    "--output",
    type=TARGET,
    help="Picture to write; its suffix (.png, .svg, .pdf) says in which format. "
    "Default: beside the first RUN, as .png.",
)
@click.option(
    "--panel",
    "panels",
    multiple=True,
    metavar="NAME",
    help="Draw this alone: positions, velocities, outputs, energies, balance, residuals, "
    "multipliers, or a joint or an output by its name. May be given several times.",
)
@click.option(
    "--phase",
    multiple=True,
    metavar="JOINT",
    help="Draw the velocity of a joint over its position instead. May be given several times.",
)
@click.option("--force", is_flag=True, help="Replace the picture if it exists.")
def plot(
    runs: tuple[pathlib.Path, ...],
    output: pathlib.Path | None,
    panels: tuple[str, ...],
    phase: tuple[str, ...],
    force: bool,
) -> None:
    """Draw RUN, a result file or a run directory: positions, velocities, outputs and energies over
    time, with a panel for each unit. Several are compared, with a panel for each joint.

    \b
    Examples:
      mbkit plot run.nc -o run.svg
      mbkit plot fine.nc coarse.nc --panel elbow --panel balance -o compared.png
      mbkit plot run.nc --phase elbow
    """  # noqa: D205
    for path in runs:
        if path.suffix.lower() in _PICTURES:
            raise click.UsageError(
                f"'{printable(path)}' is a picture; RUN is a result file or a run directory, and "
                f"the picture to write is given by -o {printable(path)}."
            )
    output = runs[0].with_suffix(".png") if output is None else output
    check_target(output, force=force)
    if len(runs) == 1:
        results: Any = mb.load_result(runs[0])
    else:
        common = os.path.commonpath([path.absolute().parent for path in runs])
        names = [printable(path.absolute().relative_to(common)) for path in runs]
        results = {name: mb.load_result(path) for name, path in zip(names, runs, strict=True)}
    mb.plot(results, output, panels=panels or None, phase=phase or None)
    click.echo(f"Wrote {printable(output)}.")
