"""Records that kernels are given by their address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["Record"]

_EMPTY: Mapping[str, int] = {}


class Record:
    """A record for kernels: numbers, addresses of functions, and arrays by their addresses.

    Parameters
    ----------
    dtype : dtype
        Its fields.
    floats, integers : dict of str to int
        Fields that are new arrays of so many zeros. They lie side by side: numpy takes 1 us to tell
        the address of an array.
    **fields : int, float, ndarray or Record
        What the others are, 0 if not given. Arrays and other records live as long as the record.
    """

    address: int  # of the record

    def __init__(
        self,
        dtype: np.dtype[Any],
        *,
        floats: Mapping[str, int] = _EMPTY,
        integers: Mapping[str, int] = _EMPTY,
        **fields: Any,
    ) -> None:
        from mbkit.kernels.compile import array_address

        self._fields = fields
        self._parts: list[Any] = []
        values: dict[str, Any] = dict.fromkeys(dtype.names or (), 0)
        known = len(values)
        for name, each in fields.items():
            if isinstance(each, np.ndarray):
                values[name] = array_address(each)
            else:
                values[name] = each.address if isinstance(each, Record) else each
        for sizes, kind in ((floats, np.float64), (integers, np.int64)):
            if sizes:
                self._add(values, sizes, kind)
        assert len(values) == known, f"no fields of the record: {', '.join([*values][known:])}"
        self._record = np.array([tuple(values.values())], dtype)
        self.address = array_address(self._record)

    def _add(self, values: dict[str, Any], sizes: Mapping[str, int], kind: Any) -> None:
        """Let fields be parts of one new array; none has the address of the next."""
        from mbkit.kernels.compile import UNCOMPILED, array_address

        memory = np.zeros(sum(sizes.values()) + len(sizes), kind)
        first, address = 0, array_address(memory)
        for name, size in sizes.items():
            self._fields[name] = memory[first : first + size]
            if UNCOMPILED:  # arrays are found again by their addresses while they live
                self._parts.append(memory[first : first + (size or 1)])
                values[name] = array_address(self._parts[-1])
            else:
                values[name] = address + 8 * first
            first += size or 1

    def __getitem__(self, name: str) -> Any:
        """Return a field as it was given, 0 where it was not."""
        return self._fields.get(name, 0)
