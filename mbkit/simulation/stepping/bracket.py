"""Zeros of a function by a bracket that closes, whatever the function does."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["closed_bracket"]

_EPSILON = 2.0**-52


def closed_bracket(
    number: Callable[[float], float],
    crossed: Callable[[float], bool],
    before: tuple[float, float],
    after: tuple[float, float],
    tolerance: float,
) -> tuple[float, float]:
    """Return two arguments next to each other, the number having crossed at the second alone.

    `before` and `after` are argument and value where it has not crossed, and where it has;
    ``crossed(value)`` says so. The bracket in the end is as wide as `tolerance`, or as rounding.

    Steps by Chandrupatla's rule: inverse quadratic interpolation where the last three points allow
    it, else half the bracket. Source: T. R. Chandrupatla, "A new hybrid quadratic/bisection
    algorithm for finding the zero of a nonlinear function without using derivatives", Adv. Eng.
    Software 28 (1997) 145-149.

    Examples
    --------
    >>> a, b = closed_bracket(lambda x: x**2 - 2, lambda y: y > 0, (0, -2), (2, 2), 1e-12)
    >>> a <= 2**0.5 <= b, b - a < 1e-12
    (True, True)
    """
    (a, fa), (b, fb) = before, after
    c, fc = a, fa  # the point that was left last
    place = 0.5
    while abs(b - a) > max(tolerance, 2.0 * _EPSILON * abs(b)):
        x = a + place * (b - a)
        if not min(a, b) < x < max(a, b):
            break
        fx = number(x)
        if crossed(fx):
            c, fc, b, fb = b, fb, x, fx
        else:
            c, fc, a, fa = a, fa, x, fx
        place = _next_place((a, fa), (b, fb), (c, fc), x, tolerance)
    return a, b


def _next_place(
    before: tuple[float, float],
    after: tuple[float, float],
    left: tuple[float, float],
    newest: float,
    tolerance: float,
) -> float:
    """Return where in the bracket to look next, from 0 to 1."""
    (a, fa), (b, fb), (c, fc) = before, after, left
    if newest == b:  # x1 is the newest point, x2 the other end
        (x1, f1), (x2, f2), turned = (b, fb), (a, fa), True
    else:
        (x1, f1), (x2, f2), turned = (a, fa), (b, fb), False
    place = 0.5
    if f1 != f2 and f2 != fc and f1 != fc and c != x2:
        xi, phi = (x1 - x2) / (c - x2), (f1 - f2) / (fc - f2)
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            place = f1 / (f2 - f1) * fc / (f2 - fc)
            place += (c - x1) / (x2 - x1) * f1 / (fc - f1) * f2 / (fc - f2)
    edge = min(0.5, 0.5 * max(tolerance, 2.0 * _EPSILON * abs(b)) / abs(b - a))
    place = min(max(place, edge), 1.0 - edge)  # not closer than it has to know
    return 1.0 - place if turned else place
