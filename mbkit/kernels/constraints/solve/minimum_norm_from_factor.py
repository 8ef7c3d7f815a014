"""Multipliers of least norm, from the factor and any that solve the equations.

With L the rows of the factor, K those that count and D the others, the multipliers that do nothing
are N mu = (-L_K^-T L_D^T mu, mu). The mu that makes lambda + N mu smallest is found by conjugate
gradients, N and N^T being one sweep over the factor each. N^T N = 1 + T T^T, where T expresses the
rows D by the rows K: its condition number is small, and however early one stops, lambda + N mu does
what lambda does. Along N the velocities of separators, unknowns beside the multipliers, are zero.
Source: Hestenes and Stiefel 1952, section 10.
Cost: O(blocks) a sweep, some ten of them; no matrix is formed.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import floats_at, helper
from mbkit.kernels.constraints.workspace import closure_of
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.linear_algebra.pivot_orders import own_integers_at

#: Corrections by this part of the multipliers are rounding.
ROUNDED = 1e-14


@helper
def along(space, forward, kept, x, out):
    """N^T x, in the entries of D, zero elsewhere; return its square."""
    m = x.shape[0]
    assign(out[:m], x)
    for r in range(m, out.shape[0]):
        out[r] = 0.0
    forward(space, out)
    square = 0.0
    for r in range(out.shape[0]):
        out[r] = select(kept[r] != 0, 0.0, out[r])
        square += out[r] * out[r]
    return square


@helper
def reduce(space, multipliers, forward, backward):
    """The multipliers become those of least norm that do the same.

    Calls   forward, backward: as those of `mbkit.kernels.constraints.solve.factor`.
    """
    closure = closure_of(space)
    m = closure.num_rows
    kept = own_integers_at(closure.kept, closure.num_unknowns)
    others = 0
    for r in range(m):
        others += 1 - kept[r]
    goes_on = others > 0
    if not any_lane(goes_on):
        return
    count = closure.num_unknowns
    room = floats_at(closure.room, 3 * count)
    slope = room[:count]
    direction = room[count : 2 * count]
    change = room[2 * count :]
    square = along(space, forward, kept, multipliers, slope)
    assign(direction, slope)
    for step in range(2 * m + 10):
        size = 0.0
        for r in range(m):
            size += multipliers[r] * multipliers[r]
        goes_on = goes_on & (square > 0.0) & (step < 2 * others + 10)
        if not any_lane(goes_on):
            return
        assign(change, direction)
        backward(space, change)
        curvature = 0.0
        for r in range(m):
            curvature += change[r] * change[r]
        # slope . direction, not its equal slope . slope: where rounding has begun, directions are
        # conjugate no more, and grow; the least along a direction makes no multipliers larger
        descent = 0.0
        for r in range(count):
            descent += slope[r] * direction[r]
        goes_on = goes_on & (descent * descent > ROUNDED * ROUNDED * size * curvature)
        if not any_lane(goes_on):
            return
        length = select(goes_on, descent / curvature, 0.0)
        for r in range(m):
            multipliers[r] -= length * change[r]
        before = square
        square = along(space, forward, kept, multipliers, slope)
        for r in range(count):
            direction[r] = slope[r] + square / before * direction[r]
