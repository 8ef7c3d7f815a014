"""Result files: netCDF 4, readable by xarray, MATLAB, Panoply and everything that reads HDF5.

The file holds what `mbkit.Result.to_xarray` shows, under the same names: variables over ``time``,
names of positions, velocities, bodies and joints as coordinates, and attributes for the rest.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from mbkit.errors import MbkitError, ResultFileError, printable
from mbkit.io.replacement import replacement
from mbkit.results.labelled import LABELS, LATER_VARIABLES, VARIABLES, attributes
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
        raise ResultFileError(
            f"Result file '{printable(target)}' is a directory; give a file name in it."
        )
    if not target.parent.is_dir():
        raise ResultFileError(
            f"Result file '{printable(target)}' is in a directory that does not exist; make it "
            "first."
        )
    try:
        with replacement(target) as temporary:
            temporary.write_bytes(_image(run))
    except OSError as error:
        raise ResultFileError(
            f"Result file '{printable(target)}' cannot be written: {error.strerror or error}; "
            "choose a folder that can be written to and has room."
        ) from error


def _image(run: Result) -> memoryview:
    """Return the bytes of the file.

    It is made in memory because HDF5, when a disk is full, ends the whole process by a
    segmentation fault (h5py 3.16), and the result with it. The price is its size once more.
    """
    import h5netcdf
    import h5py

    image = io.BytesIO()
    text = h5py.string_dtype()
    with h5netcdf.File(image, "w") as file:
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
    return image.getbuffer()


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
        raise ResultFileError(
            f"Result file '{printable(source)}' does not fit together: {printable(error)}"
        ) from error


@contextlib.contextmanager
def _opened(path: pathlib.Path) -> Iterator[Any]:
    import h5netcdf

    if not path.is_file():
        raise ResultFileError(
            f"Result file '{printable(path)}' does not exist; check its name and folder."
        )
    try:
        file = h5netcdf.File(path, "r")
    except OSError as error:
        raise ResultFileError(
            f"'{printable(path)}' is not a netCDF 4 file, or a damaged one; give a file that mbkit "
            "saved."
        ) from error
    with file:
        yield file


def _check_contents(file: Any, path: pathlib.Path) -> None:
    version = file.attrs.get("mbkit_result")
    if version is None:
        raise ResultFileError(
            f"'{printable(path)}' is a netCDF file, but not a result of mbkit: it has no attribute "
            "'mbkit_result'."
        )
    if version > FORMAT_VERSION:
        raise ResultFileError(
            f"Result file '{printable(path)}' has format {version}; this mbkit reads up to format "
            f"{FORMAT_VERSION}. Install a newer mbkit."
        )
    variables = ["time", *LABELS, *VARIABLES]
    missing = [
        f"variable '{name}'"
        for name in variables
        if name not in file.variables and name not in LATER_VARIABLES
    ]
    missing += [f"attribute '{name}'" for name in _ATTRIBUTES if name not in file.attrs]
    if missing:
        raise ResultFileError(f"Result file '{printable(path)}' lacks {', '.join(missing)}.")


_JSON = ("options", "versions", "position_units")
_ATTRIBUTES = ("completed", "message", "model", *_JSON)


def _fields(file: Any, path: pathlib.Path) -> dict[str, Any]:
    fields: dict[str, Any] = {"t": file.variables["time"][...]}
    fields |= {name: file.variables[name][...] for name in VARIABLES if name in file.variables}
    for label, field in LABELS.items():
        fields[field] = [_text(name) for name in file.variables[label][...]]
    fields |= {name: file.attrs[name] for name in _ATTRIBUTES}
    for name in _JSON:
        try:
            fields[name] = json.loads(fields[name])
        except ValueError as error:
            raise ResultFileError(
                f"Result file '{printable(path)}': attribute '{name}' is not JSON: {error}."
            ) from error
    return fields


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
