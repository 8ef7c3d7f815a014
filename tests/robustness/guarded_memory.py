"""Arrays that end where a page begins that nobody may read or write."""

from __future__ import annotations

import ctypes
import mmap
import weakref
from typing import Any

import numpy as np

__all__ = ["guarded", "guarded_copy"]

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mmap.argtypes = [
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
]  # fmt: skip
_libc.mmap.restype = ctypes.c_void_p


def guarded(*shape: int, dtype: Any = np.float64, before: bool = False) -> Any:
    """Return an array of NaN, or zeros, whose memory ends at a page without access.

    Parameters
    ----------
    *shape : int
        Its shape.
    dtype : dtype
        Its type.
    before : bool
        Whether it begins behind such a page instead.
    """
    made = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * made.itemsize
    page = mmap.PAGESIZE
    room = -(-max(size, 1) // page) * page
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    start = _libc.mmap(None, room + 2 * page, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    if start in (None, ctypes.c_void_p(-1).value):
        raise MemoryError(f"no room for {room} bytes between two pages without access")
    for edge in (start, start + page + room):
        if _libc.mprotect(edge, page, 0) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    first = start + page if before else start + page + room - size
    memory = (ctypes.c_char * size).from_address(first)
    weakref.finalize(memory, _libc.munmap, start, room + 2 * page)
    array = np.frombuffer(memory, dtype=made).reshape(shape)
    array.fill(np.nan if made.kind == "f" else 0)
    return array


def guarded_copy(array: Any) -> Any:
    """Return a copy of an array of numbers in such memory."""
    copy = guarded(*np.shape(array), dtype=np.asarray(array).dtype)
    copy[...] = array
    return copy
