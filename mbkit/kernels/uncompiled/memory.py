"""Memory at addresses of lanes where nothing is compiled: arrays and records of `Numbers`.

The memory is that of compiled code, byte for byte, and the type of an address has the same meaning:
`mbkit.kernels.lanes.LanesAddress`. Numbers are copied as they are read, since they are values;
access beyond an array, or beyond the memory made for it, is an IndexError.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    as_dtype,
    numba,
    pointer_at,
    types,
)
from mbkit.kernels.uncompiled.numbers import Numbers, lanes_of


class Address(int):
    """An address of lanes, or of a record that has them.

    Attributes
    ----------
    kind : LanesAddress
        The type of the address in compiled code.
    """

    kind: Any

    def __new__(cls, address: int, kind: Any) -> Address:
        """Return the address."""
        made = super().__new__(cls, address)
        made.kind = kind
        return made


class Array:
    """An array of `Numbers`.

    Attributes
    ----------
    memory : ndarray, shape (..., width)
        The numbers, those of a lane in the last axis.
    """

    __slots__ = ("memory",)

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    @property
    def shape(self) -> tuple[int, ...]:
        """How many numbers there are along each axis."""
        return tuple(self.memory.shape[:-1])

    def reshape(self, *shape: Any) -> Array:
        """Return the same numbers in another order of axes."""
        lengths = shape[0] if isinstance(shape[0], tuple) else shape
        width = self.memory.shape[-1]
        if -1 in lengths:
            known = -math.prod(lengths)
            lengths = tuple(math.prod(self.shape) // known if n == -1 else n for n in lengths)
        found = self.memory.view()
        found.shape = (*lengths, width)  # a copy would not be written through
        return Array(found)

    @property
    def T(self) -> Array:
        """Rows as columns."""
        return Array(self.memory.swapaxes(0, 1))

    def of_sample(self, j: int) -> Any:
        """Return the doubles of one sample."""
        return self.memory[..., j]

    def __len__(self) -> int:
        return len(self.memory)

    def __getitem__(self, place: Any) -> Any:
        found = self.memory[place]
        if found.ndim > 1:
            return Array(found)
        if found.ndim == 0:
            raise IndexError("too many indices for an array of lanes")
        return Numbers(found.copy())

    def __setitem__(self, place: Any, value: Any) -> None:
        if isinstance(value, Array):
            value = value.memory
        elif isinstance(value, np.ndarray):
            value = value[..., np.newaxis]
        if self.memory[place].ndim == 0:
            raise IndexError("too many indices for an array of lanes")
        self.memory[place] = lanes_of(value)


class Records:
    """Records of lanes, as an array."""

    __slots__ = ("_kinds", "_rows")

    def __init__(self, rows: Any, kinds: dict[str, Any]) -> None:
        self._rows = rows
        self._kinds = kinds

    @property
    def shape(self) -> tuple[int]:
        """How many there are."""
        return (len(self._rows),)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Records(self._rows[place], self._kinds)
        return Record(self._rows[place], self._kinds)


class Record:
    """One of them: fields are attributes."""

    __slots__ = ("_kinds", "_row")

    def __init__(self, row: Any, kinds: dict[str, Any]) -> None:
        object.__setattr__(self, "_row", row)
        object.__setattr__(self, "_kinds", kinds)

    def __getattr__(self, name: str) -> Any:
        try:
            kind = self._kinds[name]
        except KeyError:
            raise AttributeError(f"the record has no field {name!r}") from None
        value = self._row[name]
        if kind is None:
            return value
        if kind is not Numbers:
            return Address(int(value), kind)
        return Numbers(value.copy()) if value.ndim == 1 else Array(value)

    def __setattr__(self, name: str, value: Any) -> None:
        self._row[name] = lanes_of(value)


@functools.cache
def _layout(record: Any, width: int) -> tuple[np.dtype[Any], dict[str, Any]]:
    """Return numpy's type of a record of lanes, and the types of its fields: `Record`."""
    names, formats, kinds = [], [], {}
    for name, field in record.members:
        nested = isinstance(field, types.NestedArray)
        number = field.dtype if nested else field
        kind, shape = None, field.shape if nested else ()
        if hasattr(number, "mask"):
            kind, shape, number = Numbers, (*shape, width), _element(number)
        elif hasattr(number, "record"):
            kind, number = number, np.dtype(np.int64)
        else:
            number = as_dtype(number)
        names.append(name)
        formats.append((number, shape))
        kinds[name] = kind
    offsets = [record.offset(name) for name in names]
    layout: Any = {
        "names": names, "formats": formats, "offsets": offsets, "itemsize": record.size,
    }  # fmt: skip
    return np.dtype(layout), kinds


@functools.cache
def _record_at(kind: Any, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], dict[str, Any]]:
    return _layout(kind.record(numba.from_dtype(dtype)), kind.number.width)


def _element(lanes: Any) -> np.dtype[Any]:
    return np.dtype(np.float64 if lanes.bits == 64 else np.float32)


def _bytes_at(address: int, count: int | None) -> Any:
    """Return memory that somebody has made for this address."""
    found = pointer_at(int(address)).reshape(-1).view(np.uint8)  # whatever it is, all of it
    if count is not None and len(found) < count:
        raise IndexError(f"{count} bytes of lanes where there are {len(found)}")
    return found[:count]


def numbers_at(address: Address, count: int) -> Array:
    """Return `count` numbers."""
    number = address.kind.number
    found = _bytes_at(address, count * number.bitwidth // 8)
    return Array(found.view(_element(number)).reshape(count, number.width))


def records_of_lanes_at(address: Address, count: int, dtype: np.dtype[Any]) -> Records:
    """Return `count` records."""
    layout, kinds = _record_at(address.kind, dtype)
    return Records(_bytes_at(address, count * layout.itemsize).view(layout), kinds)


def as_pointer(argument: Any, lanes: Any) -> Array:
    """Return the numbers that a pointer to lanes points to, in lanes or in their memory."""
    if isinstance(argument, Array):
        return argument.reshape(-1) if argument.memory.ndim > 2 else argument
    found = argument.view(np.uint8).view(_element(lanes))
    whole = len(found) // lanes.width
    return Array(found[: whole * lanes.width].reshape(whole, lanes.width))


def called_in_lanes(function: Callable[..., int], form: str, lanes: Any, space: Any) -> Any:
    """Return a function that gives arguments the types of such a form; see `address_in_lanes`."""
    kind = space(lanes)

    def call(*arguments: Any) -> int:
        return function(*map(as_declared, form, arguments))

    def as_declared(letter: str, argument: Any) -> Any:
        if letter == "s":
            return Address(argument, kind)
        if letter == "p":
            return as_pointer(argument, lanes)
        return int(argument) if letter == "i" else argument

    return call
