"""Piecewise cubic curves with their first two derivatives.

Memory: the period, 0 where there is none; the number of pieces n; the n + 1 knots; then for each
piece and each entry of the curve four coefficients c0 + c1 s + c2 s^2 + c3 s^3, with s the way
since the piece began. Beyond the ends, by rounding, the outer pieces go on.
"""

import math

from mbkit.kernels.compile import helper
from mbkit.kernels.forces.time_table import piece_of

PERIOD = 0
COUNT = 1
KNOTS = 2

#: How far beyond its ends a curve may be evaluated, in parts of its width.
BEYOND = 1e-9


@helper
def is_within(p, x):
    """Whether there is a value at x."""
    n = int(p[COUNT])
    first = p[KNOTS]
    last = p[KNOTS + n]
    slack = BEYOND * (last - first)
    return p[PERIOD] != 0.0 or first - slack <= x <= last + slack


@helper
def curve_at(p, width, entry, x):
    """Value, first and second derivative of one entry of a curve that has `width` of them."""
    n = int(p[COUNT])
    if p[PERIOD] != 0.0:
        x -= p[PERIOD] * math.floor((x - p[KNOTS]) / p[PERIOD])
    low = piece_of(p, KNOTS, n, x)
    s = x - p[KNOTS + low]
    first = KNOTS + n + 1 + 4 * (width * low + entry)
    c1 = p[first + 1]
    c2 = p[first + 2]
    c3 = p[first + 3]
    return (
        p[first] + s * (c1 + s * (c2 + s * c3)),
        c1 + s * (2.0 * c2 + 3.0 * s * c3),
        2.0 * c2 + 6.0 * s * c3,
    )
