"""Expressions of numbers by name: ``"L/2"``, ``"-m * sin(30 * deg)"``, ``"0.1 * sin(8 * t)"``.

Numbers, names, + - * / **, brackets, and the functions and constants below. A text is parsed by
Python and walked here, node by node; nothing of it is ever run.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Set
from typing import Any

from mbkit.errors import suggestion

__all__ = ["CONSTANTS", "FUNCTIONS", "NotUnderstoodError", "function_of", "names", "with_values"]

#: Longest expression, in characters.
MAX_LENGTH = 500

#: Deepest nesting of brackets.
MAX_DEPTH = 30

CONSTANTS = {"pi": math.pi, "deg": math.pi / 180.0}

_OF_MATH = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "hypot")

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in _OF_MATH}, "abs": abs, "min": min, "max": max,
}  # fmt: skip

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: math.pow,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}

#: The value of an expression for values of its names.
Evaluation = Callable[[Mapping[str, Any]], Any]


class NotUnderstoodError(Exception):
    """A text that is no expression of the known names; the message names the part that is wrong."""


def function_of(text: str, known: Set[str], where: str) -> Evaluation:
    """Return the function of the values of names that a text is.

    NotUnderstoodError if it is no expression of the names that are `known`, which are those of
    `where`: "in [parameters]".

    Examples
    --------
    >>> function_of("-L/2", {"L"}, "in [parameters]")({"L": 0.4})
    -0.2
    """
    return _function(_parsed(text), known, where)


def names(text: str) -> set[str]:
    """Return the names in an expression that stand for numbers; none if it is none."""
    try:
        tree = _parsed(text)
    except NotUnderstoodError:
        return set()
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in found if id(node) not in called}


def with_values(text: str, values: Mapping[str, float]) -> str:
    """Return an expression with numbers in the places of names; other values are left unchanged.

    Examples
    --------
    >>> with_values("L * sin(t)", {"L": 0.4})
    '0.4 * sin(t)'
    """
    try:
        tree = _parsed(text)
    except NotUnderstoodError:
        return text

    class Numbers(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Constant(values[node.id]) if node.id in values else node

    return ast.unparse(Numbers().visit(tree))


def _parsed(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise NotUnderstoodError(f"it is longer than {MAX_LENGTH} characters.")
    depth = deepest = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise NotUnderstoodError(f"its brackets are nested more than {MAX_DEPTH} deep.")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise NotUnderstoodError(
            "it is no expression of numbers, parameters, + - * / ** and brackets."
        ) from None


def _function(node: ast.expr, known: Set[str], where: str) -> Evaluation:
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
            return lambda _: number
    if isinstance(node, ast.Name):
        name = node.id
        if name not in known:
            raise NotUnderstoodError(f"there is no {name!r} {where}; {suggestion(name, known)}")
        return lambda values: values[name]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        binary = _BINARY[type(node.op)]
        left, right = (_function(each, known, where) for each in (node.left, node.right))
        return lambda values: binary(left(values), right(values))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        unary, of = _UNARY[type(node.op)], _function(node.operand, known, where)
        return lambda values: unary(of(values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        called = FUNCTIONS.get(node.func.id)
        if called is None:
            raise NotUnderstoodError(
                f"there is no function {node.func.id!r}; {suggestion(node.func.id, FUNCTIONS)}"
            )
        parts = [_function(each, known, where) for each in node.args]
        return lambda values: called(*[part(values) for part in parts])
    raise NotUnderstoodError(
        f"{ast.unparse(node)!r:.80} is no number, parameter, operation or function of expressions."
    )
