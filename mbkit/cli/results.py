"""Results that commands write to files, whatever becomes of the run."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from mbkit.cli.files import check_target
from mbkit.cli.long_runs import not_completed, tell
from mbkit.errors import MbkitError, ResultFileError, printable
from mbkit.io.results.saving import check_suffix

if TYPE_CHECKING:
    from mbkit.results import Result


def check_output(path: pathlib.Path, *, force: bool) -> None:
    """Raise UsageError unless a result can be written to `path`; see `check_target`."""
    check_suffix(path)
    check_target(path, force=force)


def keep(simulation: Callable[[], Result], output: pathlib.Path) -> None:
    """Run a simulation, write its result to a file, complete or not, and say what it is."""
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
    """Write the result; where that fails, elsewhere, and say where."""
    try:
        run.save(output)
    except ResultFileError as error:
        try:
            spare = pathlib.Path(tempfile.mkdtemp(prefix="mbkit-")) / "run.nc"
            run.save(spare)
        except (ResultFileError, OSError) as second:
            raise ResultFileError(f"{error} {second} The result is lost. {run.message}") from error
        raise ResultFileError(f"{error} The result was kept in '{spare}'. {run.message}") from error
