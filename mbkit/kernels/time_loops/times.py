"""Times of steps, the same to the last bit wherever they are computed."""

from mbkit.kernels.compile import helper, rounded


@helper
def instant(t0, h, k):
    """t0 + k h, rounded as in Python: when step k begins, and the one before it ends."""
    return t0 + rounded(k * h)
