"""Reading of result files, which may be damaged, or made to harm.

A file that has a checksum is compared with it before HDF5 sees any of it. Features of HDF5 beside
arrays in the file itself are refused: links, external storage and virtual datasets lead to other
files, and other filters than the usual ones load programs. Nothing is read that the file has no
room for.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pathlib
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import MbkitError, ResultFileError, ResultFileWarning, printable
from mbkit.interrupts import HeldInterrupts
from mbkit.io.results.checksum import checked
from mbkit.io.results.heaps import check_heaps
from mbkit.io.results.stored import Place, Source, StoredResult
from mbkit.results.event_log import EventLog
from mbkit.results.labelled import (
    CONSTRAINT_VARIABLES,
    EVENT_VARIABLES,
    LABELS,
    LATER_VARIABLES,
    VARIABLES,
)
from mbkit.results.result import Result

__all__ = ["FORMAT_VERSION", "Reader", "read_result"]

#: In the attribute "mbkit_result"; to be raised when an older reader would misread the file. Those
#: of version 1, which other programs may write, have no checksum.
FORMAT_VERSION = 2

#: Bytes of arrays that are read at once; larger results stay in the file.
AT_ONCE = 16 * 2**20

_DEFLATE, _SHUFFLE, _FLETCHER32 = 1, 2, 3

# Deflate expands a byte to 1032 bytes at most.
_MOST = 1100

_JSON = {"options": dict, "versions": dict, "position_units": list}
_ATTRIBUTES = ("completed", "message", "model", *_JSON)

# Those that files of earlier versions do not have, in JSON too.
_LATER = {"warnings": list, "outputs": list}


def _of_tables(path: pathlib.Path) -> str:
    """Return the text for errors on files that are written for other programs."""
    if path.suffix.lower() not in (".csv", ".xlsx", ".mat"):
        return ""
    return f" as .nc: {path.suffix} files are for other programs, and are not read again"


def read_result(
    path: pathlib.Path,
    *,
    stored: bool,
    checksum: str | None = None,
    written: bool = False,
    work: Mapping[str, Any] | None = None,
) -> Result:
    """Return the result in a file; ResultFileError if it is none.

    `stored` leaves large arrays in the file until they are looked at. Any other checksum than that
    of `add_checksum`, where one is given, is refused; if `written`, this process has just written
    the file, and need not compare it. `work` goes into the options of the result.
    """
    with Reader.opened(path, checksum, written=written) as reader:
        reader.check_contents()
        fields, places = reader.fields()
        fields["options"] = {**fields["options"], **(work or {})}
        small = sum(place.size for place in places.values()) <= AT_ONCE
        if small or not stored:
            names = list(places)
            arrays = {n: reader.source.read(places.pop(n), f"variable '{n}'") for n in names}
            fields |= arrays
        try:
            result = (
                StoredResult.over(reader.source, places, fields) if places else Result(**fields)
            )
        except (MbkitError, TypeError, ValueError, RecursionError) as error:
            raise ResultFileError(
                f"{reader.what} does not fit together: {printable(error)}"
            ) from error
        reader.source.check()
    if not reader.sealed:
        warnings.warn(
            f"{reader.what} has no checksum, since an earlier mbkit or another program wrote it: "
            "damage to its numbers would not be seen. Save the result anew.",
            ResultFileWarning,
            stacklevel=3,
        )
    return result


def _check_own(what: str, seal: str | None, expected: str | None) -> None:
    if expected is not None and seal != expected:
        raise ResultFileError(
            f"{what} is not the one that this run has written: it has {seal or 'no checksum'}, and "
            f"the manifest tells of {expected}. Put the file of this run back."
        )


@attrs.define(eq=False)
class Reader:
    """An open result file."""

    file: Any  # of h5py
    source: Source
    what: str
    sealed: bool
    unpacked: int = 0  # bytes that came of compressed variables

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: pathlib.Path, checksum: str | None, *, written: bool) -> Iterator[Reader]:
        """Open a file; whatever HDF5 raises within is an error of ours."""
        shown = f"'{printable(path)}'"
        what = f"Result file {shown}"
        if not os.path.isfile(path):
            raise ResultFileError(f"{what} does not exist; check its name and folder.")
        try:
            file = path.open("rb")
        except OSError as error:
            raise ResultFileError(f"{what} cannot be read: {error.strerror or error}.") from error
        try:
            source = Source(file, path)
            seal = checksum if written else checked(file, what)
            _check_own(what, seal, checksum)
            with HeldInterrupts():  # Ctrl-C in h5py may free memory twice
                import h5py

                try:
                    opened = h5py.File(file, "r")
                except (OSError, RuntimeError, ValueError) as error:
                    raise ResultFileError(
                        f"{shown} is not a netCDF 4 file, or a damaged one; give a file that mbkit "
                        f"saved{_of_tables(path)}."
                    ) from error
                with opened:
                    if not written:
                        check_heaps(file.fileno(), opened.id.get_create_plist().get_sizes(), what)
                    yield cls(opened, source, what, seal is not None)
        except (MbkitError, KeyboardInterrupt):
            raise
        except Exception as error:  # of h5py, which raises what comes
            raise ResultFileError(f"{what} is damaged: {printable(error)}") from error
        finally:
            file.close()

    # --------------------------------------------------------------------------- what is there

    def check_contents(self) -> None:
        """Raise ResultFileError unless everything is there that a result has."""
        if "mbkit_ensemble" in self.file.attrs:
            raise ResultFileError(
                f"{self.what} holds an ensemble of runs; read it by mbkit.load_ensemble."
            )
        if "mbkit_result" not in self.file.attrs:
            raise ResultFileError(
                f"{self.what} is a netCDF file, but not a result of mbkit: it has no attribute "
                "'mbkit_result'."
            )
        version = self.attribute("mbkit_result", int)
        if version > FORMAT_VERSION:
            raise ResultFileError(
                f"{self.what} has format {version}; this mbkit reads up to format "
                f"{FORMAT_VERSION}. Install a newer mbkit."
            )
        variables = ["time", *LABELS, *VARIABLES]
        missing = [
            f"variable '{name}'"
            for name in variables
            if not self.has(name) and name not in LATER_VARIABLES
        ]
        missing += [f"attribute '{name}'" for name in _ATTRIBUTES if name not in self.file.attrs]
        if missing:
            raise ResultFileError(f"{self.what} lacks {', '.join(missing)}.")
        if version >= FORMAT_VERSION and not self.sealed:
            raise ResultFileError(
                f"{self.what} has lost its checksum, which is its last line: it was cut, damaged, "
                "or written anew by another program. Take the file that mbkit saved; if you trust "
                "this one, set its attribute 'mbkit_result' to 1."
            )

    def has(self, name: str) -> bool:
        """Return whether there is a variable."""
        return self.file.get(name, getlink=True) is not None

    def fields(self) -> tuple[dict[str, Any], dict[str, Place]]:
        """Return the fields of a result: values, and places of arrays that were not read yet."""
        fields: dict[str, Any] = {}
        places: dict[str, Place] = {}
        names = {"t": "time", **{name: name for name in VARIABLES if self.has(name)}}
        if self.has("constraint"):
            fields["constraint_names"] = self.texts("constraint")
            names |= {name: name for name in CONSTRAINT_VARIABLES if self.has(name)}
        for field, name in names.items():
            found = self.numbers(name, must=name == "time")
            (places if isinstance(found, Place) else fields)[field] = found
        for label, field in LABELS.items():
            fields[field] = self.texts(label)
        if all(self.has(name) for name in EVENT_VARIABLES):
            fields["events"] = self.events()
        fields["completed"] = bool(self.attribute("completed", int))
        for name in _ATTRIBUTES[1:]:
            fields[name] = self.attribute(name, str)
        for name, kind in _JSON.items():
            fields[name] = self.json(name, fields[name], kind)
        for name, kind in _LATER.items():
            if name in self.file.attrs:
                fields[name] = self.json(name, self.attribute(name, str), kind)
        fields["outputs"] = self.outputs(fields.get("outputs", []))
        return fields, places

    def outputs(self, names: list[Any]) -> dict[str, Any]:
        """Return the outputs of the run, by name."""
        return {str(name): self.array(f"output_{k}", must=False) for k, name in enumerate(names)}

    def array(self, name: str, *, must: bool = True) -> Any:
        """Return an array, which is read now; `must` it have been written."""
        found = self.numbers(name, must=must)
        here = isinstance(found, Place)
        return self.source.read(found, f"variable '{name}'") if here else found

    def events(self) -> EventLog:
        """Return the log of events."""
        values: dict[str, Any] = {}
        for name, (field, _, _) in EVENT_VARIABLES.items():
            if field == "names":
                values[field] = self.texts(name)
            else:
                values[field] = self.array(name)
        return EventLog(**values)

    def json(self, name: str, text: str, kind: type) -> Any:
        """Return the content of the JSON text of an attribute."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ResultFileError(
                f"{self.what}: attribute '{name}' is not JSON: {error}."
            ) from error
        if not isinstance(value, kind):
            raise ResultFileError(
                f"{self.what}: attribute '{name}' must be {'a table' if kind is dict else 'a list'}"
                f" in JSON, got {value!r:.100}."
            )
        return value

    # --------------------------------------------------------------------------- its pieces

    def attribute(self, name: str, kind: type) -> Any:
        """Return an attribute that is a text or a whole number."""
        about = self.file.attrs.get_id(name)
        if math.prod(about.shape) != 1 or about.get_storage_size() > self.source.size:
            raise ResultFileError(f"{self.what}: attribute '{name}' must be a single value.")
        value = self.file.attrs[name]
        if isinstance(value, np.ndarray):
            value = value.reshape(-1)[0]
        if isinstance(value, bytes):
            value = value.decode()
        whole = isinstance(value, int | np.integer)
        if not (whole if kind is int else isinstance(value, str)):
            title = "a whole number" if kind is int else "a text"
            raise ResultFileError(
                f"{self.what}: attribute '{name}' must be {title}, got {value!r:.100}."
            )
        return kind(value)

    def dataset(self, name: str) -> Any:
        """Return a variable that lies in this file, which must be large enough for its shape."""
        import h5py

        if not isinstance(self.file.get(name, getlink=True), h5py.HardLink):
            raise self.refused(name, "is a link", "to another place, which may be another file")
        data = self.file[name]
        if not isinstance(data, h5py.Dataset):
            raise self.refused(name, "is no array", "")
        how = data.id.get_create_plist()
        if how.get_layout() == h5py.h5d.VIRTUAL or how.get_external_count() > 0:
            raise self.refused(name, "lies in other files", "(an external or a virtual dataset)")
        filters = [how.get_filter(k)[0] for k in range(how.get_nfilters())]
        if len(filters) > len(set(filters)) or not {*filters} <= {_DEFLATE, _SHUFFLE, _FLETCHER32}:
            raise self.refused(name, "is packed by unusual filters,", f"the numbers {filters}")
        if how.get_layout() == h5py.h5d.CHUNKED:
            chunk = math.prod(how.get_chunk()) * data.dtype.itemsize
            self.count(name, chunk, of=0)  # which takes memory whatever is in it
        return data

    def count(self, name: str, size: int, of: int = 1) -> None:
        """Raise ResultFileError if so many bytes more cannot have been packed into the file."""
        self.unpacked += of * size
        if max(size, self.unpacked) > _MOST * self.source.size:
            raise self.refused(
                name, f"claims {size} bytes,", f"which a file of {self.source.size} cannot hold"
            )

    def refused(self, name: str, why: str, more: str) -> ResultFileError:
        """Return the error about a variable."""
        return ResultFileError(
            f"{self.what}: variable '{name}' {why} {more}".rstrip()
            + "; give a file that mbkit saved."
        )

    def numbers(self, name: str, *, must: bool) -> Any:
        """Return an array, or where it is; `must` it have been written."""
        import h5py

        data = self.dataset(name)
        dtype = data.dtype
        if dtype.kind not in "fiu":
            raise self.refused(name, "must be of numbers,", f"and is of {dtype}")
        how = data.id.get_create_plist()
        if data.size and data.id.get_storage_size() == 0:
            if must:
                raise self.refused(name, "was never written", "")
            return np.broadcast_to(np.array(data.fillvalue, dtype), data.shape)
        plain = dtype in (np.dtype(np.float64), np.dtype(np.float32))
        in_one_piece = how.get_layout() == h5py.h5d.CONTIGUOUS and data.id.get_offset() is not None
        if plain and in_one_piece and data.id.get_type().equal(h5py.h5t.py_create(dtype)):
            return Place(data.id.get_offset(), data.shape, dtype)
        self.count(name, data.size * dtype.itemsize)
        return data[...]

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, which together are no longer than the file."""
        import h5py

        data = self.dataset(name)
        about = h5py.check_string_dtype(data.dtype)
        if data.ndim != 1 or about is None:
            raise self.refused(name, "must be a list of texts", "")
        self.count(name, data.size * data.dtype.itemsize)
        if data.size and data.id.get_storage_size() == 0:
            raise self.refused(name, "was never written", "")
        found: list[str] = []
        length = 0
        for first in range(0, data.size, _TEXTS):  # many may be one and the same long one
            for each in data[first : first + _TEXTS]:
                length += len(each)
                found.append(each.decode() if isinstance(each, bytes) else str(each))
            if length > self.source.size:
                raise self.refused(name, "has more text", "than the file can hold")
        return found


# How many texts are read at a time.
_TEXTS = 16
