"""Calls of functions by address for many samples, in chunks that several threads may draw.

Every function has the form of `mbkit.kernels.evaluation_form`. What it does not read is given
anyway, as any array. Calls of one sample: `mbkit.kernels.calls.direct_calls`; of several at once:
`mbkit.kernels.calls.batches_in_lanes`; how threads wait for a batch:
`mbkit.kernels.calls.spin_waits`.

The memory that threads share is used for one batch after the other and never freed, so that a
thread which comes late finds that its batch has ended: batches are numbered, and a chunk is drawn
of the batch with that number or not at all.
"""

from typing import Any, NamedTuple

import numpy as np

from mbkit.kernels.calls.atomics import add_to, read, replace
from mbkit.kernels.calls.direct_calls import VECTORS, call_once
from mbkit.kernels.compile import (
    address_kernel,
    call_address,
    floats_at,
    helper,
    int64,
    kernel,
    records_at,
)
from mbkit.kernels.status import OK

#: A batch that threads share.
BATCH = np.dtype(
    [
        ("next", np.int64),  # address of an integer: the number of the batch, and the next chunk
        ("finished", np.int64),  # address of an integer: how many chunks are
        ("drawn", np.int64),  # how many chunks were, once the batch has ended
        ("limit", np.int64),  # the sample beyond which nobody wants results any more
        ("stops", np.int64),  # whether a sample that fails ends the batch; else it becomes NaN
        ("count", np.int64),  # of samples
        ("chunks", np.int64),
        ("width", np.int64),  # how many samples are computed at once
        ("function", np.int64),  # what is called for each sample
        ("apply", np.int64),  # what is called before it with its wrenches, or 0
        ("option", np.int64),  # of the function
        ("function_in_lanes", np.int64),  # the same for several samples at once
        ("apply_in_lanes", np.int64),
        ("option_in_lanes", np.int64),
        ("steps", np.int64, VECTORS),  # how far vectors go on from sample to sample: 0 or 1
        ("vectors", np.int64, VECTORS),  # addresses of (samples or 1, width)
        ("rows", np.int64, VECTORS),
        ("sizes", np.int64, VECTORS),
        ("out", np.int64),  # address of the results (samples, num_results)
        ("num_results", np.int64),
    ]
)

#: What one of the threads has for itself.
SEAT = np.dtype(
    [
        ("batch", np.int64),  # address of the BATCH
        ("most", np.int64),  # how many chunks the thread draws in one call
        ("space", np.int64),
        ("failed", np.int64),  # the sample that failed, or -1
        ("status", np.int64),  # what the function returned for it
        ("space_in_lanes", np.int64),
        ("offsets", np.int64),  # address of integers: where the results of a sample are in lanes
        ("lanes", np.int64, VECTORS),  # addresses of lanes for what the function reads
        ("found", np.int64),  # and for the result
        ("room", np.int64),  # address of doubles: one sample of a batch in single precision
    ]
)

#: In the word `next` the number of the batch is counted in these.
NUMBER = 1 << 32


class SampleArrays(NamedTuple):
    """Arguments and results of many samples, one a row; vectors may have one for all."""

    q: Any
    v: Any
    x: Any
    wrenches: Any
    out: Any


@helper
def rows_at(numbers_at, address, rows, size):
    """Return a matrix at an address."""
    return numbers_at(address, rows * size).reshape((rows, size))


@helper
def vector_rows(numbers_at, batch, k):
    """Return the samples of q, v, x or wrenches."""
    return rows_at(numbers_at, batch.vectors[k], batch.rows[k], batch.sizes[k])


@helper
def samples_of(numbers_at, results_at, batch):
    """Return arguments and results, in the precision of the functions that are passed."""
    return SampleArrays(
        vector_rows(numbers_at, batch, 0),
        vector_rows(numbers_at, batch, 1),
        vector_rows(numbers_at, batch, 2),
        vector_rows(numbers_at, batch, 3),
        rows_at(results_at, batch.out, batch.count, batch.num_results),
    )


@helper
def draw(batch, number):
    """Return the next chunk of the batch with this number, which no other thread gets, or -1."""
    while True:
        seen = read(batch.next)
        chunk = seen - number * NUMBER  # of another batch it is far away
        if chunk < 0 or chunk >= batch.chunks:
            return -1
        if replace(batch.next, seen, seen + 1):
            return chunk


@helper
def first_of(batch, chunk):
    """Return the first sample of a chunk; chunks but the last are multiples of the width."""
    groups = (batch.count + batch.width - 1) // batch.width
    return min(batch.width * (chunk * groups // batch.chunks), batch.count)


@helper
def take_chunks(address, number, numbers_at, results_at, compute):
    """Compute chunks until none is left; return how many were, if not more than `most`.

    ``compute(seat, batch, samples, first, last)`` returns the first sample that failed or is beyond
    the limit, or `last`.
    """
    seat = records_at(address, 1, SEAT)[0]
    batch = records_at(seat.batch, 1, BATCH)[0]
    samples = samples_of(numbers_at, results_at, batch)
    for taken in range(seat.most):
        chunk = draw(batch, number)
        if chunk < 0:
            return taken
        sample = first_of(batch, chunk)
        last = first_of(batch, chunk + 1)
        while sample < last:
            sample = compute(seat, batch, samples, sample, last)
            if sample >= last or sample > batch.limit:
                break
            samples.out[sample, :] = np.nan
            if batch.stops != 0:
                seat.failed = sample
                batch.limit = min(batch.limit, sample)
                break
            sample += 1
        add_to(batch.finished, 1)
    return seat.most


@helper
def one_by_one(seat, batch, samples, first, last):
    """Call a function for the samples from `first` to `last`; see `take_chunks`."""
    steps = batch.steps
    for s in range(first, last):
        if s > batch.limit:
            return s
        vectors = (
            samples.q[s * steps[0]],
            samples.v[s * steps[1]],
            samples.x[s * steps[2]],
            samples.wrenches[s * steps[3]],
        )
        status = call_once(seat.space, batch, vectors, samples.out[s])
        if status != OK:
            seat.status = status
            return s
    return last


@address_kernel("ii")
def batch_one_by_one(seat, number):
    """Take chunks of the batch with this number, sample by sample."""
    return take_chunks(seat, number, floats_at, floats_at, one_by_one)


@kernel(int64(int64, int64, int64), nogil=True)
def take_part(function, seat, number):
    """Take chunks of the batch with this number, by a function of this form."""
    return call_address(function, (seat, number))
