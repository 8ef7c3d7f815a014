"""Calls of the compiled functions of a joint from Python."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.marks import traced_as
from mbkit.errors import ShapeError
from mbkit.spatial.arrays import FloatArray


def _run(function: Any, inputs: Sequence[Any], sizes: Sequence[int], kind: Any = object) -> Any:
    """Run the Python function that a compiled one was made from, on numbers of any kind."""
    written = [np.zeros(size, dtype=kind) for size in sizes]
    return function.function(0, *inputs, *written), written


@traced_as(_run)
def call(
    function: Any, inputs: Sequence[FloatArray], sizes: Sequence[int]
) -> tuple[int, list[FloatArray]]:
    """Call a function of the table of joints; see `mbkit.joints.JointKernels`.

    It reads `inputs`, in the order of its arguments behind the slot, and writes `sizes` numbers to
    the arguments behind these. Its status, 0 for success, and these results are
    returned. With traced numbers the function that it was compiled from is run, so that joints in
    Python may call mbkit's own.
    """
    from mbkit.kernels.compile import UNCOMPILED

    if UNCOMPILED:
        with np.errstate(all="ignore"):  # as compiled code
            status, written = _run(function, inputs, sizes, np.float64)
        return int(status), written
    memory = np.concatenate([*inputs, np.empty(sum(sizes))])
    first, ends = int(memory.ctypes.data), [0]
    for size in (*map(len, inputs), *sizes):
        ends.append(ends[-1] + size)
    places = [first + 8 * start for start in ends[:-1]]
    status = _at(function.address, len(places))(0, *places)
    pairs = zip(ends[len(inputs) :], ends[len(inputs) + 1 :], strict=False)
    return status, [memory[start:end] for start, end in pairs]


@functools.cache
def _at(address: int, count: int) -> Any:
    """Return a function by its address, with a slot and pointers; the interpreter stays locked."""
    form = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * count)
    return form(address)


def entries(value: Any, count: int, what: str) -> FloatArray:
    """Return an argument of a joint's method as floats; ShapeError unless it has `count` entries.

    Compiled code would read memory behind an array that is too short.
    """
    array = np.asarray(value, dtype=np.float64)
    if array.shape != (count,):
        raise ShapeError(f"{what} must have shape ({count},), got {array.shape}.")
    return array
