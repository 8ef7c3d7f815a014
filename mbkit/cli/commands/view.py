"""``mbkit view``: a model to be moved, or the motion of a result, in the browser."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import TYPE_CHECKING, Any

import click

import mbkit as mb
from mbkit.cli.assignments import assign
from mbkit.cli.models import MODEL_OR_RESULT, floating_option, load, mimic_option, trace_option
from mbkit.cli.provenance import is_result

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mbkit.systems import System


@click.command(short_help="Show a model or a result in the browser.")
@click.argument("model", type=MODEL_OR_RESULT, metavar="MODEL|RESULT")
@floating_option
@mimic_option
@click.option(
    "--q",
    "positions",
    multiple=True,
    metavar="NAME=VALUE",
    help="Position of a joint of MODEL at first; several values separated by commas. May be "
    "repeated. Loops are closed from there.",
)
@click.option(
    "--port",
    type=click.IntRange(1024, 65535),
    default=8080,
    show_default=True,
    help="The first port that is tried, on this machine alone.",
)
@trace_option
@click.option("--no-browser", is_flag=True, help="Print the address alone, and open nothing.")
def view(
    *,
    model: pathlib.Path,
    floating: bool,
    mimic: str,
    positions: tuple[str, ...],
    port: int,
    traces: tuple[str, ...],
    no_browser: bool,
) -> None:
    """Show MODEL with a slider for each joint, or play the motion of RESULT, in the browser.

    MODEL is a TOML, URDF, SDF or MJCF file, or robot:NAME for one of example-robot-data.
    Loops stay closed: drag one joint, and the others follow. RESULT is a result file or a run
    directory. The page is at an address of this machine, which nobody else sees, until Ctrl-C.

    \b
    Examples:
      mbkit view arm.toml --q shoulder=0.5
      mbkit view run.nc
    """
    if is_result(model):
        if positions or floating:
            raise click.UsageError("--q and --floating are for models; a result has its motion.")
        shown: Any = _motion(model, port, traces)
    else:
        system = load(model, floating=floating, mimic=mimic).assemble()
        shown = _mechanism(system, positions, port, traces)
    click.echo(f"{model.name} is shown at {shown.url} until Ctrl-C.")
    if not no_browser and _has_display():
        click.launch(shown.url)
    shown.wait()


def _motion(path: pathlib.Path, port: int, traces: tuple[str, ...]) -> Any:
    """Return a page that plays a result."""
    from mbkit.viz.animate import film_of
    from mbkit.viz.viewers.served_page import ServedPage
    from mbkit.viz.viewers.viser_viewer import page

    return ServedPage(page(film_of(mb.load_result(path), traces=traces)), port=port)


def _mechanism(
    system: System, positions: tuple[str, ...], port: int, traces: tuple[str, ...]
) -> Any:
    """Return a page with a model and its sliders."""
    return mb.viz.show(system, _start(system, positions), port=port, traces=traces)


def _start(system: System, positions: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """Return the configuration that is given by name, its loops closed by the other joints."""
    q = system.reference_configuration()
    assign(system, q, "q", positions)
    if positions and system.num_position_constraints:
        fixed = [text.rpartition("=")[0].partition("[")[0] for text in positions]
        return system.close_loops(q, fixed=fixed)
    return q


def _has_display() -> bool:
    """Whether a browser that opens by itself would be seen, and not take the terminal."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
