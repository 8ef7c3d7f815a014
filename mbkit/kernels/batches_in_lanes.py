"""Calls of functions by address for many samples, several at once in the lanes of registers."""

from typing import NamedTuple

from mbkit.kernels.batches import Call, SampleArrays, one_by_one
from mbkit.kernels.compile import (
    call_address,
    floats_at,
    helper,
    int64,
    kernel,
    pointer_at,
    typed,
)
from mbkit.kernels.status import OK


class LanesCall(NamedTuple):
    """What is called for `width` samples at once, and with what memory.

    Attributes
    ----------
    space, function, apply : int
        As for one sample, of lanes.
    width : int
        The number of lanes.
    q, v, x, wrenches, out : int
        Addresses of lanes for the arguments and the result.
    """

    space: int64
    function: int64
    apply: int64
    width: int64
    q: int64
    v: int64
    x: int64
    wrenches: int64
    out: int64


#: Numbers of a sample that go into lanes or out of them together: as many as a line of the cache.
_BLOCK = 8


@helper
def into_lanes(source, first, stride, count, width, address):
    """Let lane j of number k be that of sample first + j; lanes that are over repeat the last."""
    size = source.shape[1]
    target = floats_at(address, size * width)
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        for j in range(width):
            sample = source[(first + min(j, count - 1)) * stride]
            for k in range(start, end):
                target[k * width + j] = sample[k]


@helper
def from_lanes(address, target, first, count, width):
    """The way back, of `count` samples."""
    size = target.shape[1]
    source = floats_at(address, size * width)
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        for j in range(count):
            sample = target[first + j]
            for k in range(start, end):
                sample[k] = source[k * width + j]


@helper
def call_in_lanes(lanes, option, samples, first, count):
    """Call a function for `count` samples at once; return the status of them all."""
    width = lanes.width
    into_lanes(samples.q, first, samples.strides[0], count, width, lanes.q)
    into_lanes(samples.v, first, samples.strides[1], count, width, lanes.v)
    into_lanes(samples.x, first, samples.strides[2], count, width, lanes.x)
    q = pointer_at(lanes.q)
    v = pointer_at(lanes.v)
    out = pointer_at(lanes.out)
    if lanes.apply != 0:
        into_lanes(samples.wrenches, first, samples.strides[3], count, width, lanes.wrenches)
        status = call_address(lanes.apply, (lanes.space, 0, q, v, pointer_at(lanes.wrenches), out))
        if status != OK:
            return status
    status = call_address(lanes.function, (lanes.space, option, q, v, pointer_at(lanes.x), out))
    if status == OK:
        from_lanes(lanes.out, samples.out, first, count, width)
    return status


@kernel(int64(int64, typed(Call), typed(LanesCall), typed(SampleArrays), int64, int64), nogil=True)
def batch_in_lanes(space, call, lanes, samples, first, last):
    """As `batch`, several samples at once; where one of them fails they are called one by one."""
    s = first
    while s < last:
        if s > samples.limit[0]:
            return s
        end = min(s + lanes.width, last)
        if call_in_lanes(lanes, call.option, samples, s, end - s) == OK:
            for k in range(s, end):
                samples.statuses[k] = OK
        else:
            reached = one_by_one(space, call, samples, s, end)
            if reached != end:
                return reached
        s = end
    return last
