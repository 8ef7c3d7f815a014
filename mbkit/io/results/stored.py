"""Results whose arrays are read from their file where they are first looked at."""

from __future__ import annotations

import math
import os
import pathlib
import weakref
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import ResultFileError, printable
from mbkit.results.result import Result


@attrs.frozen
class Place:
    """Where an array lies in a file, in one piece."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Its bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


class Source:
    """A file that was checked once, and must not have changed since.

    The file is read, and not mapped into memory: where another program cuts a file that is mapped,
    the operating system ends the process that looks at it (SIGBUS).
    """

    def __init__(self, file: Any, path: pathlib.Path) -> None:
        self._handle, self._path = os.dup(file.fileno()), path
        weakref.finalize(self, os.close, self._handle)
        self._stamp = self._now()

    def _now(self) -> tuple[int, int]:
        status = os.fstat(self._handle)
        return status.st_size, status.st_mtime_ns

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._stamp[0]

    def check(self) -> None:
        """Raise ResultFileError if the file was written to since it was opened."""
        if self._now() != self._stamp:
            raise ResultFileError(
                f"Result file '{printable(self._path)}' was changed while it was open; load it "
                "again."
            )

    def read(self, place: Place, what: str) -> Any:
        """Return an array, read-only."""
        if place.offset + place.size > self.size:
            raise ResultFileError(
                f"Result file '{printable(self._path)}' is damaged: {what} ends behind the file."
            )
        if place.size > _memory():
            raise ResultFileError(
                f"Result file '{printable(self._path)}': {what} has {place.size / 2**30:.1f} GiB, "
                "more than the memory of this machine; read a part of it by xarray: "
                "xarray.open_dataset(file, engine='h5netcdf')[name][first:last]."
            )
        array = np.empty(place.shape, place.dtype)
        rest = memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        at = place.offset
        while rest:
            count = os.preadv(self._handle, [rest], at)
            if count == 0:
                break
            rest, at = rest[count:], at + count
        self.check()
        array.setflags(write=False)
        return array


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 2**63


class StoredResult(Result):
    """A result whose arrays stay in its file until they are looked at, each for itself.

    Then it is read whole and kept. The file may be replaced or deleted in the meantime, but not
    written to: that is a ResultFileError.
    """

    __slots__ = ("_places", "_source")

    _places: Mapping[str, Place]
    _source: Source

    @classmethod
    def over(cls, source: Source, places: Mapping[str, Place], fields: dict[str, Any]) -> Result:
        """Return a result of fields, with the arrays at their places."""
        shapes: dict[str, Any] = {
            name: np.broadcast_to(np.zeros((), place.dtype), place.shape)
            for name, place in places.items()
        }
        run = cls(**fields, **shapes)
        object.__setattr__(run, "_source", source)
        object.__setattr__(run, "_places", places)
        for name in places:  # so that looking at it calls __getattr__
            object.__delattr__(run, name)
        return run

    def __getattr__(self, name: str) -> Any:
        """Read an array that was not looked at before."""
        try:
            places = object.__getattribute__(self, "_places")
        except AttributeError:
            places = {}
        if name not in places:
            raise AttributeError(f"'Result' object has no attribute '{name}'")
        array = self._source.read(places[name], f"variable '{name}'")
        object.__setattr__(self, name, array)
        return array
