"""Calls of functions by address for many samples, several at once in the lanes of registers."""

from typing import NamedTuple

from mbkit.kernels.calls.batches import Call, SampleArrays, one_by_one
from mbkit.kernels.calls.transposition import transpose_eight, transpose_four
from mbkit.kernels.compile import (
    call_address,
    floats_at,
    helper,
    int64,
    integers_at,
    kernel,
    pointer_at,
    typed,
)
from mbkit.kernels.status import OK


class LanesCall(NamedTuple):
    """What is called for `width` samples at once, and with what memory.

    Attributes
    ----------
    space, function, apply, option : int
        As for one sample, of lanes.
    width : int
        The number of lanes.
    offsets : int
        Address of as many integers as a sample has results: where those are in `out`.
    q, v, x, wrenches, out : int
        Addresses of lanes for the arguments and the result.
    """

    space: int64
    function: int64
    apply: int64
    option: int64
    width: int64
    offsets: int64
    q: int64
    v: int64
    x: int64
    wrenches: int64
    out: int64


@helper
def squares_in(transpose, side, source, first, width, target):
    """Take whole squares of numbers and samples; the last may begin in the one before."""
    size = source.shape[1]
    for start in range(0, size, side):
        k = min(start, size - side)
        for j in range(0, width, side):
            rows = (first + j) * size + k, size
            transpose(source, rows, target, (width * k + j, width))


@helper
def into_lanes(source, first, stride, count, width, numbers_at, address):
    """Let lane j of number k be that of sample first + j; lanes that are over repeat the last."""
    size = source.shape[1]
    target = numbers_at(address, size * width)
    squares = count == width and stride == 1
    if squares and width >= 8 and size >= 8:
        squares_in(transpose_eight, 8, source, first, width, target)
    elif squares and size >= 4:
        squares_in(transpose_four, 4, source, first, width, target)
    else:
        for k in range(size):
            for j in range(width):
                target[k * width + j] = source[(first + min(j, count - 1)) * stride, k]


@helper
def squares_out(transpose, side, source, offsets, width, target, first):
    """The way back."""
    size = target.shape[1]
    for start in range(0, size, side):
        k = min(start, size - side)
        for j in range(0, width, side):
            transpose(source, (offsets, k, j), target, ((first + j) * size + k, size))


@helper
def from_lanes(source, offsets, width, target, first, count):
    """The way back, of `count` samples."""
    size = target.shape[1]
    if count == width and width >= 8 and size >= 8:
        squares_out(transpose_eight, 8, source, offsets, width, target, first)
    elif count == width and size >= 4:
        squares_out(transpose_four, 4, source, offsets, width, target, first)
    else:
        for j in range(count):
            for k in range(size):
                target[first + j, k] = source[offsets[k] + j]


@helper
def call_in_lanes(numbers_at, lanes, samples, out, first, count):
    """Call a function for `count` samples at once; return the status of them all.

    `numbers_at` is `floats_at` or `singles_at`, by the precision of the lanes and of `out`.
    """
    width = lanes.width
    strides = samples.strides
    into_lanes(samples.q, first, strides[0], count, width, numbers_at, lanes.q)
    into_lanes(samples.v, first, strides[1], count, width, numbers_at, lanes.v)
    into_lanes(samples.x, first, strides[2], count, width, numbers_at, lanes.x)
    q = pointer_at(lanes.q)
    v = pointer_at(lanes.v)
    x = pointer_at(lanes.x)
    found = pointer_at(lanes.out)
    if lanes.apply != 0:
        rows = samples.wrenches
        into_lanes(rows, first, strides[3], count, width, numbers_at, lanes.wrenches)
        W = pointer_at(lanes.wrenches)
        status = call_address(lanes.apply, (lanes.space, 0, q, v, W, found))
        if status != OK:
            return status
    status = call_address(lanes.function, (lanes.space, lanes.option, q, v, x, found))
    if status == OK:
        size = out.shape[1]
        source = numbers_at(lanes.out, (size + 1) * width)
        from_lanes(source, integers_at(lanes.offsets, size), width, out, first, count)
    return status


@kernel(int64(int64, typed(Call), typed(LanesCall), typed(SampleArrays), int64, int64), nogil=True)
def batch_in_lanes(space, call, lanes, samples, first, last):
    """As `batch`, several samples at once; where one of them fails they are called one by one."""
    s = first
    while s < last:
        if s > samples.limit[0]:
            return s
        end = min(s + lanes.width, last)
        if call_in_lanes(floats_at, lanes, samples, samples.out, s, end - s) == OK:
            for k in range(s, end):
                samples.statuses[k] = OK
        else:
            reached = one_by_one(space, call, samples, s, end)
            if reached != end:
                return reached
        s = end
    return last
