"""Rows of values of earlier steps, the newest first, for multistep methods."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import helper


@helper
def push(past, newest):
    """Put a row before those of earlier steps, of which the oldest is forgotten."""
    for i in range(past.shape[0] - 1, 0, -1):
        assign(past[i], past[i - 1])
    if past.shape[0] > 0:
        assign(past[0], newest)
