"""Expressions of parameters in model files: ``"L/2"``, ``"-m * sin(30 * deg)"``.

Numbers, names of parameters, + - * / **, brackets, and the functions and constants below. A text is
parsed by Python and walked here, node by node; nothing of it is ever run.
"""

from __future__ import annotations

import ast
import contextlib
import contextvars
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mbkit.errors import ModelFileError, suggestion

__all__ = ["CONSTANTS", "FUNCTIONS", "computed", "evaluate_all", "names", "with_parameters"]

#: Longest expression, in characters.
MAX_LENGTH = 500

#: Deepest nesting of brackets.
MAX_DEPTH = 30

CONSTANTS = {"pi": math.pi, "deg": math.pi / 180.0}

_OF_MATH = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "hypot")

FUNCTIONS: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in _OF_MATH}, "abs": abs, "min": min, "max": max,
}  # fmt: skip

#: Names that are taken: of the numbers of a mechanism, the one without a point.
_TAKEN = (*CONSTANTS, *FUNCTIONS, "gravity")

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: math.pow,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_parameters: contextvars.ContextVar[Mapping[str, float] | None] = contextvars.ContextVar(
    "parameters", default=None
)


@contextlib.contextmanager
def with_parameters(values: Mapping[str, float]) -> Iterator[None]:
    """Let expressions that are read inside know the values of parameters."""
    token = _parameters.set({**values, **CONSTANTS})
    try:
        yield
    finally:
        _parameters.reset(token)


def computed(value: Any) -> Any:
    """Return a value, a list or parts of one, with expressions where numbers belong computed.

    A number in quotes stays what it is, a fault; so does all text outside of `with_parameters`.
    ModelFileError if an expression has no value.

    Examples
    --------
    >>> with with_parameters({"L": 0.4}):
    ...     computed([1.0, "-L/2"])
    [1.0, -0.2]
    """
    values = _parameters.get()
    if isinstance(value, list):
        return [computed(each) for each in value]
    if values is None or not isinstance(value, str):
        return value
    try:
        float(value)
    except ValueError:
        return evaluate(value, values)
    return value


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """Return the value of an expression for values of its names."""
    try:
        number = _value(_parsed(text), values)
    except ZeroDivisionError:
        raise ModelFileError(f"{text!r} divides by zero.") from None
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"{text!r} has no value: {error}.") from None
    except (_NotUnderstoodError, TypeError) as error:
        raise ModelFileError(f"must be a number, got {text!r:.200}: {error}") from None
    if not math.isfinite(number):
        raise ModelFileError(f"{text!r} is not finite.")
    return number


def names(text: str) -> set[str]:
    """Return the names of parameters in an expression; none if it is none."""
    try:
        tree = _parsed(text)
    except _NotUnderstoodError:
        return set()
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in found if id(node) not in called}


def evaluate_all(given: Mapping[str, Any], note: Callable[[str, str], None]) -> dict[str, float]:
    """Return the values of parameters, each a number or an expression of others.

    `note` is told the name of a parameter that has none, and why.
    """
    values: dict[str, float] = {}
    waiting: dict[str, str] = {}
    for name, value in given.items():
        if name in _TAKEN:
            note(name, "stands for something else in expressions; choose another name.")
        elif not _NAME.fullmatch(name):
            note(name, "must be made of letters, digits and '_', as a name in an expression is.")
        elif isinstance(value, str):
            waiting[name] = value
        elif isinstance(value, bool) or not isinstance(value, int | float):
            note(
                name, f"must be a number or an expression of other parameters, got {value!r:.200}."
            )
        elif not math.isfinite(value):
            note(name, f"must be finite, got {value!r:.40}.")
        else:
            values[name] = float(value)
    while ready := [name for name, text in waiting.items() if not names(text) & waiting.keys()]:
        for name in ready:
            try:
                values[name] = evaluate(waiting.pop(name), {**values, **CONSTANTS})
            except ModelFileError as error:
                note(name, str(error))
    for name, text in waiting.items():
        note(name, f"{text!r} leads back to {name!r}; one of them must be a number.")
    return values


class _NotUnderstoodError(Exception):
    """What in a text is no part of an expression."""


def _parsed(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise _NotUnderstoodError(f"it is longer than {MAX_LENGTH} characters.")
    depth = deepest = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise _NotUnderstoodError(f"its brackets are nested more than {MAX_DEPTH} deep.")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _NotUnderstoodError(
            "it is no expression of numbers, parameters, + - * / ** and brackets."
        ) from None


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    if isinstance(node, ast.Constant):
        number = node.value
        if isinstance(number, int | float) and not isinstance(number, bool):
            return float(number)
    if isinstance(node, ast.Name):
        if node.id not in values:
            raise _NotUnderstoodError(
                f"there is no {node.id!r} in [parameters]; {suggestion(node.id, values)}"
            )
        return values[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        both = (_value(each, values) for each in (node.left, node.right))
        return _BINARY[type(node.op)](*both)
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand, values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        function = FUNCTIONS.get(node.func.id)
        if function is None:
            raise _NotUnderstoodError(
                f"there is no function {node.func.id!r}; {suggestion(node.func.id, FUNCTIONS)}"
            )
        return float(function(*(_value(each, values) for each in node.args)))
    raise _NotUnderstoodError(
        f"{ast.unparse(node)!r:.80} is no number, parameter, operation or function of expressions."
    )
