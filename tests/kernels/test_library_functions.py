"""Functions of the library on dual numbers, against complex steps, and on lanes, one by one."""

from __future__ import annotations

import functools
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


def compiled(forms: dict[str, str]) -> Any:
    """Return the value and the derivative of a form by its name, along (1, 2), on dual numbers.

    All forms, expressions of x and y, moving, or of a and b, constant, are compiled in one
    function: one for each takes half a second.
    """
    import numba

    from mbkit.kernels.duals import along, moving
    from mbkit.kernels.elementary import value_of

    lines = ["def chosen(n, a, b):", "    x, y = moving(a, 0, 1.0), moving(b, 0, 2.0)"]
    for n, form in enumerate(forms.values()):
        lines += [f"    if n == {n}:", f"        z{n} = {form}"]
        lines += [f"        return value_of(z{n}), along(z{n}, 0)"]
    lines += ["    return math.nan, math.nan"]
    names = {"along": along, "moving": moving, "value_of": value_of, "math": math, "np": np}
    exec("\n".join(lines), names)  # noqa: S102
    function, numbers = numba.njit(names["chosen"]), {name: n for n, name in enumerate(forms)}
    return lambda name, x, y=0.0: function(numbers[name], x, y)


@pytest.fixture(autouse=True, scope="module")
def entered() -> None:
    if not UNCOMPILED:
        import mbkit.kernels.library_functions  # noqa: F401


@functools.cache
def of_one_number() -> Any:
    forms = {f"math.{name}": f"math.{name}(x)" for name in FUNCTIONS}
    for name in FUNCTIONS:
        if hasattr(np, NUMPY.get(name, name)):
            forms[f"np.{name}"] = f"np.{NUMPY.get(name, name)}(x)"
    return compiled(forms), forms


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_one_number(name: str) -> None:
    """By the names of `math` and of numpy."""
    exact, arguments = FUNCTIONS[name]
    derivative, forms = of_one_number()
    for form in (f"math.{name}", f"np.{name}"):
        if form not in forms:
            continue
        for x in arguments:
            value, slope = derivative(form, x)
            along = exact(complex(x, STEP))
            assert math.isclose(value, along.real, rel_tol=1e-14)
            assert math.isclose(slope, along.imag / STEP, rel_tol=1e-13)


#: Of two numbers, by functions of complex numbers, with arguments.
PAIRS: dict[str, tuple[Any, tuple[tuple[float, float], ...]]] = {
    "power": (lambda x, y: x**y, ((0.3, 2.5), (4.0, -1.2), (2.0, 0.5))),
    "math.pow": (lambda x, y: x**y, ((0.3, 2.5),)),
    "np.power": (lambda x, y: x**y, ((0.3, 2.5),)),
    "math.hypot": (lambda x, y: (x * x + y * y) ** 0.5, ((0.3, -2.5),)),
    "np.hypot": (lambda x, y: (x * x + y * y) ** 0.5, ((0.3, -2.5),)),
    "math.atan2": (lambda y, x: np.arctan(y / x), ((0.3, 2.5),)),
    "np.arctan2": (lambda y, x: np.arctan(y / x), ((-0.3, 2.5),)),
    "max": (lambda x, y: x if x.real > y.real else y, ((0.3, 2.5), (2.5, 0.3))),
    "min": (lambda x, y: x if x.real < y.real else y, ((0.3, 2.5), (2.5, 0.3))),
    "np.maximum": (lambda x, y: x if x.real > y.real else y, ((0.3, 2.5),)),
    "np.minimum": (lambda x, y: x if x.real < y.real else y, ((0.3, 2.5),)),
}


#: Those that are entered with others, by the same function.
ALIKE = ("math.pow", "np.power", "np.hypot", "np.arctan2", "np.maximum", "np.minimum")


@functools.cache
def of_two_numbers(*kinds: str) -> Any:
    """All of PAIRS of both moving numbers; beside constants, ("xb", "ay"), some or ALIKE."""
    names = PAIRS if kinds == ("xy",) else ALIKE if "alike" in kinds else {*PAIRS} - {*ALIKE}
    return compiled({
        f"{name} of {u}, {v}": f"{u} ** {v}" if name == "power" else f"{name}({u}, {v})"
        for name in names
        for u, v in kinds[:2]
    })  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_of_two_numbers(name: str) -> None:
    exact, arguments = PAIRS[name]
    for x, y in arguments:
        value, slope = of_two_numbers("xy")(f"{name} of x, y", x, y)
        along = exact(complex(x, STEP), complex(y, 2.0 * STEP))
        assert math.isclose(value, along.real, rel_tol=1e-14)
        assert math.isclose(slope, along.imag / STEP, rel_tol=1e-13)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long if n in ALIKE else ()) for n in PAIRS]
)
def test_of_a_number_beside_a_constant(name: str) -> None:
    """In either place: together they are the derivative by both."""
    form = of_two_numbers("xb", "ay", *["alike"] * (name in ALIKE))
    for x, y in PAIRS[name][1]:
        both = of_two_numbers("xy")(f"{name} of x, y", x, y)
        first, second = (form(f"{name} of {each}", x, y) for each in ("x, b", "a, y"))
        assert both[0] == first[0] == second[0]
        assert math.isclose(both[1], first[1] + second[1], rel_tol=1e-14, abs_tol=1e-15)


EXPONENTS = [0, 1, 2, 3, -2, 0.5, 1.0, 2.0]


@functools.cache
def powers() -> Any:
    return compiled({str(exponent): f"x ** {exponent}" for exponent in EXPONENTS})


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_with_constant_exponents(exponent: float) -> None:
    """Whole numbers too, of numbers of either sign, and at zero where there is a derivative."""
    bases = [0.7] if exponent != int(exponent) else [-1.3, 0.7]
    for x in [*bases, 0.0] if exponent >= 1 else bases:
        value, slope = powers()(str(exponent), x)
        assert math.isclose(value, x**exponent, rel_tol=1e-15)
        expected = exponent * x ** (exponent - 1) if exponent else 0.0
        assert math.isclose(slope, expected, rel_tol=1e-15)


@pytest.mark.parametrize("name", ["asin", "acos", "acosh"])
def test_where_slopes_are_infinite_there_is_no_derivative(name: str) -> None:
    assert of_one_number()[0](f"math.{name}", 1.0)[1] == 0.0


def test_the_slope_of_a_root_at_zero_is_no_derivative() -> None:
    assert powers()("0.5", 0.0) == (0.0, 0.0)
