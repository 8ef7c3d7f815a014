"""Files that commands read and write, checked before anything is computed."""

from __future__ import annotations

import os
import pathlib

import click

from mbkit.io.replacement import check_writable

#: A file that has to be there.
EXISTING = click.Path(exists=True, dir_okay=False, path_type=pathlib.Path)

#: A file to be written.
TARGET = click.Path(dir_okay=False, path_type=pathlib.Path)


def check_target(path: pathlib.Path, *, force: bool) -> None:
    """Raise click's UsageError unless `path` can be written, and is new or `force` is given.

    Whether it can be is tried out, by a file beside it that is deleted again: permissions alone
    are not sufficient, as in ``/proc``.
    """
    if not os.path.isdir(path.parent):
        raise click.UsageError(f"'{path}': the folder '{path.parent}' does not exist; make it.")
    if os.path.exists(path) and not force:
        raise click.UsageError(f"'{path}' exists already; give --force to replace it.")
    try:
        check_writable(path)
    except OSError as error:
        raise click.UsageError(
            f"'{path}' must be a file that can be written, and is not: "
            f"{error.strerror or error}; choose another place."
        ) from error
