"""Multipliers of least norm, from the factor and any that solve the equations.

With L the rows of the factor, K those that count and D the others, the multipliers that do nothing
are N mu = (-L_K^-T L_D^T mu, mu). The mu that makes lambda + N mu smallest is found by conjugate
gradients, N and N^T being one sweep over the factor each. N^T N = 1 + T T^T, where T expresses the
rows D by the rows K: its condition number is small, and however early one stops, lambda + N mu does
what lambda does. Source: Hestenes and Stiefel 1952, section 10.
Cost: O(blocks) a sweep, some ten of them; no matrix is formed.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import floats_at, helper
from mbkit.kernels.constraints.factor import backward, forward
from mbkit.kernels.constraints.space import kept_rows

#: Parts of the multipliers along N that are rounding.
ROUNDED = 1e-15


@helper
def along(closure, kept, x, out):
    """N^T x, in the entries of D, zero elsewhere; return its square."""
    assign(out, x)
    forward(closure, out)
    square = 0.0
    for r in range(x.shape[0]):
        out[r] = 0.0 if kept[r] != 0 else out[r]
        square += out[r] * out[r]
    return square


@helper
def reduce(closure, multipliers):
    """The multipliers become those of least norm that do the same."""
    m = closure.num_rows
    kept = kept_rows(closure)
    others = 0
    for r in range(m):
        others += 1 - kept[r]
    if others == 0:
        return
    room = floats_at(closure.room, 3 * m)
    slope = room[:m]
    direction = room[m : 2 * m]
    change = room[2 * m :]
    square = along(closure, kept, multipliers, slope)
    assign(direction, slope)
    for _ in range(others + 10):
        size = 0.0
        for r in range(m):
            size += multipliers[r] * multipliers[r]
        if not square > ROUNDED * ROUNDED * size:
            return
        assign(change, direction)
        backward(closure, change)
        curvature = 0.0
        for r in range(m):
            curvature += change[r] * change[r]
        for r in range(m):
            multipliers[r] -= square / curvature * change[r]
        before = square
        square = along(closure, kept, multipliers, slope)
        for r in range(m):
            direction[r] = slope[r] + square / before * direction[r]
