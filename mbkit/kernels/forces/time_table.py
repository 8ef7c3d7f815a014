"""Vectors over time: piecewise cubic, constant before the first and after the last time.

Memory: the number of pieces n, the n + 1 times, then for each piece and each entry of the vector
four coefficients c0 + c1 s + c2 s^2 + c3 s^3, with s the time since the piece began.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import select

COUNT = 0
TIMES = 1


@helper
def piece_of(p, first, n, x):
    """The piece of n that holds x, by bisection; their n + 1 ends stand from `first` on."""
    low = 0
    high = n
    while high - low > 1:
        middle = (low + high) // 2
        if p[first + middle] <= x:
            low = middle
        else:
            high = middle
    return low


@helper
def piece_at(p, t):
    """The piece that holds t, a whole number, and the time since it began."""
    return each_lane(piece_of_time, (p, t))


@helper
def value_at(p, width, entry, piece, s):
    """One entry of the vector."""
    return each_lane(value_in_piece, (p, width, entry, piece, s))


@helper
def piece_of_time(p, t):
    """See `piece_at`, of one sample."""
    n = int(p[COUNT])
    first = p[TIMES]
    last = p[TIMES + n]
    t = select(t < first, first, select(t > last, last, t))
    piece = piece_of(p, TIMES, n, t)
    return float(piece), t - p[TIMES + piece]


@helper
def value_in_piece(p, width, entry, piece, s):
    """See `value_at`, of one sample."""
    first = TIMES + int(p[COUNT]) + 1 + 4 * (width * int(piece) + entry)
    return p[first] + s * (p[first + 1] + s * (p[first + 2] + s * p[first + 3]))
