"""Calls of functions by address for many samples, one by one.

Every function has the form of `mbkit.kernels.evaluation_form`. What it does not read is given
anyway, as any array. Calls of one sample: `mbkit.kernels.calls.direct_calls`; of
several at once: `mbkit.kernels.calls.batches_in_lanes`.
"""

from typing import NamedTuple

from mbkit.kernels.compile import (
    call_address,
    helper,
    int64,
    integers,
    kernel,
    matrix,
    typed,
)
from mbkit.kernels.status import OK


class Call(NamedTuple):
    """What is called for each sample, and before it, where `apply` is not 0, with its wrenches."""

    function: int64
    apply: int64
    option: int64


class SampleArrays(NamedTuple):
    """Arguments and results of many samples.

    Attributes
    ----------
    strides : (4,)
        How far q, v, x and wrenches go on from sample to sample: 0 or 1.
    q, v, x, wrenches : (samples or 1, width)
        Arguments.
    out : (samples, width)
        Results.
    statuses : (samples,)
        What the function returned.
    limit : (1,)
        The sample beyond which nobody wants results any more; others may lower it meanwhile.
    """

    strides: integers
    q: matrix
    v: matrix
    x: matrix
    wrenches: matrix
    out: matrix
    statuses: integers
    limit: integers


@helper
def one_by_one(space, call, samples, first, last):
    """What `batch` does."""
    function, apply, option = call
    strides, q, v, x, wrenches, out, statuses, limit = samples
    for s in range(first, last):
        if s > limit[0]:
            return s
        status = OK
        q_s = q[s * strides[0]]
        v_s = v[s * strides[1]]
        if apply != 0:
            status = call_address(apply, (space, 0, q_s, v_s, wrenches[s * strides[3]], out[s]))
        if status == OK:
            x_s = x[s * strides[2]]
            status = call_address(function, (space, option, q_s, v_s, x_s, out[s]))
        statuses[s] = status
        if status != OK:
            return s
    return last


@kernel(int64(int64, typed(Call), typed(SampleArrays), int64, int64), nogil=True)
def batch(space, call, samples, first, last):
    """Call a function for the samples from `first` to `last`, one a row of out.

    Returns the first sample that failed or is beyond the limit, or `last`.
    """
    return one_by_one(space, call, samples, first, last)
