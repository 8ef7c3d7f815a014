"""Result files: netCDF 4, readable by xarray, MATLAB, Panoply and everything that reads HDF5.

The file holds what `mbkit.Result.to_xarray` shows, under the same names: variables over ``time``,
names of positions, velocities, bodies and joints as coordinates, and attributes for the rest.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from mbkit.errors import MbkitError, ResultFileError, printable
from mbkit.io.replacement import replacement
from mbkit.results.event_log import EventLog
from mbkit.results.labelled import (
    CONSTRAINT_VARIABLES,
    EVENT_VARIABLES,
    LABELS,
    LATER_VARIABLES,
    LEVELS,
    VARIABLES,
    attributes,
)
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
    image = io.BytesIO()
    block = {name: getattr(run, name) for name in ("t", *VARIABLES, *CONSTRAINT_VARIABLES)}
    write_dataset(image, run, run.t.size, [block])
    return image.getbuffer()


def write_dataset(
    target: Any,
    header: Result,
    count: int,
    blocks: Iterable[Mapping[str, Any]],
    dtypes: Mapping[str, Any] | None = None,
) -> None:
    """Write a result to a file object, block of rows by block.

    Parameters
    ----------
    target : file object
        What HDF5 writes to; it must not raise, see `_image`.
    header : Result
        Names and attributes; its rows are not looked at.
    count : int
        Number of rows.
    blocks : iterable of mappings
        Rows of ``t`` and of the variables, by name. A variable that is in none of them takes no
        room, and reads as not a number.
    dtypes : mapping, optional
        Types of variables other than float64.
    """
    import h5netcdf
    import h5py

    text = h5py.string_dtype()
    with h5netcdf.File(target, "w") as file:
        file.dimensions = {"time": count} | {
            label: len(getattr(header, field)) for label, field in LABELS.items()
        }
        # The dtype is given each time: without it HDF5's default is single precision.
        time = file.create_variable("time", ("time",), np.float64)
        time.attrs["units"] = "s"
        for label, field in LABELS.items():
            names = np.array(getattr(header, field), dtype=object)
            file.create_variable(label, (label,), text)[...] = names
        written = dict(VARIABLES)
        if header.constraint_names:
            written |= CONSTRAINT_VARIABLES
            for label, given in (("constraint", header.constraint_names), ("level", LEVELS)):
                file.dimensions[label] = len(given)
                file.create_variable(label, (label,), text)[...] = np.array(given, dtype=object)
        for name, (dimensions, about) in written.items():
            dtype = np.dtype((dtypes or {}).get(name, np.float64))
            variable = file.create_variable(name, dimensions, dtype, fillvalue=dtype.type(np.nan))
            variable.attrs.update(about)
        first = 0
        for block in blocks:
            rows = slice(first, first + len(block["t"]))
            first = rows.stop
            time[rows] = block["t"]
            for name in written:
                if name in block:
                    file.variables[name][rows] = block[name]
        if len(header.events):
            _write_events(file, header.events, text)
        file.attrs["mbkit_result"] = FORMAT_VERSION
        file.attrs.update(attributes(header))


def _write_events(file: Any, log: EventLog, text: Any) -> None:
    """Write the events of a run; those of one without any take no variables."""
    file.dimensions["event"] = len(log)
    for name, (field, dimensions, about) in EVENT_VARIABLES.items():
        values = getattr(log, field)
        is_text = field == "names"
        variable = file.create_variable(name, dimensions, text if is_text else np.float64)
        variable[...] = np.array(values, dtype=object) if is_text else values
        variable.attrs.update(about)


def _read_events(file: Any) -> EventLog:
    values: dict[str, Any] = {
        field: [_text(each) for each in file.variables[name][...]]
        if field == "names"
        else file.variables[name][...]
        for name, (field, _, _) in EVENT_VARIABLES.items()
    }
    return EventLog(**values)


def load_result(path: str | os.PathLike[str]) -> Result:
    """Read a result from a file that `save_result` wrote, or from a run directory.

    Parameters
    ----------
    path : str or path
        The file. Of a directory, ``result.nc`` in it, whose arrays stay in the file until they are
        looked at; of a run that is not at its end, what it has confirmed so far.

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
    if source.is_dir():
        from mbkit.io.run_result import load_run  # which writes and reads with this module

        return load_run(source)
    with _opened(source) as file:
        _check_contents(file, source)
        fields = _fields(file, source, _whole)
    return _result(fields, source)


def open_result(path: pathlib.Path) -> Result:
    """Read a result whose arrays stay in the file, and are read where they are looked at."""
    with _opened(path) as file:
        _check_contents(file, path)
        fields = _fields(file, path, functools.partial(_mapped, path))
    return _result(fields, path)


def _result(fields: dict[str, Any], path: pathlib.Path) -> Result:
    try:
        return Result(**fields)
    except (MbkitError, TypeError, ValueError) as error:
        raise ResultFileError(
            f"Result file '{printable(path)}' does not fit together: {printable(error)}"
        ) from error


def _whole(file: Any, name: str) -> Any:
    return file.variables[name][...]


def _mapped(path: pathlib.Path, file: Any, name: str) -> Any:
    """Return an array that stays in the file, where arrays of fixed length lie in one piece."""
    variable = file.variables[name]
    data = file._h5file[name]  # h5netcdf tells no places in files
    offset = data.id.get_offset()
    if variable.chunks is not None or data.size == 0:
        return variable[...]
    if offset is None:  # never written
        return np.broadcast_to(np.array(np.nan, data.dtype), data.shape)
    mapped = np.memmap(path, dtype=data.dtype, mode="r", offset=offset, shape=data.shape)
    return mapped.view(np.ndarray)


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


def _fields(file: Any, path: pathlib.Path, read: Callable[[Any, str], Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {"t": read(file, "time")}
    fields |= {name: read(file, name) for name in VARIABLES if name in file.variables}
    if "constraint" in file.variables:
        fields["constraint_names"] = [_text(name) for name in file.variables["constraint"][...]]
        fields |= {n: read(file, n) for n in CONSTRAINT_VARIABLES if n in file.variables}
    for label, field in LABELS.items():
        fields[field] = [_text(name) for name in file.variables[label][...]]
    fields |= {name: file.attrs[name] for name in _ATTRIBUTES}
    if all(name in file.variables for name in EVENT_VARIABLES):
        fields["events"] = _read_events(file)
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
