"""``mbkit animate``: a film of a result."""

from __future__ import annotations

import pathlib

import click

import mbkit as mb
from mbkit.cli.files import TARGET, check_target
from mbkit.cli.models import trace_option
from mbkit.errors import printable
from mbkit.viz.image_size import SIZE


@click.command(short_help="Make a film of a result file or run directory.")
@click.argument("run", type=click.Path(exists=True, path_type=pathlib.Path))
@click.option(
    "-o",
    "--output",
    type=TARGET,
    help="Film to write; its suffix says how: .html, a page that plays in any browser; .gif and "
    ".png; .mp4, where ffmpeg is installed. Default: beside RUN, as .html.",
)
@click.option(
    "--speed",
    type=float,
    default=1.0,
    show_default=True,
    help="Seconds of the motion in a second of the film: 0.1 is slow motion.",
)
@click.option(
    "--frame-rate",
    type=float,
    default=30.0,
    show_default=True,
    help="Images in a second of the film, at most.",
)
@trace_option
@click.option(
    "--size",
    type=int,
    nargs=2,
    metavar="WIDTH HEIGHT",
    default=SIZE,
    show_default=True,
    help="Of images, in pixels; pages fit into their window.",
)
@click.option("--force", is_flag=True, help="Replace the film if it exists.")
def animate(
    *,
    run: pathlib.Path,
    output: pathlib.Path | None,
    speed: float,
    frame_rate: float,
    traces: tuple[str, ...],
    size: tuple[int, int],
    force: bool,
) -> None:
    """Make a film of the motion of RUN, a result file or a run directory.

    Bodies without shapes are drawn as rods between their joints. Nothing has to be displayed.

    \b
    Examples:
      mbkit animate run.nc
      mbkit animate run.nc -o run.gif --speed 0.25 --trace hand
    """
    from mbkit.viz.animate import animate as write_film

    output = run.with_suffix(".html") if output is None else output
    check_target(output, force=force)
    write_film(
        mb.load_result(run), output, speed=speed, frame_rate=frame_rate, traces=traces, size=size
    )
    click.echo(f"Wrote {printable(output)}.")
