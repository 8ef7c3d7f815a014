"""Functions of the library on dual numbers, against complex steps, and on lanes, one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

from mbkit.kernels.compile import UNCOMPILED

pytestmark = pytest.mark.compiled

#: By name in `math`: the function of complex numbers, and arguments.
FUNCTIONS: dict[str, tuple[Any, tuple[float, ...]]] = {
    "exp": (np.exp, (-2.0, 0.0, 1.3)), "expm1": (special.expm1, (-1e-9, 0.4)),
    "log": (np.log, (0.1, 7.0)), "log2": (np.log2, (0.1,)), "log10": (np.log10, (7.0,)),
    "log1p": (special.log1p, (-0.5,)), "sin": (np.sin, (0.4, 9.0)), "cos": (np.cos, (0.4, 9.0)),
    "tan": (np.tan, (-1.2, 0.3)), "asin": (np.arcsin, (-0.99, 0.2)),
    "acos": (np.arccos, (-0.99, 0.2)), "atan": (np.arctan, (-3.0, 0.2)),
    "sinh": (np.sinh, (-2.0, 0.1)), "cosh": (np.cosh, (-2.0, 0.1)),
    "tanh": (np.tanh, (-2.0, 0.1)), "asinh": (np.arcsinh, (-2.0, 0.1)),
    "acosh": (np.arccosh, (1.001, 5.0)), "atanh": (np.arctanh, (-0.99, 0.2)),
    "sqrt": (np.sqrt, (1e-3, 4.0)), "erf": (special.erf, (-0.7, 0.2)),
    "erfc": (special.erfc, (-0.7, 0.2)),
}  # fmt: skip
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
         "acosh": "arccosh", "atanh": "arctanh"}  # fmt: skip
STEP = 1e-30


def derivative(function: Any, *arguments: float) -> tuple[float, float]:
    """Value and derivative of a kernel's function along (1, 2, ...), on dual numbers."""
    import numba

    from mbkit.kernels.duals import along, moving
    from mbkit.kernels.elementary import value_of

    @numba.njit
    def of_one(a):
        y = function(moving(a, 0, 1.0))
        return value_of(y), along(y, 0)

    @numba.njit
    def of_two(a, b):
        y = function(moving(a, 0, 1.0), moving(b, 0, 2.0))
        return value_of(y), along(y, 0)

    @numba.njit
    def of_first(a, b):
        y = function(moving(a, 0, 1.0), b)
        return value_of(y), along(y, 0)

    @numba.njit
    def of_second(a, b):
        y = function(a, moving(b, 0, 2.0))
        return value_of(y), along(y, 0)

    if len(arguments) == 1:
        return of_one(*arguments)
    both, first, second = (each(*arguments) for each in (of_two, of_first, of_second))
    assert both[0] == first[0] == second[0]
    assert math.isclose(both[1], first[1] + second[1], rel_tol=1e-14, abs_tol=1e-15)
    return both


@pytest.fixture(autouse=True, scope="module")
def entered() -> None:
    if not UNCOMPILED:
        import mbkit.kernels.library_functions  # noqa: F401


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_one_number(name: str) -> None:
    """By the names of `math` and of numpy."""
    import numba

    exact, arguments = FUNCTIONS[name]
    forms = [getattr(math, name), getattr(np, NUMPY.get(name, name), None)]
    for form in forms:
        if form is None:
            continue
        function = numba.njit(lambda x, form=form: form(x))
        for x in arguments:
            value, slope = derivative(function, x)
            along = exact(complex(x, STEP))
            assert math.isclose(value, along.real, rel_tol=1e-14)
            assert math.isclose(slope, along.imag / STEP, rel_tol=1e-13)


#: Of two numbers, by functions of complex numbers, with arguments.
PAIRS: dict[str, tuple[Any, Any, tuple[tuple[float, float], ...]]] = {
    "power": (lambda x, y: x**y, lambda x, y: x**y, ((0.3, 2.5), (4.0, -1.2), (2.0, 0.5))),
    "math.pow": (math.pow, lambda x, y: x**y, ((0.3, 2.5),)),
    "np.power": (np.power, lambda x, y: x**y, ((0.3, 2.5),)),
    "math.hypot": (math.hypot, lambda x, y: (x * x + y * y) ** 0.5, ((0.3, -2.5),)),
    "np.hypot": (np.hypot, lambda x, y: (x * x + y * y) ** 0.5, ((0.3, -2.5),)),
    "math.atan2": (math.atan2, lambda y, x: np.arctan(y / x), ((0.3, 2.5),)),
    "np.arctan2": (np.arctan2, lambda y, x: np.arctan(y / x), ((-0.3, 2.5),)),
    "max": (max, lambda x, y: x if x.real > y.real else y, ((0.3, 2.5), (2.5, 0.3))),
    "min": (min, lambda x, y: x if x.real < y.real else y, ((0.3, 2.5), (2.5, 0.3))),
    "np.maximum": (np.maximum, lambda x, y: x if x.real > y.real else y, ((0.3, 2.5),)),
    "np.minimum": (np.minimum, lambda x, y: x if x.real < y.real else y, ((0.3, 2.5),)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_of_two_numbers(name: str) -> None:
    """Both dual, and each beside a constant."""
    import numba

    form, exact, arguments = PAIRS[name]
    function = form if name == "power" else (lambda x, y: form(x, y))  # noqa: PLW0108
    for x, y in arguments:
        value, slope = derivative(numba.njit(function), x, y)
        along = exact(complex(x, STEP), complex(y, 2.0 * STEP))
        assert math.isclose(value, along.real, rel_tol=1e-14)
        assert math.isclose(slope, along.imag / STEP, rel_tol=1e-13)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -2, 0.5, 1.0, 2.0])
def test_powers_with_constant_exponents(exponent: float) -> None:
    """Whole numbers too, of numbers of either sign, and at zero where there is a derivative."""
    import numba

    function = numba.njit(lambda x: x**exponent)
    bases = [0.7] if exponent != int(exponent) else [-1.3, 0.7]
    for x in [*bases, 0.0] if exponent >= 1 else bases:
        value, slope = derivative(function, x)
        assert math.isclose(value, x**exponent, rel_tol=1e-15)
        expected = exponent * x ** (exponent - 1) if exponent else 0.0
        assert math.isclose(slope, expected, rel_tol=1e-15)


@pytest.mark.parametrize("name", ["asin", "acos", "acosh"])
def test_where_slopes_are_infinite_there_is_no_derivative(name: str) -> None:
    import numba

    form = getattr(math, name)
    function = numba.njit(lambda x: form(x))  # noqa: PLW0108
    assert derivative(function, 1.0)[1] == 0.0
    assert derivative(numba.njit(lambda x: x**0.5), 0.0) == (0.0, 0.0)
