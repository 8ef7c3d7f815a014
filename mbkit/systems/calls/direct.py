"""Functions by address as methods in C, which Python calls without a dispatcher.

See `mbkit.kernels.calls.direct_calls`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["REFUSED", "direct_call", "direct_pair", "new_arrays"]

#: The status where an argument is no array of float64 of the shape in the record.
REFUSED = -1

#: A call: of the record of a workspace, the result, and the vectors; it returns the status.
Direct = Callable[..., int]

_METH_FASTCALL = 0x80
_METH_NOARGS = 0x4

#: PyArray_New among the functions that numpy lends to C, and float64 among its types.
_ARRAY_NEW = 93
_FLOAT64 = 12


class _Method(ctypes.Structure):
    """PyMethodDef of Python's C API."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


def direct_call(
    function: int, option: int, shapes: Sequence[tuple[int, ...] | None], apply: int = 0
) -> Direct:
    """Return ``call(record, out, q, v, x, wrenches)`` of a function of a system, or of fewer.

    `shapes` are those of the result and of the vectors, None for a vector that it does not read.
    The call returns the function's status, or `REFUSED` where an argument is anything else than an
    array of float64 of its shape that C reads as it is. `apply`: address of a kernel that leaves
    wrenches for the function, 0 if there are none.
    """
    from mbkit.kernels.compile import UNCOMPILED

    if UNCOMPILED:
        return _interpreted(function, option, shapes, apply)
    return _made("direct", _METH_FASTCALL, _record(function, option, shapes, apply))


def _record(
    function: int, option: int, shapes: Sequence[tuple[int, ...] | None], apply: int
) -> Any:
    """Return the array of a DIRECT record."""
    from mbkit.kernels.calls.direct_calls import DIRECT, NOT_READ

    own = np.zeros(1, DIRECT)
    call: Any = own[0]
    call["function"], call["apply"], call["option"] = function, apply, option
    call["shapes"] = NOT_READ
    for k, shape in enumerate(shapes):
        if shape is not None:
            call["shapes"][k, : 1 + len(shape)] = len(shape), *shape
    call["array_type"], call["number_type"], call["integer"] = _of_python()
    return own


def direct_pair(function: int, option: int, shapes: Sequence[tuple[int, ...]]) -> Direct:
    """Return ``call(record, first, second, q, v, x)`` of a function with two results of one shape.

    `shapes` are those of a result and of the three vectors. Else as `direct_call`; the function is
    given the addresses of the results, and where nothing is compiled it takes nothing.
    """
    from mbkit.kernels.compile import UNCOMPILED

    if UNCOMPILED:
        return lambda *objects: REFUSED
    return _made("direct_pair", _METH_FASTCALL, _record(function, option, shapes, 0))


def new_arrays(shape: tuple[int, ...]) -> Callable[[], Any]:
    """Return ``call()``, which returns ``numpy.empty(shape)`` in two thirds of the time.

    numpy.empty looks at its arguments for 0.06 us, a thirtieth of a call with seven bodies.
    """
    from mbkit.kernels.compile import UNCOMPILED

    if UNCOMPILED:
        return functools.partial(np.empty, shape)
    from mbkit.kernels.calls.direct_calls import NEW

    own = np.zeros(1, NEW)
    new: Any = own[0]
    new["make"], new["array_type"], new["number"] = _array_new(), id(np.ndarray), _FLOAT64
    new["num_axes"], new["shape"][: len(shape)] = len(shape), shape
    return _made("new_array", _METH_NOARGS, own)


def _made(name: str, flags: int, own: Any) -> Callable[..., Any]:
    """Return a function of `mbkit.kernels.calls.direct_calls` as a method of the array `own`."""
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = ctypes.POINTER(_Method), ctypes.py_object, ctypes.c_void_p
    made: Callable[..., Any] = make(ctypes.byref(_method(name, flags)), own, None)  # keeps `own`
    return made


@functools.cache
def _method(name: str, flags: int) -> _Method:
    """Return the definition of a method, which its calls share; it must live as long as they do."""
    from mbkit.kernels.calls import direct_calls

    return _Method(name.encode(), getattr(direct_calls, name).address, flags, None)


@functools.cache
def _array_new() -> int:
    """Return the address of PyArray_New."""
    umath: Any = importlib.import_module("numpy._core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = (ctypes.c_void_p * (_ARRAY_NEW + 1)).from_address(pointer(umath._ARRAY_API, None))
    address = table[_ARRAY_NEW]
    assert address is not None
    return address


@functools.cache
def _of_python() -> tuple[int, int, int]:
    """Return the addresses of the type of arrays and of PyLong_FromSsize_t, and float64's word.

    The word of the dtype describes its numbers, and is the second of the tuple.
    """
    from mbkit.kernels.calls.direct_calls import NUMBER_TYPE, WITHOUT_FLAGS

    word = ctypes.c_int64.from_address(id(np.dtype(np.float64)) + 8 * NUMBER_TYPE)
    integer = ctypes.cast(ctypes.pythonapi.PyLong_FromSsize_t, ctypes.c_void_p).value
    assert integer is not None
    return id(np.ndarray), word.value & WITHOUT_FLAGS, integer


def _interpreted(
    function: int, option: int, shapes: Sequence[tuple[int, ...] | None], apply: int
) -> Direct:
    """As `direct_call`, where nothing is compiled."""
    from mbkit.kernels.calls.direct_calls import VECTORS, Called, interpreted
    from mbkit.kernels.compile import array_address

    own = [*shapes, *[None] * (1 + VECTORS - len(shapes))]
    called = Called(function, apply, option)

    def call(record: Any, out: Any, *vectors: Any) -> int:
        given = [out, *vectors]
        given += given[1:2] * (len(own) - len(given))
        for k, shape in enumerate(own):
            if shape is None:
                given[k] = given[1]  # a vector that is read, in place of one that is not
            elif type(given[k]) is not np.ndarray or given[k].shape != shape:
                return REFUSED
        kernel = interpreted(tuple(each.ndim for each in given))
        try:
            return int(kernel(array_address(record), called, *given))
        except (TypeError, ValueError, OverflowError):  # numbers of another type
            return REFUSED

    return call
