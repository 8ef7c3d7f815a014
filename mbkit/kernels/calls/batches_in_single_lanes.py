"""Batches in lanes of single precision, of samples of double or of single precision."""

from mbkit.kernels.calls.batches_in_lanes import call_in_lanes
from mbkit.kernels.calls.chunks import take_chunks
from mbkit.kernels.calls.direct_calls import call_once
from mbkit.kernels.compile import address_kernel, floats_at, helper, singles_at
from mbkit.kernels.status import OK


@helper
def taken_into(room, first, row):
    """Write a row into the room for doubles, from `first` on; return where it is there."""
    size = row.shape[0]
    for k in range(size):
        room[first + k] = row[k]
    return room[first : first + size]


@helper
def one_in_double(seat, batch, samples, s):
    """Compute a sample in double precision, with its wrenches: see `in_single_lanes`."""
    steps = batch.steps
    sizes = batch.sizes
    room = floats_at(seat.room, sizes[0] + sizes[1] + sizes[2] + sizes[3] + batch.num_results)
    q = taken_into(room, 0, samples.q[s * steps[0]])
    v = taken_into(room, sizes[0], samples.v[s * steps[1]])
    x = taken_into(room, sizes[0] + sizes[1], samples.x[s * steps[2]])
    behind = sizes[0] + sizes[1] + sizes[2]
    wrenches = taken_into(room, behind, samples.wrenches[s * steps[3]])
    out = room[behind + sizes[3] :]
    status = call_once(seat.space, batch, (q, v, x, wrenches), out)
    if status == OK:
        for k in range(batch.num_results):
            samples.out[s, k] = out[k]
    return status


@helper
def are_finite(numbers):
    """Return whether all numbers are finite: then their differences from themselves are zero."""
    wrong = False
    for k in range(numbers.shape[0]):
        wrong |= numbers[k] - numbers[k] != 0.0
    return not wrong


@helper
def in_single_lanes(seat, batch, samples, first, last):
    """Call a function in lanes of single precision; where a group fails, sample by sample.

    Samples that fail are computed again in double precision, which finds the reason: a pivot may be
    rounding in single precision alone. So are samples that are not finite, as intermediate results
    may be out of the range of single precision.
    """
    s = first
    while s < last:
        if s > batch.limit:
            return s
        end = min(s + batch.width, last)
        together = call_in_lanes(singles_at, seat, batch, samples, s, end - s) == OK
        if not (together and are_finite(singles_at(seat.found, batch.num_results * batch.width))):
            for k in range(s, end):
                found = together or call_in_lanes(singles_at, seat, batch, samples, k, 1) == OK
                if found and are_finite(samples.out[k]):
                    continue
                status = one_in_double(seat, batch, samples, k)
                if status != OK:
                    seat.status = status
                    return k
        s = end
    return last


@address_kernel("ii")
def batch_of_doubles(seat, number):
    """Take chunks of the batch with this number, whose arguments are of double precision."""
    return take_chunks(seat, number, floats_at, singles_at, in_single_lanes)


@address_kernel("ii")
def batch_of_singles(seat, number):
    """Take chunks of the batch with this number, whose arguments are of single precision."""
    return take_chunks(seat, number, singles_at, singles_at, in_single_lanes)
