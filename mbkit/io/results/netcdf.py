"""Result files: netCDF 4, readable by xarray, MATLAB, Panoply and everything that reads HDF5.

The file holds the data of `mbkit.Result.to_xarray`, under the same names: variables over ``time``,
names of positions, velocities, bodies and joints as coordinates, and attributes for the rest.
Behind the data of HDF5 there is a checksum of it, in one line.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mbkit.interrupts import HeldInterrupts
from mbkit.io.results.checksum import checksum_line
from mbkit.io.results.reader import FORMAT_VERSION
from mbkit.results.event_log import EventLog
from mbkit.results.labelled import (
    CONSTRAINT_VARIABLES,
    EVENT_VARIABLES,
    LABELS,
    LEVELS,
    VARIABLES,
    attributes,
    output_variables,
)
from mbkit.results.result import Result


def write_netcdf(run: Result, file: Any) -> None:
    """Write a result to an open file, with its checksum in the last line."""
    image = _image(run)
    file.write(image)
    file.write(checksum_line(image))


def _image(run: Result) -> memoryview:
    """Return the bytes of the file.

    It is made in memory because HDF5, when a disk is full, ends the whole process by a
    segmentation fault (h5py 3.16), and the result with it. The price is its size once more.
    """
    image = io.BytesIO()
    block = {name: getattr(run, name) for name in ("t", *VARIABLES, *CONSTRAINT_VARIABLES)}
    block |= {name: array for (name, _), _, array in output_variables(run)}
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
    """Write a result to a file of HDF5, block of rows by block.

    The methods of this file must not raise, see `_image`.

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
        for (name, label), dimensions, array in output_variables(header):
            for dimension, size in zip(dimensions[1:], array.shape[1:], strict=True):
                file.dimensions[dimension] = size
            written[name] = dimensions, {"long_name": label}
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
