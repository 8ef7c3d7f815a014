"""Batches in lanes of single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.kernels.calls.batches import batch
from mbkit.kernels.calls.batches_in_single_lanes import (
    SingleSamples,
    batch_of_doubles,
    batch_of_singles,
)

__all__ = ["batch_in_single_lanes"]


def batch_in_single_lanes(
    space: int, call: Any, lanes: Any, samples: Any, first: int, last: int
) -> int:
    """Compute samples in single precision; those that fail so in double, which says why.

    A pivot may be rounding that is none in double precision. Of the SampleArrays `samples`, `out`
    is of float32, and the arguments may be. Returns what the kernel `batch` does.
    """
    strides, *vectors, out, statuses, limit = samples
    room = np.empty((1, out.shape[1]))
    kernel, given = batch_of_doubles, samples._replace(out=room)
    if vectors[0].dtype == np.float32:
        kernel, given = batch_of_singles, SingleSamples._make((strides, *vectors, statuses, limit))
    while True:
        sample = int(kernel(lanes, given, out, first, last))
        if sample == last or sample > limit[0]:
            return sample
        rows = [
            np.require(each[sample * step :][:1], np.float64, ["C", "W"])
            for each, step in zip(vectors, strides, strict=True)
        ]
        alone = type(samples)(strides, *rows, room, statuses[sample : sample + 1], limit)
        if batch(space, call, alone, 0, 1) == 0:
            return sample
        out[sample] = room[0]
        first = sample + 1
        if first == last:
            return last
