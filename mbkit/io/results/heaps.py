"""The texts of an HDF5 file lie in heaps, whose damage HDF5 may run after without end.

A heap is a row of objects, each with its length before it. HDF5 goes on from one to the next by
these lengths; where one is zero it stays where it is, for ever. Hence they are looked at first.

Source: HDF5 File Format Specification, version 3.0, III.E, "Disk Format: Level 1E - Global Heap".
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

from mbkit.errors import ResultFileError

#: Signature, version 1 and three zeros; the size of the heap, all of it, follows.
_HEAP = b"GCOL\x01\x00\x00\x00"
_HEAD = 16  # bytes, of a heap as of an object

#: Index of an object, how often it is used, four zeros, and how many bytes it has. Index 0 is the
#: rest of the heap, and counts its own head.
_OBJECT = struct.Struct("<HHIQ")

_BLOCK = 2**20


def check_heaps(handle: int, sizes: tuple[int, int], what: str) -> None:
    """Raise ResultFileError if HDF5 would not come to the end of a heap of a file.

    It is open for reading; `sizes` are the bytes of its addresses and of its lengths.
    """
    if sizes != (8, 8):
        raise _refused(what, f"addresses and lengths have {sizes} bytes, and not 8")
    room = os.fstat(handle).st_size
    for place in _heaps(handle):
        size = _size(os.pread(handle, _HEAD, place))
        if size > room:
            raise _refused(what, f"the texts at byte {place} are more than the file can hold")
        room -= size
        content = os.pread(handle, size, place)
        at = _HEAD
        while at + _HEAD <= len(content):
            index, _, _, length = _OBJECT.unpack_from(content, at)
            step = length if index == 0 else _HEAD + (length + 7) // 8 * 8
            if step % 2**64 == 0:
                raise _refused(what, f"a text at byte {place + at} has no length")
            at += step


def _refused(what: str, why: str) -> ResultFileError:
    return ResultFileError(f"{what} is damaged: {why}; give a file that mbkit saved.")


def _size(head: bytes) -> int:
    return int(struct.unpack_from("<Q", head, 8)[0]) if len(head) == _HEAD else 0


def _heaps(handle: int) -> Iterator[int]:
    """Yield where heaps begin; in numbers these eight bytes are not to be expected."""
    start, kept = 0, b""
    while block := os.pread(handle, _BLOCK, start):
        joined = kept + block
        at = joined.find(_HEAP)
        while at >= 0:
            yield start - len(kept) + at
            at = joined.find(_HEAP, at + 1)
        start += len(block)
        kept = joined[-(len(_HEAP) - 1) :]
