"""Files that commands read and write, checked before anything is computed."""

from __future__ import annotations

import os
import pathlib

import click

#: A file that has to be there.
EXISTING = click.Path(exists=True, dir_okay=False, path_type=pathlib.Path)

#: A file to be written.
TARGET = click.Path(dir_okay=False, path_type=pathlib.Path)


def check_target(path: pathlib.Path, *, force: bool) -> None:
    """Raise click's UsageError unless `path` can be written, and is new or `force` is given.

    Parameters
    ----------
    path : path
        Where a command is going to write.
    force : bool
        Whether an existing file may be replaced.
    """
    if not path.parent.is_dir():
        raise click.UsageError(f"'{path}': the folder '{path.parent}' does not exist; make it.")
    if not os.access(path.parent, os.W_OK):
        raise click.UsageError(f"'{path}': no permission to write to '{path.parent}'.")
    if path.exists() and not force:
        raise click.UsageError(f"'{path}' exists already; give --force to replace it.")
