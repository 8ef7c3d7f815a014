"""Functions of the library and powers, for lanes and for dual numbers.

Forces, constraints and joints of users may call any of them. mbkit's own kernels have the few that
they need in `mbkit.kernels.lanes` and `mbkit.kernels.duals`. What is compiled for lanes calls the
library once for each of them; for dual numbers once for the value, and the slope multiplies the
derivatives. Where a slope is infinite, as of an arc sine at one, or of a power below one at zero,
the derivative is none, as that of the root of zero.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload

from mbkit.kernels.compile import helper
from mbkit.kernels.duals import Dual
from mbkit.kernels.elementary import function_of, value_of
from mbkit.kernels.lanes import Lanes, lane, with_lane

_LOG_2, _LOG_10 = math.log(2.0), math.log(10.0)


@helper
def _over(number, divisor):
    """The quotient, or zero where the divisor is zero."""
    return number / divisor if divisor != 0.0 else 0.0


# Slopes from an argument x and the value y there.


@helper
def _of_exp(x, y):
    return y


@helper
def _of_expm1(x, y):
    return y + 1.0


@helper
def _of_log(x, y):
    return _over(1.0, x)


@helper
def _of_log2(x, y):
    return _over(1.0 / _LOG_2, x)


@helper
def _of_log10(x, y):
    return _over(1.0 / _LOG_10, x)


@helper
def _of_log1p(x, y):
    return _over(1.0, 1.0 + x)


@helper
def _of_tan(x, y):
    return 1.0 + y * y


@helper
def _of_asin(x, y):
    return _over(1.0, math.sqrt((1.0 - x) * (1.0 + x)))


@helper
def _of_acos(x, y):
    return -_over(1.0, math.sqrt((1.0 - x) * (1.0 + x)))


@helper
def _of_atan(x, y):
    return 1.0 / (1.0 + x * x)


@helper
def _of_sinh(x, y):
    return math.cosh(x)


@helper
def _of_cosh(x, y):
    return math.sinh(x)


@helper
def _of_asinh(x, y):
    return 1.0 / math.sqrt(1.0 + x * x)


@helper
def _of_acosh(x, y):
    return _over(1.0, math.sqrt((x - 1.0) * (x + 1.0)))


@helper
def _of_atanh(x, y):
    return _over(1.0, (1.0 - x) * (1.0 + x))


@helper
def _of_erf(x, y):
    return 2.0 / math.sqrt(math.pi) * math.exp(-x * x)


@helper
def _of_erfc(x, y):
    return -2.0 / math.sqrt(math.pi) * math.exp(-x * x)


#: By function of `math`: its slope, and its name in numpy.
_FUNCTIONS = {
    math.exp: (_of_exp, "exp"), math.expm1: (_of_expm1, "expm1"), math.log: (_of_log, "log"),
    math.log2: (_of_log2, "log2"), math.log10: (_of_log10, "log10"),
    math.log1p: (_of_log1p, "log1p"), math.tan: (_of_tan, "tan"), math.asin: (_of_asin, "arcsin"),
    math.acos: (_of_acos, "arccos"), math.atan: (_of_atan, "arctan"),
    math.sinh: (_of_sinh, "sinh"), math.cosh: (_of_cosh, "cosh"),
    math.asinh: (_of_asinh, "arcsinh"), math.acosh: (_of_acosh, "arccosh"),
    math.atanh: (_of_atanh, "arctanh"), math.erf: (_of_erf, None), math.erfc: (_of_erfc, None),
}  # fmt: skip

#: Those that lanes and dual numbers know otherwise, by their names in numpy.
_KNOWN = {"sin": math.sin, "cos": math.cos, "tanh": math.tanh, "sqrt": math.sqrt}


def _enter(function: Any, slope_of: Any) -> None:
    """Let a function of one number be called with lanes, and with dual numbers."""

    @overload(function, strict=False)
    def of_one(x):
        if isinstance(x, Lanes):
            return _of_each_lane(function, x.width)
        if not isinstance(x, Dual):
            return None

        def compute(x):
            a = value_of(x)
            y = function(a)
            return function_of(x, y, slope_of(a, y))

        return compute


def _of_each_lane(function: Any, width: int) -> Any:
    def compute(x):
        out = x
        for j in range(width):
            out = with_lane(out, j, function(lane(x, j)))
        return out

    return compute


for _function, (_slope, _name) in _FUNCTIONS.items():
    _enter(_function, _slope)


def _enter_by_name(name: str, function: Any) -> None:
    """Let a function of numpy be called with lanes and with dual numbers, as that of `math`."""

    @overload(getattr(np, name), strict=False)
    def of_one(x):
        return (lambda x: function(x)) if isinstance(x, Lanes | Dual) else None  # noqa: PLW0108


for _name, _function in (_KNOWN | {name: each for each, (_, name) in _FUNCTIONS.items()}).items():
    if _name is not None:
        _enter_by_name(_name, _function)


@overload(np.abs, strict=False)
@overload(math.fabs, strict=False)
def _absolute(x):
    return (lambda x: abs(x)) if isinstance(x, Lanes | Dual) else None  # noqa: PLW0108


# ------------------------------------------------------------------------------- of two numbers

_NUMBERS = types.Float | types.Integer


def _pair(x: Any, y: Any, kind: Any) -> bool:
    """Whether one at least of two numbers is of a kind, and the other one too or a constant."""
    among = isinstance(x, kind), isinstance(y, kind)
    return all(among) or (any(among) and isinstance(y if among[0] else x, _NUMBERS))


def _of_lanes(function: Any, x: Any, y: Any) -> Any:
    """Return a function of two numbers for each lane, of which one may be a constant."""
    width = (x if isinstance(x, Lanes) else y).width
    if not isinstance(y, Lanes):

        def with_constant(x, y):
            out = x
            for j in range(width):
                out = with_lane(out, j, function(lane(x, j), y))
            return out

        return with_constant
    if not isinstance(x, Lanes):

        def of_constant(x, y):
            out = y
            for j in range(width):
                out = with_lane(out, j, function(x, lane(y, j)))
            return out

        return of_constant

    def compute(x, y):
        out = x
        for j in range(width):
            out = with_lane(out, j, function(lane(x, j), lane(y, j)))
        return out

    return compute


@helper
def _power(x, y):
    """The power of two doubles."""
    return x**y


@helper
def _slope_of_power(a, y):
    """The slope of a^y by a; zero where it is infinite."""
    return 0.0 if y == 0.0 or (a == 0.0 and y < 1.0) else y * a ** (y - 1)


@helper
def _slope_by_exponent(a, power):
    """The slope of a^y by y."""
    return power * math.log(a) if a > 0.0 else 0.0


@overload(operator.pow, strict=False)
@overload(operator.ipow, strict=False)
@overload(math.pow, strict=False)
@overload(np.power, strict=False)
def _raised(x, y):
    if _pair(x, y, Lanes):
        return _of_lanes(_power, x, y)
    if not _pair(x, y, Dual):
        return None
    if not isinstance(y, Dual):

        def with_constant(x, y):
            a = value_of(x)
            return function_of(x, a**y, _slope_of_power(a, y))

        return with_constant
    if not isinstance(x, Dual):

        def of_constant(x, y):
            power = x ** value_of(y)
            return function_of(y, power, _slope_by_exponent(x, power))

        return of_constant

    def compute(x, y):
        a = value_of(x)
        b = value_of(y)
        power = a**b
        by_base = function_of(x, power, _slope_of_power(a, b))
        return by_base + function_of(y, 0.0, _slope_by_exponent(a, power))

    return compute


@overload(math.hypot, strict=False)
@overload(np.hypot, strict=False)
def _length(x, y):
    if _pair(x, y, Lanes):
        return _of_lanes(math.hypot, x, y)
    return (lambda x, y: math.sqrt(x * x + y * y)) if _pair(x, y, Dual) else None


@overload(math.atan2, strict=False)
def _angle(y, x):
    if isinstance(y, Dual) and isinstance(x, Dual):
        return None  # `mbkit.kernels.duals` has it
    if isinstance(y, Lanes) and isinstance(x, Lanes):
        return None  # `mbkit.kernels.lanes` has it
    if _pair(y, x, Lanes):
        return _of_lanes(math.atan2, y, x)
    if not _pair(y, x, Dual):
        return None
    if isinstance(y, Dual):
        return lambda y, x: math.atan2(y, function_of(y, float(x), 0.0))
    return lambda y, x: math.atan2(function_of(x, float(y), 0.0), x)


@overload(np.arctan2, strict=False)
def _angle_of_numpy(y, x):
    if not (_pair(y, x, Lanes) or _pair(y, x, Dual)):
        return None
    return lambda y, x: math.atan2(y, x)  # noqa: PLW0108  (numba takes functions of Python)


def _enter_extreme(chosen: Any, *functions: Any) -> None:
    """Let max or min be called with two dual numbers: the second where `chosen` is true."""

    def of_two(x, y):
        if not _pair(x, y, Dual):
            return None
        if not isinstance(y, Dual):
            return lambda x, y: function_of(x, float(y), 0.0) if chosen(y, value_of(x)) else x
        if not isinstance(x, Dual):
            return lambda x, y: y if chosen(value_of(y), x) else function_of(y, float(x), 0.0)
        return lambda x, y: y if chosen(value_of(y), value_of(x)) else x

    for function in functions:
        overload(function, strict=False)(of_two)


@helper
def _is_larger(x, y):
    """Whether a double is larger than another."""
    return x > y


@helper
def _is_smaller(x, y):
    """Whether a double is smaller than another."""
    return x < y


_enter_extreme(_is_larger, max, np.maximum)
_enter_extreme(_is_smaller, min, np.minimum)


def _enter_extreme_of_three(function: Any) -> None:
    """Let max or min be called with three numbers, of which one at least is dual."""

    @overload(function, strict=False)
    def of_three(x, y, z):
        kinds = x, y, z
        known = all(isinstance(kind, Dual | _NUMBERS) for kind in kinds)
        if not (known and any(isinstance(kind, Dual) for kind in kinds)):
            return None
        return lambda x, y, z: function(function(x, y), z)


_enter_extreme_of_three(max)
_enter_extreme_of_three(min)


# --------------------------------------------------------------------- parts of floating point


@overload(math.isfinite, strict=False)
def _is_finite(x):
    return (lambda x: math.isfinite(value_of(x))) if isinstance(x, Dual) else None


@overload(math.frexp, strict=False)
def _parts(x):
    if not isinstance(x, Dual):
        return None

    def compute(x):
        part, exponent = math.frexp(value_of(x))
        return function_of(x, part, math.ldexp(1.0, -exponent)), exponent

    return compute


@overload(math.ldexp, strict=False)
def _scaled(x, n):
    return (lambda x, n: x * math.ldexp(1.0, n)) if isinstance(x, Dual) else None
