"""Viewers by their names, by the suffixes of files, and those that are live."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from mbkit.errors import UsageError, listed, suggestion
from mbkit.viz.film import Film
from mbkit.viz.viewers.viewer import Viewer


def target_of(path: Any) -> pathlib.Path:
    """Return where to write, or raise UsageError if it is no path."""
    if not isinstance(path, str | os.PathLike) or "\0" in os.fspath(path):
        raise UsageError(
            f"path must be the name of a picture or a film, such as 'run.html', got {path!r}."
        )
    return pathlib.Path(path)


def writer_of(path: pathlib.Path, viewer: str | None = None) -> Viewer:
    """Return the viewer that writes a file: that of a name, or the first one of its suffix.

    UsageError if there is none, or the folder of the file does not exist.
    """
    from mbkit.plugins.registry import registry

    if not path.parent.is_dir():
        raise UsageError(f"Film '{path}' is in a directory that does not exist; make it first.")
    suffix = path.suffix.lower()
    if viewer is not None:
        found = named_viewer(viewer)
        if suffix in found.suffixes:
            return found
        raise UsageError(
            f"The viewer {viewer!r} writes {listed(found.suffixes) or 'no files'}, not '{path}'."
        )
    for load in (registry().known, registry().all):
        for each in load("viewer").values():
            if suffix in each.suffixes:
                return each  # type: ignore[no-any-return]
    known = sorted({own for each in registry().all("viewer").values() for own in each.suffixes})
    raise UsageError(f"No viewer writes files like '{path}'; choose one of {listed(known)}.")


def write_film(writer: Viewer, film: Film, path: pathlib.Path) -> None:
    """Write a film by a viewer, one of a plugin too; UsageError if the file cannot be written."""
    try:
        writer.write(film, path)
    except OSError as error:
        raise UsageError(
            f"Film '{path}' cannot be written: {error.strerror or error}; choose a folder that "
            "can be written to and has room."
        ) from error


def named_viewer(name: Any) -> Viewer:
    """Return the viewer of a name, or raise UsageError."""
    from mbkit.plugins.registry import registry

    found = registry().find("viewer", name) if isinstance(name, str) else None
    if found is None:
        every = registry().all("viewer")
        raise UsageError(f"There is no viewer {name!r}; {suggestion(str(name), every)}")
    return found  # type: ignore[no-any-return]


def live_viewer() -> Viewer:
    """Return the first viewer that shows scenes on the screen; UsageError if there is none."""
    from mbkit.plugins.registry import registry

    for each in registry().all("viewer").values():
        if each.is_live:
            return each  # type: ignore[no-any-return]
    raise UsageError("show: no viewer is live; install one: pip install 'mbkit[view]'.")
