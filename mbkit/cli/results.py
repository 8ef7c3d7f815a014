"""Results of runs on the command line: their files and directories, their end, how they go on."""

from __future__ import annotations

import collections
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

import mbkit as mb
from mbkit.cli.compiling import compiling_announced
from mbkit.cli.files import check_target
from mbkit.cli.remedies import goes_on_by, on_the_command_line
from mbkit.errors import MbkitError, ResultFileError, printable
from mbkit.io.results.run_directory import RunDirectory
from mbkit.io.results.saving import check_suffix
from mbkit.results.summary import balance_text

if TYPE_CHECKING:
    from mbkit.results import Result

_FOLDER = click.Path(file_okay=False, path_type=pathlib.Path)

_OPTIONS = (
    click.option(
        "--directory",
        type=_FOLDER,
        help="New directory, to which the run is written while it goes; instead of -o.",
    ),
    click.option(
        "--resume",
        type=_FOLDER,
        metavar="DIRECTORY",
        help="Go on with the run in a directory, bit for bit, without MODEL and other options.",
    ),
    click.option(
        "--other-versions",
        is_flag=True,
        help="Resume although versions or the processor differ; the last bits may too.",
    ),
    click.option(
        "--save",
        default="q,v,energies,constraints",
        show_default=True,
        help="What is written to a directory, separated by commas.",
    ),
    click.option(
        "--dtype",
        type=click.Choice(["float64", "float32"]),
        default="float64",
        show_default=True,
        help="Of positions and velocities that are written to a directory.",
    ),
)


def directory_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of runs in directories."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def checked_places(
    model: pathlib.Path | None, output: str | None, directory: pathlib.Path | None
) -> tuple[pathlib.Path, pathlib.Path, bool]:
    """Return the model, where the result goes, and whether that is a directory.

    From the argument, the option -o, a file, or a directory if it ends in a slash, and --directory.
    """
    if model is None:
        raise click.UsageError("Missing argument 'MODEL'; only --resume goes without.")
    if (output is None) == (directory is None):
        raise click.UsageError(
            "Give one place for the result: a file by -o run.nc, or a directory for a long run by "
            "-o runs/name/ or --directory runs/name."
        )
    if directory is not None:
        return model, directory, True
    assert output is not None
    return model, pathlib.Path(output), output.endswith("/")


def refuse_more(
    model: pathlib.Path | None, output: str | None, directory: pathlib.Path | None
) -> None:
    """Raise click's UsageError where --resume is given options that the directory has."""
    given = {"MODEL": model, "-o": output, "--directory": directory}
    for name, value in given.items():
        if value is not None:
            raise click.UsageError(
                f"--resume takes model, options and place from its directory; leave out {name}."
            )


def go_on(directory: pathlib.Path, *, other_versions: bool) -> None:
    """Go on with a run, or report that it was completed."""
    goes_on_by(("mbkit", "simulate", "--resume", str(directory)))
    with compiling_announced():
        tell_resumed(lambda: mb.resume(directory, other_versions=other_versions), directory)


def tell_resumed(resume: Callable[[], Result], directory: pathlib.Path) -> None:
    """Go on with a run, and report its result, or that it was completed already."""
    if _was_completed(directory):
        resume()  # which refuses other settings, and tidies up
    else:
        tell_directory(resume(), directory)


def _was_completed(directory: pathlib.Path) -> bool:
    """Say that a run has come to its end already, if it has."""
    if not os.path.isfile(RunDirectory(directory).result):
        return False
    run = mb.load_result(directory)
    if run.completed:
        click.echo(f"The run in {printable(directory)} was completed already.")
        for text in run.warnings:
            click.echo(f"Warning: {on_the_command_line(printable(text))}", err=True)
    return run.completed


def tell_directory(run: Result, directory: pathlib.Path) -> None:
    """Print the outcome of a run in a directory; an error unless it is completed."""
    tell(run)
    click.echo(f"Wrote {printable(directory / 'result.nc')}: {run.t.size} instants.")
    if not run.completed:
        raise not_completed(run)


class Interrupted(click.ClickException):
    """A run that was ended by Ctrl-C."""


def not_completed(run: Result) -> click.ClickException:
    """Return the error of a run that did not reach its end."""
    by_user = run.message.startswith("Interrupted by the user")
    message = on_the_command_line(run.message)
    return (Interrupted if by_user else click.ClickException)(message)


def tell(run: Result) -> None:
    """Print how far a run came, its events, and its energy balance."""
    click.echo(f"Simulated from {run.t[0]:g} s to {run.t[-1]:g} s.")
    if run.events.names:
        happened = collections.Counter(run.events.names)
        counts = (f"{printable(name)} {count}" for name, count in happened.items())
        click.echo(f"Events: {', '.join(counts)}.")
    if text := balance_text(run):
        click.echo(f"Energies: {text}.")


def check_output(path: pathlib.Path, *, force: bool) -> None:
    """Raise UsageError unless a result can be written to `path`; see `check_target`."""
    check_suffix(path)
    check_target(path, force=force)


def keep(simulation: Callable[[], Result], output: pathlib.Path) -> None:
    """Run a simulation, write its result to a file, complete or not, and report it."""
    try:
        run = simulation()
    except MbkitError as error:
        if (kept := getattr(error, "result", None)) is not None:
            _write(kept, output)
        raise
    _write(run, output)
    if not run.completed:
        raise not_completed(run)


def _write(run: Result, output: pathlib.Path) -> None:
    _save(run, output)
    tell(run)
    click.echo(f"Wrote {printable(output)}: {run.t.size} instants.")


def _save(run: Result, output: pathlib.Path) -> None:
    """Write the result; where that fails, elsewhere, and report the place."""
    try:
        run.save(output)
    except ResultFileError as error:
        try:
            spare = pathlib.Path(tempfile.mkdtemp(prefix="mbkit-")) / "run.nc"
            run.save(spare)
        except (ResultFileError, OSError) as second:
            raise ResultFileError(f"{error} {second} The result is lost. {run.message}") from error
        raise ResultFileError(f"{error} The result was kept in '{spare}'. {run.message}") from error
