"""Result files: netCDF 4, readable by xarray, MATLAB, Panoply and everything that reads HDF5.

The file holds what `mbkit.Result.to_xarray` shows, under the same names: variables over ``time``,
names of positions, velocities, bodies and joints as coordinates, and attributes for the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np

from mbkit.errors import MbkitError, ResultFileError
from mbkit.results.labelled import LABELS, VARIABLES, attributes
from mbkit.results.result import Result

# In the attribute "mbkit_result"; to be raised when an older reader would misread the file.
FORMAT_VERSION = 1


def save_result(run: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a netCDF file.

    The file is written under a temporary name beside `path` and renamed when it is complete and
    on the disk: a file that was there before is replaced at once or not at all.

    Parameters
    ----------
    run : Result
        What to write.
    path : str or path
        Where to; its folder must exist.

    Raises
    ------
    ResultFileError
        If it cannot be written there.
    """
    target = pathlib.Path(path)
    if target.is_dir():
        raise ResultFileError(f"Result file '{target}' is a directory; give a file name in it.")
    if not target.parent.is_dir():
        raise ResultFileError(
            f"Result file '{target}' is in a directory that does not exist; make it first."
        )
    # The process's own name for it, so that two runs writing the same result do not meet.
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        _write(run, temporary)
        _flush_to_disk(temporary)
        temporary.replace(target)
    except OSError as error:
        raise ResultFileError(f"Result file '{target}' cannot be written: {error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _write(run: Result, path: pathlib.Path) -> None:
    import h5netcdf
    import h5py

    text = h5py.string_dtype()
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"time": run.t.size} | {
            label: len(getattr(run, field)) for label, field in LABELS.items()
        }
        # The dtype is given each time: without it HDF5's default is single precision.
        time = file.create_variable("time", ("time",), np.float64, data=run.t)
        time.attrs["units"] = "s"
        for label, field in LABELS.items():
            names = np.array(getattr(run, field), dtype=object)
            file.create_variable(label, (label,), text)[...] = names
        for name, (dimensions, about) in VARIABLES.items():
            variable = file.create_variable(name, dimensions, np.float64, data=getattr(run, name))
            variable.attrs.update(about)
        file.attrs["mbkit_result"] = FORMAT_VERSION
        file.attrs.update(attributes(run))


def _flush_to_disk(path: pathlib.Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result from a file that `save_result` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Result
        Equal to the one that was saved, bit by bit.

    Raises
    ------
    ResultFileError
        If there is no such file, if it is not a result of mbkit, or if something in it is missing
        or does not fit together; the message says what.
    """
    source = pathlib.Path(path)
    with _opened(source) as file:
        _check_contents(file, source)
        fields = _fields(file, source)
    try:
        return Result(**fields)
    except (MbkitError, TypeError, ValueError) as error:
        raise ResultFileError(f"Result file '{source}' does not fit together: {error}") from error


@contextlib.contextmanager
def _opened(path: pathlib.Path) -> Iterator[Any]:
    import h5netcdf

    if not path.is_file():
        raise ResultFileError(f"Result file '{path}' does not exist; check its name and folder.")
    try:
        file = h5netcdf.File(path, "r")
    except OSError as error:
        raise ResultFileError(
            f"'{path}' is not a netCDF 4 file, or a damaged one; give a file that mbkit saved."
        ) from error
    with file:
        yield file


def _check_contents(file: Any, path: pathlib.Path) -> None:
    version = file.attrs.get("mbkit_result")
    if version is None:
        raise ResultFileError(
            f"'{path}' is a netCDF file, but not a result of mbkit: it has no attribute "
            "'mbkit_result'."
        )
    if version > FORMAT_VERSION:
        raise ResultFileError(
            f"Result file '{path}' has format {version}; this mbkit reads up to format "
            f"{FORMAT_VERSION}. Install a newer mbkit."
        )
    variables = ["time", *LABELS, *VARIABLES]
    missing = [f"variable '{name}'" for name in variables if name not in file.variables]
    missing += [f"attribute '{name}'" for name in _ATTRIBUTES if name not in file.attrs]
    if missing:
        raise ResultFileError(f"Result file '{path}' lacks {', '.join(missing)}.")


_JSON = ("options", "versions", "position_units")
_ATTRIBUTES = ("completed", "message", "model", *_JSON)


def _fields(file: Any, path: pathlib.Path) -> dict[str, Any]:
    fields: dict[str, Any] = {"t": file.variables["time"][...]}
    fields |= {name: file.variables[name][...] for name in VARIABLES}
    for label, field in LABELS.items():
        fields[field] = [_text(name) for name in file.variables[label][...]]
    fields |= {name: file.attrs[name] for name in _ATTRIBUTES}
    for name in _JSON:
        try:
            fields[name] = json.loads(fields[name])
        except ValueError as error:
            raise ResultFileError(
                f"Result file '{path}': attribute '{name}' is not JSON: {error}."
            ) from error
    return fields


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
