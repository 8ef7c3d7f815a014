"""Calls from Python by C's convention: arrays are read at the addresses of Python's objects.

A dispatcher of numba finds the type of each argument, and makes a record of each array: 0.05 us for
each of them, a third of the time of the inverse dynamics of seven bodies. The function here is
called as a method in C (METH_FASTCALL), with the addresses of objects. It reads type, shape and
numbers of an array at offsets that numpy publishes (PyArrayObject_fields, ndarraytypes.h).
"""

import functools
from typing import NamedTuple

import numpy as np

from mbkit.kernels.compile import (
    address_kernel,
    call_address,
    floats,
    floats_at,
    helper,
    int64,
    integers_at,
    kernel,
    matrix,
    records_at,
    stack,
    typed,
)
from mbkit.kernels.status import OK

#: The status where an argument is no array of float64 of the shape in the record.
REFUSED = -1

#: The most vectors that a function reads: q, v, x and wrenches.
VECTORS = 4

#: The most axes of one.
AXES = 3

#: In the place of the number of axes, of what a function does not read.
NOT_READ = -1

#: A call from Python: shapes are those of the result and of the vectors, the number of axes first.
DIRECT = np.dtype(
    [
        ("function", np.int64),
        ("apply", np.int64),
        ("option", np.int64),
        ("shapes", np.int64, (1 + VECTORS, 1 + AXES)),
        ("array_type", np.int64),  # the address of the type of arrays
        ("number_type", np.int64),  # the word of a dtype of float64 that describes its numbers
        ("integer", np.int64),  # the address of the function of C that makes an integer of Python
        ("results", np.float64, 2),  # the addresses of two results
    ]
)

# The words of an object, after what all objects have; the last of those is its type.
HEADER = object.__basicsize__ // 8
_TYPE = HEADER - 1
_DATA, _NUM_AXES, _SHAPE, _DTYPE, _FLAGS = HEADER, HEADER + 1, HEADER + 2, HEADER + 5, HEADER + 6

# Of a dtype: kind, letter and order of bytes, then flags, which are not compared, then a number.
NUMBER_TYPE = HEADER + 1
WITHOUT_FLAGS = ~(0xFF << 24)

_LOW = 0xFFFFFFFF  # of a word that holds a C int
_USUAL = 0x1 | 0x100 | 0x400  # flags: contiguous in C's order, aligned, writeable


@helper
def numbers_of(call, k, array):
    """Return the address of the numbers of an array; 0 where it is not one of the k-th shape.

    Of an object that is not read, its own: it is an address too.
    """
    shape = call.shapes[k]
    if shape[0] == NOT_READ:
        return array
    if integers_at(array, HEADER)[_TYPE] != call.array_type:
        return 0
    words = integers_at(array, _FLAGS + 1)
    if words[_FLAGS] & _USUAL != _USUAL:
        return 0
    number_type = integers_at(words[_DTYPE], NUMBER_TYPE + 1)[NUMBER_TYPE]
    if number_type & WITHOUT_FLAGS != call.number_type:
        return 0
    if words[_NUM_AXES] & _LOW != shape[0]:
        return 0
    lengths = integers_at(words[_SHAPE], shape[0])
    for axis in range(shape[0]):
        if lengths[axis] != shape[1 + axis]:
            return 0
    return words[_DATA]


class Called(NamedTuple):
    """Addresses: the function called for one sample; one called before it with wrenches, or 0."""

    function: int64
    apply: int64
    option: int64


@helper
def call_once(space, call, vectors, out):
    """Call a function for one sample; `call` has the fields of `Called`. Return the status.

    The vectors are q, v, x and wrenches; they and `out` are arrays, or all addresses.
    """
    q, v, x, wrenches = vectors
    status = OK
    if call.apply != 0:
        status = call_address(call.apply, (space, 0, q, v, wrenches, out))
    if status == OK:
        status = call_address(call.function, (space, call.option, q, v, x, out))
    return status


@helper
def called(call, objects, count):
    """Call the function of `direct` on the arrays of a Python call; return the status."""
    space = integers_at(objects[0], _DATA + 1)[_DATA]
    out = numbers_of(call, 0, objects[1])
    q = numbers_of(call, 1, objects[2])
    if out == 0 or q == 0:
        return REFUSED
    v = x = wrenches = q  # what is not read may be anything
    if count > 3:
        v = numbers_of(call, 2, objects[3])
    if count > 4:
        x = numbers_of(call, 3, objects[4])
    if count > 5:
        wrenches = numbers_of(call, 4, objects[5])
    if v == 0 or x == 0 or wrenches == 0:
        return REFUSED
    return call_once(space, call, (q, v, x, wrenches), out)


@address_kernel("iii")
def direct(own, arguments, count):
    """Call a function by address for (workspace's record, out, q, v, x, wrenches), some of these.

    `own` is the array of a DIRECT record. Returns the status, as the object that Python is given.
    """
    call = records_at(integers_at(own, _DATA + 1)[_DATA], 1, DIRECT)[0]
    status = called(call, integers_at(arguments, count), count)
    return call_address(call.integer, (status,))


#: Where a record of a call has the addresses of two results.
_RESULTS = DIRECT.fields["results"][1]  # type: ignore[index]


@helper
def called_for_two(call, results, objects):
    """Call the function of `direct_pair` on the arrays of a Python call; return the status."""
    space = integers_at(objects[0], _DATA + 1)[_DATA]
    q = numbers_of(call, 1, objects[3])
    v = numbers_of(call, 2, objects[4])
    x = numbers_of(call, 3, objects[5])
    if q == 0 or v == 0 or x == 0:
        return REFUSED
    addresses = floats_at(results, 2)
    addresses[0] = numbers_of(call, 0, objects[1])
    addresses[1] = numbers_of(call, 0, objects[2])
    return call_address(call.function, (space, call.option, q, v, x, results))


@address_kernel("iii")
def direct_pair(own, arguments, count):
    """As `direct`, for (workspace's record, first, second, q, v, x): two results of one shape.

    The function is given the addresses of both results, as numbers of floating point. It reads
    them before it calls Python, where another thread may begin the same call.
    """
    address = integers_at(own, _DATA + 1)[_DATA]
    call = records_at(address, 1, DIRECT)[0]
    status = called_for_two(call, address + _RESULTS, integers_at(arguments, count))
    return call_address(call.integer, (status,))


#: An array to be made: the function of numpy that makes it (PyArray_New), and its arguments.
NEW = np.dtype(
    [
        ("make", np.int64),
        ("array_type", np.int64),
        ("num_axes", np.int64),
        ("number", np.int64),  # of float64 among numpy's types
        ("shape", np.int64, AXES),
    ]
)

#: Where a record has it.
_SHAPE_OF_NEW = 4 * 8


@address_kernel("ii")
def new_array(own, _none):
    """Return a new array; `own` is the array of a NEW record, at whose end its shape is.

    0 where there is no memory; numpy has then set Python's error.
    """
    address = integers_at(own, _DATA + 1)[_DATA]
    new = records_at(address, 1, NEW)[0]
    shape = address + _SHAPE_OF_NEW
    # no strides, no memory of ours, no size of an item, no flags, no object
    return call_address(new.make, (new.array_type, new.num_axes, shape, new.number, 0, 0, 0, 0, 0))


@functools.cache
def interpreted(axes):
    """Return the same for arrays of so many axes each, in Python, where nothing is compiled."""
    kinds = [(floats, matrix, stack)[count - 1] for count in axes]
    return kernel(int64(int64, typed(Called), *kinds))(_called)


def _called(space, call, out, *vectors):
    return call_once(space, call, vectors, out)
