"""The origin of a result, as ``mbkit info`` shows it: study, settings, commit and versions."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

import mbkit as mb
from mbkit.errors import ResultFileError, UsageError, printable

if TYPE_CHECKING:
    from mbkit.results import Ensemble, Result

#: How files of HDF5, and with that of netCDF 4, begin.
_HDF5 = b"\x89HDF\r\n\x1a\n"

#: Options that hold the cost of a run, and not how it was computed.
_COSTS = ("notes", "steps_taken", "wall_time", "counts")


def is_result(path: pathlib.Path) -> bool:
    """Return whether a file or a folder is a result, and no model."""
    if os.path.isdir(path):
        return True
    if not (os.path.isfile(path) and os.access(path, os.R_OK)):  # reported where a model is read
        return False
    with path.open("rb") as file:
        return file.read(len(_HDF5)) == _HDF5


def tell_result(path: pathlib.Path) -> None:
    """Print a result, and where its numbers are from."""
    from mbkit.studies.laboratory.directory import CASES

    if os.path.isdir(path / CASES):
        raise UsageError(
            f"'{printable(path)}' has the runs of a comparison or a sweep; 'mbkit report "
            f"{printable(path)}' tells what they are."
        )
    run = _loaded(path)
    notes = dict(run.options.get("notes", {}))
    settings = notes.pop("settings", None)
    if "commit" in notes:
        notes["commit"] += ", with uncommitted changes" * notes.pop("uncommitted_changes", False)
    if settings is None:
        settings = {name: x for name, x in run.options.items() if name not in _COSTS}
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    click.echo(str(run))
    for name, value in (*_lines(notes), ("versions", versions)):
        click.echo(f"{name.replace('_', ' ')}: {printable(value)}")
    click.echo("settings:")
    for name, value in _lines(settings, quoted=True):
        click.echo(f"  {printable(name)} = {printable(value)}")


def _loaded(path: pathlib.Path) -> Result | Ensemble:

    try:
        return mb.load_result(path)
    except ResultFileError:
        try:
            return mb.load_ensemble(path)
        except ResultFileError:
            pass
        raise


def _lines(
    values: Mapping[str, Any], start: str = "", *, quoted: bool = False
) -> Iterator[tuple[str, str]]:
    """Return names and values of nested tables, as ``--set`` takes them."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _lines(value, f"{start}{name}.", quoted=quoted)
        else:
            text = value if isinstance(value, str) and not quoted else json.dumps(value)
            yield f"{start}{name}", text
