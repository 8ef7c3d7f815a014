"""Arrays of other numbers in the place of doubles, where Python runs the kernels.

A system, its workspace and a time loop are made as ever, of doubles. From then on kernels get for
each array its twin, which has the same shape and other numbers, and views of it the same views of
the twin. So all of a run, with constraints and Newton's method, is on those numbers; its results
are in the twins.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mbkit.kernels.compile import UNCOMPILED, let_twins_in
from mbkit.studies.laboratory.counting.number_types import orthonormal

#: Fields of structured arrays that hold rotations.
ROTATIONS = ("R", "place_R")


class _Record:
    """A row of a structured array: its fields are attributes."""


class Records(list):  # type: ignore[type-arg]
    """The rows of a structured array, as the kernels take them: ten times faster than recarrays."""

    @property
    def shape(self) -> tuple[int]:
        """How many there are."""
        return (len(self),)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Records(found) if isinstance(index, slice) else found


class Twins:
    """The twins of all arrays that kernels have seen while these were `in_use`.

    Parameters
    ----------
    number : callable
        Makes a number of a float. Any type will do that has the operators +, -, *, /, < and ==,
        also with floats and integers, and the functions of `mbkit.kernels.elementary`.
    exact : sequence of tuple of ndarray
        Pairs of doubles and of numbers: an array that is equal to the doubles has these numbers.
    """

    def __init__(
        self, number: Callable[[float], Any], exact: Sequence[tuple[Any, Any]] = ()
    ) -> None:
        if not UNCOMPILED:
            raise RuntimeError("other numbers than doubles need NUMBA_DISABLE_JIT=1")
        self.number = number
        self._exact = exact
        self._made: dict[int, tuple[Any, Any]] = {}

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Let kernels see twins."""
        let_twins_in(self.of)
        try:
            yield
        finally:
            let_twins_in(None)

    def of(self, argument: Any) -> Any:
        """Return the twin of an array; numbers, arrays of integers and of objects are their own."""
        if not isinstance(argument, np.ndarray) or argument.dtype in (np.int64, object):
            return argument
        owner = argument
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        twin = self._of_owner(owner)
        if argument is owner or isinstance(twin, Records):
            return twin
        first = (argument.ctypes.data - owner.ctypes.data) // owner.itemsize
        return np.lib.stride_tricks.as_strided(
            twin.reshape(-1)[first:], argument.shape, argument.strides
        )

    def _of_owner(self, owner: Any) -> Any:
        if id(owner) not in self._made:
            make = self._vector if owner.dtype.names is None else self._records
            self._made[id(owner)] = owner, make(owner)
        return self._made[id(owner)][1]

    def _vector(self, array: Any) -> Any:
        twin = np.empty(array.shape, dtype=object)
        for doubles, exact in self._exact:
            if np.array_equal(doubles, array):
                twin[...] = exact
                return twin
        twin.flat[:] = [self.number(float(x)) for x in array.flat]
        return twin

    def _records(self, array: Any) -> Records:
        records = Records()
        for row in array.reshape(-1):
            records.append(record := _Record())
            for name in array.dtype.names:
                value = row[name]
                if isinstance(value, np.ndarray):
                    value = self._vector(value) if value.dtype == np.float64 else value.copy()
                    is_rotation = name in ROTATIONS and row[name].any()  # or nobody has written it
                    value = orthonormal(value) if is_rotation else value
                elif isinstance(value, np.floating):
                    value = self.number(float(value))
                else:
                    value = int(value)
                setattr(record, name, value)
        return records
