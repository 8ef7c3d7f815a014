"""Sources of a project's loaded code, and whether they have changed since."""

from __future__ import annotations

import hashlib
import os
import pathlib
import sys

__all__ = ["changed_sources"]

# Of each file the digest when it was first seen, soon after its module was imported.
_SEEN: dict[str, str] = {}


def changed_sources(root: pathlib.Path) -> list[str]:
    """Return which files of a project have changed since Python imported them.

    Imported code is run from memory until the process ends, also if its file changes. A
    module is checked from the first call after its import on: calls belong right after imports.
    Paths are as seen from the folder of the project, in order; modules installed below it, as in
    ``.venv``, are left out.
    """
    changed = []
    for name, file in _loaded_files(root).items():
        digest = _digest(file)
        if _SEEN.setdefault(file, digest) != digest:
            changed.append(name)
    return sorted(changed)


def _loaded_files(root: pathlib.Path) -> dict[str, str]:
    """Return the files of modules below a folder, by their paths as seen from it."""
    starts = {str(each).rstrip(os.sep) + os.sep for each in (root.absolute(), root.resolve())}
    found = {}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str):
            continue
        start = next((each for each in starts if file.startswith(each)), None)
        parts = pathlib.PurePath(file).parts
        if start is not None and "site-packages" not in parts:
            found[pathlib.PurePath(file.removeprefix(start)).as_posix()] = file
    return found


def _digest(file: str) -> str:
    """Return the digest of a file; empty where it is gone."""
    try:
        return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()
    except OSError:
        return ""
