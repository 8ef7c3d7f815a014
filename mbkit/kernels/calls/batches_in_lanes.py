"""Calls of functions by address for many samples, several at once in the lanes of registers."""

from mbkit.kernels.calls.chunks import one_by_one, take_chunks
from mbkit.kernels.calls.transposition import transpose_eight, transpose_four
from mbkit.kernels.compile import (
    address_kernel,
    call_address,
    floats_at,
    helper,
    integers_at,
    pointer_at,
)
from mbkit.kernels.status import OK


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
def into_lanes(source, samples, stride, width, target):
    """Let lane j of number k be that of sample first + j; lanes that are over repeat the last.

    The samples are the first and their count.
    """
    first, count = samples
    size = source.shape[1]
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
def squares_out(transpose, side, lanes, width, target, first):
    """The way back; of lanes the numbers, and where each of them begins."""
    source, offsets = lanes
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
        squares_out(transpose_eight, 8, (source, offsets), width, target, first)
    elif count == width and size >= 4:
        squares_out(transpose_four, 4, (source, offsets), width, target, first)
    else:
        for j in range(count):
            for k in range(size):
                target[first + j, k] = source[offsets[k] + j]


@helper
def call_in_lanes(numbers_at, seat, batch, samples, first, count):
    """Call a function for `count` samples at once; return the status of them all.

    `numbers_at` is `floats_at` or `singles_at`, by the precision of the lanes and of the results.
    """
    width = batch.width
    steps = batch.steps
    lanes = seat.lanes
    own = first, count
    into_lanes(samples.q, own, steps[0], width, numbers_at(lanes[0], samples.q.shape[1] * width))
    into_lanes(samples.v, own, steps[1], width, numbers_at(lanes[1], samples.v.shape[1] * width))
    into_lanes(samples.x, own, steps[2], width, numbers_at(lanes[2], samples.x.shape[1] * width))
    space = seat.space_in_lanes
    q = pointer_at(lanes[0])
    v = pointer_at(lanes[1])
    x = pointer_at(lanes[2])
    found = pointer_at(seat.found)
    if batch.apply_in_lanes != 0:
        rows = samples.wrenches
        into_lanes(rows, own, steps[3], width, numbers_at(lanes[3], rows.shape[1] * width))
        wrenches = pointer_at(lanes[3])
        status = call_address(batch.apply_in_lanes, (space, 0, q, v, wrenches, found))
        if status != OK:
            return status
    function, option = batch.function_in_lanes, batch.option_in_lanes
    status = call_address(function, (space, option, q, v, x, found))
    if status == OK:
        size = batch.num_results
        source = numbers_at(seat.found, (size + 1) * width)
        from_lanes(source, integers_at(seat.offsets, size), width, samples.out, first, count)
    return status


@helper
def in_lanes(seat, batch, samples, first, last):
    """Call a function in lanes; where a sample fails, its group is called one by one."""
    s = first
    while s < last:
        if s > batch.limit:
            return s
        end = min(s + batch.width, last)
        if call_in_lanes(floats_at, seat, batch, samples, s, end - s) != OK:
            reached = one_by_one(seat, batch, samples, s, end)
            if reached != end:
                return reached
        s = end
    return last


@address_kernel("ii")
def batch_in_lanes(seat, number):
    """Take chunks of the batch with this number, several samples at once."""
    return take_chunks(seat, number, floats_at, floats_at, in_lanes)
