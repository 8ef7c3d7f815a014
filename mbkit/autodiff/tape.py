"""Numbers that record the operations on them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["COMPARISONS", "CannotTraceError", "Guard", "Tape", "Traced", "apply", "number_of"]

#: An argument of an operation: a traced number, or a constant.
Number = Any

COMPARISONS = {"<": operator.lt, "<=": operator.le, "==": operator.eq}

#: Elementary functions of floats, by the names of numpy's.
FUNCTIONS: dict[str, Callable[..., float]] = {
    name: getattr(math, "a" + name[3:] if name.startswith("arc") else name)
    for name in (
        "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh",
        "arcsinh", "arccosh", "arctanh", "exp", "expm1", "log", "log1p", "sqrt", "cbrt", "pow",
    )
}  # fmt: skip
FUNCTIONS["floor"] = lambda x: float(np.floor(x))

_VALUES: dict[str, Callable[..., float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    **FUNCTIONS,
}

#: Names that are others in numpy, whose functions are infinite, or NaN, where there is no value.
_IN_NUMPY = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "neg": "negative",
    "pow": "float_power",
}


class CannotTraceError(TypeError):
    """An operation on a traced number that has no derivative here."""


class Guard(NamedTuple):
    """A comparison that the function made, and how it came out: other values lead elsewhere."""

    position: int
    comparison: str
    left: Number
    right: Number
    outcome: bool


class Tape:
    """Record of the operations on some inputs, in their order.

    Nodes are inputs and results of operations; guards are comparisons that were made. Equal
    operations on equal numbers are recorded once. Sums with zero, and products with zero and one,
    are not recorded at all.
    """

    def __init__(self) -> None:
        self.nodes: list[Traced] = []
        self.guards: list[Guard] = []
        self._known: dict[Any, Traced] = {}

    def input(self, name: str, value: float) -> Traced:
        """Return a new input."""
        return self._node("input", (name,), float(value))

    def inputs(self, name: str, values: Sequence[float]) -> Any:
        """Return an array of inputs, called name[0], name[1], ..."""
        array = np.empty(len(values), dtype=object)
        array[:] = [self.input(f"{name}[{k}]", value) for k, value in enumerate(values)]
        return array

    def record(self, operation: str, *arguments: Any, value: float) -> Traced:
        """Return the result of an operation, the known one where it was done before."""
        key = operation, *[id(a) if isinstance(a, Traced) else ("=", a) for a in arguments]
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._node(operation, arguments, value)
        return known

    def _node(self, operation: str, arguments: tuple[Any, ...], value: float) -> Traced:
        node = Traced(self, len(self.nodes), operation, arguments, value)
        self.nodes.append(node)
        return node

    def compare(self, comparison: str, left: Number, right: Number) -> bool:
        """Return how a comparison comes out, and write down that it was made."""
        outcome = bool(COMPARISONS[comparison](value_of(left), value_of(right)))
        self.guards.append(Guard(len(self.nodes), comparison, left, right, outcome))
        return outcome

    def where(self, condition: tuple[str, Number, Number], a: Number, b: Number) -> Number:
        """Return the number that is a where a comparison holds, else b, whatever the values are."""
        if a is b or (not isinstance(a, Traced) and not isinstance(b, Traced) and a == b):
            return a
        comparison, left, right = condition
        holds = bool(COMPARISONS[comparison](value_of(left), value_of(right)))
        return self.record("where", *condition, a, b, value=value_of(a if holds else b))


def value_of(number: Number) -> float:
    """Return the value of a number, traced or not, at the place where the function is traced."""
    return number.value if isinstance(number, Traced) else float(number)


def number_of(value: Any) -> Number:
    """Return a scalar as a traced number or a float; CannotTraceError if it is neither."""
    if type(value) is Traced or type(value) is float:  # nearly always
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, Traced):
        return value
    if isinstance(value, int | float | np.integer | np.floating | np.bool_):
        return float(value)
    raise CannotTraceError(f"{type(value).__name__} is not a real number")


def apply(operation: str, *arguments: Number) -> Number:
    """Return an elementary function of numbers, one of `DERIVATIVES` or of arithmetic."""
    tape, values = None, []
    for a in arguments:
        if isinstance(a, Traced):
            tape = a.tape
            values.append(a.value)
        else:
            values.append(float(a))
    try:
        value = float(_VALUES[operation](*values))
    except (ValueError, ZeroDivisionError, OverflowError):
        value = math.nan
    if not math.isfinite(value):  # numpy would warn of what Python did in a loop over objects
        with np.errstate(all="ignore"):
            value = float(getattr(np, _IN_NUMPY.get(operation, operation))(*values))
    return value if tape is None else tape.record(operation, *arguments, value=value)


def add(a: Number, b: Number) -> Number:
    """Return a + b."""
    if not isinstance(a, Traced) and a == 0.0:
        return b
    if not isinstance(b, Traced) and b == 0.0:
        return a
    return apply("add", a, b)


def subtract(a: Number, b: Number) -> Number:
    """Return a - b."""
    if not isinstance(b, Traced) and b == 0.0:
        return a
    if not isinstance(a, Traced) and a == 0.0:
        return negative(b)
    return 0.0 if a is b and isinstance(a, Traced) else apply("sub", a, b)


def multiply(a: Number, b: Number) -> Number:
    """Return a b."""
    for one, other in ((a, b), (b, a)):
        # zero times infinity, of constants, is not zero: there is no derivative there
        if isinstance(other, Traced) and not isinstance(one, Traced):
            if one == 0.0:
                return 0.0
            if one == 1.0:
                return other
            if one == -1.0:
                return negative(other)
    return apply("mul", a, b)


def divide(a: Number, b: Number) -> Number:
    """Return a / b."""
    if not isinstance(a, Traced) and a == 0.0 and isinstance(b, Traced):
        return 0.0
    if not isinstance(b, Traced) and b == 1.0:
        return a
    return apply("div", a, b)


def negative(a: Number) -> Number:
    """Return -a."""
    if isinstance(a, Traced) and a.operation == "neg":
        return a.arguments[0]
    return apply("neg", a)


def power(a: Number, b: Number) -> Number:
    """Return a to the power b."""
    if isinstance(b, Traced):
        return apply("exp", multiply(b, apply("log", a)))
    if b == 0.0:
        return 1.0
    if b == 1.0:
        return a
    if b == 2.0:
        return multiply(a, a)
    return apply("sqrt", a) if b == 0.5 else apply("pow", a, b)


class Traced:
    """A number of a tape.

    numpy computes with arrays of it, of dtype object: it looks for the methods `sin`, `sqrt` and so
    on. Comparisons come out as its value does, and leave a guard on the tape.
    """

    __slots__ = ("arguments", "index", "operation", "parents", "tape", "value")

    def __init__(
        self, tape: Tape, index: int, operation: str, arguments: tuple[Any, ...], value: float
    ) -> None:
        self.tape = tape
        self.index = index
        self.operation = operation
        self.arguments = arguments
        self.parents = [each for each in arguments if isinstance(each, Traced)]
        self.value = value

    def __repr__(self) -> str:
        return f"<traced number {self.value!r}>"

    __hash__ = object.__hash__

    def __add__(self, other: Any) -> Any:
        return _binary(add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary(add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary(subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary(subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary(multiply, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary(multiply, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _binary(divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary(divide, other, self)

    def __pow__(self, other: Any) -> Any:
        return _binary(power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return _binary(power, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _binary(_floor_divide, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _binary(_floor_divide, other, self)

    def __mod__(self, other: Any) -> Any:
        return _binary(_modulo, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _binary(_modulo, other, self)

    def __neg__(self) -> Any:
        return negative(self)

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Any:
        return negative(self) if self < 0.0 else self

    def __bool__(self) -> bool:
        return bool(self != 0.0)

    def __lt__(self, other: Any) -> Any:
        return _binary(lambda a, b: self.tape.compare("<", a, b), self, other)

    def __le__(self, other: Any) -> Any:
        return _binary(lambda a, b: self.tape.compare("<=", a, b), self, other)

    def __gt__(self, other: Any) -> Any:
        return _binary(lambda a, b: self.tape.compare("<", b, a), self, other)

    def __ge__(self, other: Any) -> Any:
        return _binary(lambda a, b: self.tape.compare("<=", b, a), self, other)

    def __eq__(self, other: Any) -> Any:
        return _binary(lambda a, b: self.tape.compare("==", a, b), self, other)

    def __ne__(self, other: Any) -> Any:
        return _binary(lambda a, b: not self.tape.compare("==", a, b), self, other)

    def __float__(self) -> float:
        raise CannotTraceError("compiled code, or an array that was made elsewhere, wants a float")

    def __int__(self) -> int:
        raise CannotTraceError("int() has no derivative")

    __index__ = __complex__ = __round__ = __trunc__ = __int__

    def __floor__(self) -> Any:
        return apply("floor", self)

    @property
    def real(self) -> Traced:
        """Itself."""
        return self

    @property
    def imag(self) -> float:
        """Zero."""
        return 0.0

    def conjugate(self) -> Traced:
        """Return itself."""
        return self

    def arctan2(self, other: Any) -> Any:
        """Return the angle of (other, self)."""
        return apply("arctan2", self, number_of(other))

    def hypot(self, other: Any) -> Any:
        """Return the length of (self, other)."""
        return apply("sqrt", add(multiply(self, self), power(number_of(other), 2.0)))


def _binary(function: Any, left: Any, right: Any) -> Any:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.frompyfunc(lambda a, b: function(number_of(a), number_of(b)), 2, 1)(left, right)
    try:
        return function(number_of(left), number_of(right))
    except CannotTraceError:
        return NotImplemented


def _floor_divide(a: Number, b: Number) -> Number:
    return apply("floor", divide(a, b))


def _modulo(a: Number, b: Number) -> Number:
    return subtract(a, multiply(b, _floor_divide(a, b)))
