"""Power series with as many terms as the digits of their numbers need; Python alone has use of it.

e = (1 - (phi/2) cot(phi/2)) / z = sum_j |B_{2j+2}| z^j / (2j+2)!, with Bernoulli's numbers.
"""

import functools
from fractions import Fraction
from math import comb, factorial

from mbkit.kernels.lie.exact_products import POLE


def endless_sum(coefficient, z):
    """sum_j coefficient(j) z^j, until nothing is added any more."""
    value = 0
    power = type(z)(1)
    third = power / 3
    j = 0
    while True:
        new = value + _number(coefficient, j, third) * power
        if new == value:
            return value
        value = new
        power = power * z
        j += 1


@functools.cache
def _number(coefficient, j, third):
    """A fraction as a number like 1/3, which has the digits of today."""
    fraction = coefficient(j)
    return type(third)(fraction.numerator) / type(third)(fraction.denominator)


@functools.cache
def _bernoulli(n):
    """B_n, by sum_k binomial(n + 1, k) B_k = 0."""
    if n == 0:
        return Fraction(1)
    if n > 1 and n % 2 == 1:
        return Fraction(0)
    return -sum((comb(n + 1, k) * _bernoulli(k) for k in range(n)), Fraction(0)) / (n + 1)


@functools.cache
def rest_of_e(j):
    """The coefficient of z^j in e - 2 / (P - z), P the double next to (2 pi)^2."""
    n = 2 * j + 2
    return abs(_bernoulli(n)) / factorial(n) - 2 / Fraction(POLE) ** (j + 1)
