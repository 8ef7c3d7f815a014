"""Scalar products near the pole of the inverse differential, without rounding where it would show.

dexp_x^-1 grows with 1 / ((2 pi)^2 - x.x), and its lower left block on SE(3) with the square of
that times x.y: close to |x| = 2 pi the roundings of x.x and x.y would be all that is left. There
each number is split into k 2^-20 + r with an integer k; the large parts of the products are then
integers, and their sums exact. (The usual splitting in floating point is lost where the compiler
may reorder sums.)
"""

import math

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import isfinite
from mbkit.kernels.vectors import dot, scale

POLE = 39.47841760435743
# (2 pi)^2 = _POLE_UNITS 2^-40 + _POLE_REST
_POLE_UNITS = 43406979202187
_POLE_REST = 6.704162898179901e-13
# Squares of angles, about 4 rad and 6.3 rad, between which the difference would lose digits.
_FIRST = 16.0
_LAST = 40.0

_UNIT = 2.0**-20


@helper
def split_dot(x, y):
    """(units, rest) with x.y = units 2^-40 + rest, for entries below 8."""
    units = 0
    rest = 0.0
    for i in range(3):
        k = int(x[i] / _UNIT)
        m = int(y[i] / _UNIT)
        units += k * m
        rest += (k * _UNIT) * (y[i] - m * _UNIT) + (x[i] - k * _UNIT) * y[i]
    return units, rest


@helper
def distance_from_pole(x, z):
    """(2 pi)^2 - x.x, where z = x.x rounded."""
    if not _FIRST < z < _LAST:
        return POLE - z
    units, rest = split_dot(x, x)
    return (_POLE_UNITS - units) * 2.0**-40 + (_POLE_REST - rest)


@helper
def dot_near_pole(x, z, y):
    """x.y, rounded once where z = x.x is near the pole."""
    xy = dot(x, y)
    if not (_FIRST < z < _LAST and isfinite(xy)):
        return xy
    _, exponent = math.frexp(max(abs(y[0]), abs(y[1]), abs(y[2])))
    units, rest = split_dot(x, scale(math.ldexp(1.0, -exponent), y))
    return math.ldexp(units * 2.0**-40 + rest, exponent)
