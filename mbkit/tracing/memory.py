"""The memory of a system as kernels see it, with traced numbers in the place of doubles.

Kernels find their arrays by addresses. Here the array at an address is copied at its first
use, doubles as objects, and found again by the same address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.autodiff.tape import CannotTraceError

__all__ = ["Mirror"]


class Mirror:
    """Arrays of objects by the addresses of arrays of doubles.

    Attributes
    ----------
    functions : dict of int to callable
        The functions called in the place of the compiled function at an address.
    """

    def __init__(self) -> None:
        self.functions: dict[int, Callable[..., int]] = {}
        self._arrays: dict[int, Any] = {}

    def put(self, address: int, array: Any) -> None:
        """Let an array of objects lie at an address."""
        self._arrays[int(address)] = array

    def knows(self, address: int) -> bool:
        """Return whether something lies at an address."""
        return int(address) in self._arrays

    def objects(self, dtype: Any, address: int, count: int) -> Any:
        """Return `count` entries at an address, copied if nothing was there yet."""
        address = int(address)
        known = self._arrays.get(address)
        if known is None or len(known) < count:
            known = self._arrays[address] = as_objects(memory_at(address, count, np.dtype(dtype)))
        return known[:count]

    # replacements of the functions of `mbkit.kernels.compile`

    def records_at(self, address: int, count: int, dtype: Any) -> Any:
        """Return records."""
        return self.objects(dtype, address, count)

    def floats_at(self, address: int, count: int) -> Any:
        """Return doubles."""
        return self.objects(np.float64, address, count)

    def integers_at(self, address: int, count: int) -> Any:
        """Return integers unchanged."""
        return memory_at(int(address), count, np.dtype(np.int64))

    def pointer_at(self, address: int) -> Any:
        """Return the array that was put at an address."""
        if not address:
            return np.zeros(0, dtype=object)
        if int(address) not in self._arrays:
            raise CannotTraceError("a joint in Python, or one that is searched for, closes a loop")
        return self._arrays[int(address)]

    def call_address(self, address: int, arguments: tuple[Any, ...]) -> int:
        """Call the replacement of the compiled function at an address; arrays arrive flat."""
        flat = (x.reshape(-1) if isinstance(x, np.ndarray) else x for x in arguments)
        function = self.functions.get(int(address))
        if function is None:
            raise CannotTraceError(
                "a joint or a constraint is in Python, or a configuration is searched for"
            )
        return int(function(*flat))


def memory_at(address: int, count: int, dtype: np.dtype[Any]) -> Any:
    """Return a copy of the array at an address."""
    size = max(1, count * dtype.itemsize)
    buffer: Any = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(buffer, dtype, count).copy()


def as_objects(array: Any) -> Any:
    """Return an array, structured or not, with doubles as objects."""
    if array.dtype.names is None:
        return array.astype(object) if array.dtype == np.float64 else array
    fields = []
    for name in array.dtype.names:
        field = array.dtype[name]
        fields.append((name, object if field.base == np.float64 else field.base, field.shape))
    made = np.zeros(array.shape, np.dtype(fields, align=True))
    for name in array.dtype.names:
        made[name] = array[name]
    return made.view(np.recarray)
