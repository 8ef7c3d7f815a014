"""Times of steps, the same to the last bit wherever they are computed."""

from mbkit.kernels.compile import helper
from mbkit.kernels.time_loops.records import Step


@helper
def instant(t0, h, k):
    """t0 + k h, rounded as in Python: when step k begins, and the one before it ends."""
    since = k * h  # a product with a name is not fused with the sum
    return t0 + since


@helper
def step_of(grid, k):
    """Step k of a grid."""
    return Step(instant(grid.t0, grid.h, k), grid.h, instant(grid.t0, grid.h, k + 1))
