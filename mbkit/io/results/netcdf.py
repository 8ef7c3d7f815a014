"""Result files: netCDF 4, readable by xarray, MATLAB, Panoply and everything that reads HDF5.

The file holds what `mbkit.Result.to_xarray` shows, under the same names: variables over ``time``,
names of positions, velocities, bodies and joints as coordinates, and attributes for the rest.
Behind what HDF5 reads there is a checksum of it, in one line.
"""

from __future__ import annotations

import io
import os
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mbkit.errors import ResultFileError, UsageError, printable
from mbkit.interrupts import HeldInterrupts
from mbkit.io.replacement import replacement
from mbkit.io.results.checksum import checksum_line
from mbkit.io.results.reader import FORMAT_VERSION, read_result
from mbkit.io.text_file import checked_place
from mbkit.results.event_log import EventLog
from mbkit.results.labelled import (
    CONSTRAINT_VARIABLES,
    EVENT_VARIABLES,
    LABELS,
    LEVELS,
    VARIABLES,
    attributes,
)
from mbkit.results.result import Result

# What names of netCDF files end in; a name that ends in nothing claims no other format.
_SUFFIXES = (".nc", ".nc4", ".h5", ".hdf5", "")


def save_result(run: Result, path: str | os.PathLike[str]) -> None:
    """Write a result to a netCDF file.

    The file is written under a temporary name beside `path` and renamed when it is complete and
    on the disk: a file that was there before is replaced at once or not at all.

    Parameters
    ----------
    run : Result
        What to write.
    path : str or path
        Where to; its folder must exist, and its name must end in ``.nc`` (or ``.nc4``, ``.h5``,
        ``.hdf5``, all of which hold the same).

    Raises
    ------
    UsageError
        If the name ends in another suffix.
    ResultFileError
        If it cannot be written there.
    """
    target = checked_place(path, "save")
    if os.path.isdir(target):
        raise ResultFileError(
            f"Result file '{printable(target)}' is a directory; give a file name in it."
        )
    if not os.path.isdir(target.parent):
        raise ResultFileError(
            f"Result file '{printable(target)}' is in a directory that does not exist; make it "
            "first."
        )
    check_suffix(target)
    try:
        with replacement(target) as temporary, temporary.open("wb") as file:
            image = _image(run)
            file.write(image)
            file.write(checksum_line(image))
    except OSError as error:
        raise ResultFileError(
            f"Result file '{printable(target)}' cannot be written: {error.strerror or error}; "
            "choose a folder that can be written to and has room."
        ) from error


def check_suffix(path: pathlib.Path) -> None:
    """Raise UsageError if the name of a file claims another format than that of results."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(
            f"Result file '{printable(path)}' must end in .nc (or .nc4, .h5, .hdf5), got "
            f"'{printable(path.suffix)}': results are written as netCDF alone. For other formats "
            "go by run.to_xarray() or run.t, run.q and so on."
        )


def _image(run: Result) -> memoryview:
    """Return the bytes of the file.

    It is made in memory because HDF5, when a disk is full, ends the whole process by a
    segmentation fault (h5py 3.16), and the result with it. The price is its size once more.
    """
    image = io.BytesIO()
    block = {name: getattr(run, name) for name in ("t", *VARIABLES, *CONSTRAINT_VARIABLES)}
    with HeldInterrupts():
        write_dataset(image, run, run.t.size, [block])
    return image.getbuffer()


def write_dataset(
    target: Any,
    header: Result,
    count: int,
    blocks: Iterable[Mapping[str, Any]],
    dtypes: Mapping[str, Any] | None = None,
) -> None:
    """Write a result to what HDF5 writes to, block of rows by block.

    What it writes to must not raise, see `_image`.

    `header` has names and attributes; its rows, `count` of them, come from the blocks, by the names
    of ``t`` and of the variables. A variable that is in no block takes no room, and reads as not a
    number. `dtypes` are those of variables other than float64.
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
    source = checked_place(path, "load_result")
    if os.path.isdir(source):
        from mbkit.io.results.run_result import load_run  # which writes and reads with this module

        return load_run(source)
    return read_result(source, stored=False)
