"""Batches in lanes of single precision, of samples of double or of single precision."""

from typing import NamedTuple

from mbkit.kernels.calls.batches import SampleArrays
from mbkit.kernels.calls.batches_in_lanes import LanesCall, call_in_lanes
from mbkit.kernels.compile import (
    helper,
    int64,
    integers,
    kernel,
    single_matrix,
    singles_at,
    typed,
)
from mbkit.kernels.status import OK


class SingleSamples(NamedTuple):
    """As `SampleArrays`, of numbers of single precision; results are an array of their own."""

    strides: integers
    q: single_matrix
    v: single_matrix
    x: single_matrix
    wrenches: single_matrix
    statuses: integers
    limit: integers


@helper
def in_single_lanes(lanes, samples, out, first, last):
    """What both kernels do."""
    s = first
    while s < last:
        if s > samples.limit[0]:
            return s
        end = min(s + lanes.width, last)
        if call_in_lanes(singles_at, lanes, samples, out, s, end - s) != OK:
            for k in range(s, end):
                if call_in_lanes(singles_at, lanes, samples, out, k, 1) != OK:
                    return k
        for k in range(s, end):
            samples.statuses[k] = OK
        s = end
    return last


@kernel(int64(typed(LanesCall), typed(SampleArrays), single_matrix, int64, int64), nogil=True)
def batch_of_doubles(lanes, samples, out, first, last):
    """As `batch_in_lanes`, in single precision, into `out`; where a group fails, one by one.

    Returns the first sample that failed so, or is beyond the limit, or `last`.
    """
    return in_single_lanes(lanes, samples, out, first, last)


@kernel(int64(typed(LanesCall), typed(SingleSamples), single_matrix, int64, int64), nogil=True)
def batch_of_singles(lanes, samples, out, first, last):
    """As `batch_of_doubles`, of samples in single precision."""
    return in_single_lanes(lanes, samples, out, first, last)
