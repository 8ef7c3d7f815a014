"""The memory of batches that several threads compute."""

from __future__ import annotations

import ctypes
import os
import struct
from typing import Any

import numpy as np

from mbkit.kernels.calls.chunks import BATCH, NUMBER, SEAT
from mbkit.kernels.compile import UNCOMPILED, array_address

__all__ = ["SharedBatch"]

#: A line of the cache, in integers.
_LINE = 8

#: The place of this field among the integers of a BATCH, after those that stay as they are.
_LIMIT = BATCH.fields["limit"][1] // 8  # type: ignore[index]

#: Writes the integers from there on, in a third of the time that numpy takes.
_FROM_LIMIT = struct.Struct(f"{BATCH.itemsize // 8 - _LIMIT}q")


#: Where an array of numpy has the address of its data: after the header of all Python objects.
_DATA = object.__basicsize__

_integer_at = ctypes.c_int64.from_address


def _address(array: Any) -> int:
    """Return the address of the data of a numpy array, in a ninth of `array_address`'s time."""
    return array_address(array) if UNCOMPILED else int(_integer_at(id(array) + _DATA).value)


class SharedBatch:
    """The memory of a batch: its arguments, and a seat for each thread that takes part.

    It is used for one batch after the other, and never freed: a thread that comes late looks at it,
    and finds a batch of another number.

    Attributes
    ----------
    number : int
        Of the batch that is computed, or comes next.
    address : int
        Of the record.
    seats : list of ndarrays of SEAT, shape (1,)
        The first belongs to the caller, the others to waiting threads by their numbers.
    """

    def __init__(self) -> None:
        self.number = 1
        self._record = np.zeros(1, dtype=BATCH)
        self._words = self._record.view(np.int64)
        # in lines of the cache of their own
        counters = np.zeros(2 * _LINE + 1, dtype=np.int64)
        self._next, self._finished = counters[:1], counters[2 * _LINE :]
        record: Any = self._record[0]
        record["next"] = array_address(self._next)
        record["finished"] = array_address(self._finished)
        self.address = array_address(self._record)
        self.seats: list[Any] = []
        self.addresses: list[int] = []
        _every.append(self)

    @staticmethod
    def take() -> SharedBatch:
        """Return memory that no batch uses."""
        try:
            return _unused.pop()
        except IndexError:
            return SharedBatch()

    def begin(self, numbers: tuple[int, ...], vectors: tuple[Any, ...], out: Any) -> None:
        """Write the arguments: the fields of BATCH from `limit` to `option_in_lanes`, arrays."""
        q, v, x, wrenches = vectors
        shapes = q.shape, v.shape, x.shape, wrenches.shape
        _FROM_LIMIT.pack_into(
            self._words.data, 8 * _LIMIT, *numbers,
            *[count > 1 for count, _ in shapes],
            _address(q), _address(v), _address(x), _address(wrenches),
            *[count for count, _ in shapes],
            *[size for _, size in shapes],
            _address(out), out.shape[1],
        )  # fmt: skip
        self._finished[0] = 0
        self._next[0] = self.number * NUMBER

    def sit(self, k: int, space: int, in_lanes: tuple[int, ...]) -> int:
        """Prepare a seat and return its address; `in_lanes` are the fields behind `status`.

        The caller draws one chunk at a time: between two of them Ctrl-C is heard.
        """
        while k >= len(self.seats):
            self.seats.append(np.zeros(1, dtype=SEAT))
            self.addresses.append(array_address(self.seats[-1]))
        words = self.seats[k].view(np.int64)
        most = 1 if k == 0 else NUMBER
        words[: 5 + len(in_lanes)] = self.address, most, space, -1, 0, *in_lanes
        return self.addresses[k]

    def stop(self) -> None:
        """Let all threads stop at their next sample."""
        self._words[_LIMIT] = -1

    def give_back(self) -> None:
        """Leave the memory to another batch, when this one has ended."""
        self.number += 1
        _unused.append(self)


_every: list[SharedBatch] = []
_unused: list[SharedBatch] = []


def _forget() -> None:
    _every.clear()
    _unused.clear()


# Memory shared with threads is of no use after a fork, which they do not survive.
os.register_at_fork(after_in_child=_forget)
