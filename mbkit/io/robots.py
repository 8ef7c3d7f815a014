"""The robots of the package example-robot-data, if it is installed: found, never imported."""

from __future__ import annotations

import importlib.metadata
import pathlib
from collections import Counter
from typing import Any

from mbkit.errors import UsageError, printable, suggestion
from mbkit.io.text_file import checked_path

_PACKAGE = "example-robot-data"

#: The prefix of the name of a robot where a file may be given.
PREFIX = "robot:"


def is_robot(path: Any) -> bool:
    """Whether an argument in place of a model file is the name of a robot."""
    return isinstance(path, str) and path.startswith(PREFIX)


def model_file(path: Any, who: str) -> pathlib.Path:
    """Return the path of a file that is read, or that of ``robot:NAME``.

    UsageError, in the name of `who`, for an argument that is neither.
    """
    return find_robot(path.removeprefix(PREFIX)) if is_robot(path) else checked_path(path, who)


def robot_files() -> dict[str, pathlib.Path]:
    """Return the URDF files of the installed robots by their names.

    UsageError if their package is not installed. A robot is called by the stem of its file, such as
    ``talos_reduced``; where that stands for several, by the folder and the stem:
    ``anymal_c_simple/anymal``.
    """
    try:
        distribution = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise UsageError(
            f"Robots by name are those of the package {_PACKAGE}, which is not installed; install "
            f"it: pip install {_PACKAGE}"
        ) from None
    listed = (pathlib.PurePath(str(file)) for file in distribution.files or ())
    files = sorted(
        pathlib.Path(str(distribution.locate_file(file)))
        for file in listed
        if file.suffix == ".urdf"
    )
    stems = Counter(file.stem for file in files)
    return {(file.stem if stems[file.stem] == 1 else _long_name(file)): file for file in files}


def _long_name(file: pathlib.Path) -> str:
    """Return folder and stem, of .../robots/anymal_c_simple_description/urdf/anymal.urdf."""
    return f"{file.parents[1].name.removesuffix('_description')}/{file.stem}"


def find_robot(name: str) -> pathlib.Path:
    """Return the URDF file of an installed robot, by its name in `robot_files`.

    Folder and stem will do for all of them. UsageError if there is no such robot, or their package
    is not installed.
    """
    robots = robot_files()
    by_long_name = {_long_name(file): file for file in robots.values()}
    found = robots.get(name, by_long_name.get(name))
    if found is None:
        alike = [each for each in by_long_name if each.endswith(f"/{name}")]
        raise UsageError(
            f"There is no robot '{printable(name)}'; {suggestion(name, alike or robots)}"
        )
    return found
