"""Evaluation of a tape with series in time in place of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.rules import reachable
from mbkit.autodiff.tape import COMPARISONS, Number, Tape, Traced, apply

_Series = Any  # float64 (count,): y[n] is the coefficient of t^n


def evaluate(
    tape: Tape, outputs: Sequence[Number], inputs: Mapping[str, Any], count: int
) -> Any | None:
    """Return the series of outputs, shape (outputs, count), exact but for rounding.

    `inputs` are series of `count` terms by the names of inputs. None where a comparison comes out
    otherwise than when the tape was written; not a number where a function has no value or
    derivative.
    """
    known: dict[int, _Series] = {}

    def series(argument: Any) -> _Series:
        if isinstance(argument, Traced):
            return known[argument.index]
        constant = np.zeros(count)
        constant[0] = argument
        return constant

    compared = [side for guard in tape.guards for side in (guard.left, guard.right)]
    with np.errstate(all="ignore"):
        for node in reachable([*outputs, *compared]):
            if node.operation == "input":
                known[node.index] = np.asarray(inputs[node.arguments[0]], dtype=np.float64)[:count]
            elif node.operation == "spline":
                known[node.index] = _spline(node, series(node.arguments[3]))
            elif node.operation == "where":
                comparison, *numbers = node.arguments
                left, right, a, b = map(series, numbers)
                known[node.index] = a if COMPARISONS[comparison](left[0], right[0]) else b
            else:
                known[node.index] = _RULES[node.operation](*map(series, node.arguments))
    for guard in tape.guards:
        left, right = series(guard.left)[0], series(guard.right)[0]
        if bool(COMPARISONS[guard.comparison](left, right)) != guard.outcome:
            return None
    return np.array([series(out) for out in outputs]).reshape(len(outputs), count)


def _product(a: _Series, b: _Series) -> _Series:
    return np.convolve(a, b)[: len(a)]


def _quotient(a: _Series, b: _Series) -> _Series:
    y = np.array(a)
    for n in range(len(y)):
        y[n] = (y[n] - b[1 : n + 1] @ y[:n][::-1]) / b[0]
    return y


def _of(name: str, slope: Callable[[Any, Any], _Series]) -> Callable[[_Series], _Series]:
    """Return the rule of a function whose derivative is a function of it and of its argument.

    With y' = f x', n y_n = sum over j of j x_j f_(n-j), where f has terms of y below n alone.
    """

    def rule(x: _Series) -> _Series:
        y = np.zeros(len(x))
        y[0] = apply(name, float(x[0]))
        for n in range(1, len(x)):
            f = slope(x[:n], y[:n])
            y[n] = (np.arange(1, n + 1) * x[1 : n + 1]) @ f[::-1] / n
        return y

    return rule


def _one(x: _Series) -> _Series:
    return np.concatenate([[1.0], np.zeros(len(x) - 1)])


def _square(x: _Series) -> _Series:
    return _product(x, x)


def _trigonometric(x: _Series, names: tuple[str, str], sign: float) -> tuple[_Series, _Series]:
    """Return (s, c) with s' = c x' and c' = sign s x'."""
    s, c = np.zeros(len(x)), np.zeros(len(x))
    s[0], c[0] = (apply(name, float(x[0])) for name in names)
    for n in range(1, len(x)):
        weights = np.arange(1, n + 1) * x[1 : n + 1] / n
        s[n], c[n] = weights @ c[:n][::-1], sign * (weights @ s[:n][::-1])
    return s, c


def _power(x: _Series, n: _Series) -> _Series:
    """Return x to a constant power: by products where it is a small whole number."""
    exponent = float(n[0])
    if exponent.is_integer() and 0.0 <= exponent < 64.0:
        y = _one(x)
        for _ in range(int(exponent)):
            y = _product(y, x)
        return y
    y = np.zeros(len(x))
    y[0] = np.float_power(x[0], exponent)
    for k in range(1, len(x)):
        j = np.arange(1, k + 1)
        y[k] = ((exponent * j - (k - j)) * x[1 : k + 1]) @ y[:k][::-1] / (k * x[0])
    return y


def _root(x: _Series) -> _Series:
    return _power(x, np.array([0.5]))


def _arctan2(y: _Series, x: _Series) -> _Series:
    """Return the angle of (x, y), whose rate is (x y' - y x') / (x^2 + y^2)."""
    angle = np.zeros(len(x))
    angle[0] = np.arctan2(y[0], x[0])
    n = np.arange(1, len(x))
    if len(n):
        rate = _product(x[:-1], n * y[1:]) - _product(y[:-1], n * x[1:])
        angle[1:] = _quotient(rate, (_square(x) + _square(y))[:-1]) / n
    return angle


def _constant(name: str) -> Callable[[_Series], _Series]:
    return lambda x: float(apply(name, float(x[0]))) * _one(x)


def _spline(node: Traced, x: _Series) -> _Series:
    """Return a curve of scipy along x, by its derivatives and Horner's scheme."""
    curves, order, component, _ = node.arguments
    step, y, factor = x - x[0] * _one(x), np.zeros(len(x)), 1.0
    terms = []
    for m, curve in enumerate(curves[order : order + len(x)]):
        factor /= max(m, 1)
        terms.append(factor * float(np.ravel(curve(float(x[0])))[component]))
    for term in reversed(terms):
        y = _product(y, step) + term * _one(x)
    return y


def _reciprocal_of(below: Callable[[_Series], _Series]) -> Callable[[Any, Any], _Series]:
    return lambda x, y: _quotient(_one(x), below(x))


_BELOW: dict[str, Callable[[_Series], _Series]] = {
    "arcsin": lambda x: _root(_one(x) - _square(x)),
    "arccos": lambda x: -_root(_one(x) - _square(x)),
    "arctan": lambda x: _one(x) + _square(x),
    "arcsinh": lambda x: _root(_one(x) + _square(x)),
    "arccosh": lambda x: _root(_square(x) - _one(x)),
    "arctanh": lambda x: _one(x) - _square(x),
    "log": lambda x: x,
    "log1p": lambda x: _one(x) + x,
}

_RULES: dict[str, Callable[..., _Series]] = {
    "add": np.add,
    "sub": np.subtract,
    "neg": np.negative,
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "arctan2": _arctan2,
    "sin": lambda x: _trigonometric(x, ("sin", "cos"), -1.0)[0],
    "cos": lambda x: _trigonometric(x, ("sin", "cos"), -1.0)[1],
    "sinh": lambda x: _trigonometric(x, ("sinh", "cosh"), 1.0)[0],
    "cosh": lambda x: _trigonometric(x, ("sinh", "cosh"), 1.0)[1],
    "tan": _of("tan", lambda x, y: _one(y) + _square(y)),
    "tanh": _of("tanh", lambda x, y: _one(y) - _square(y)),
    "exp": _of("exp", lambda x, y: y),
    "expm1": _of("expm1", lambda x, y: _one(y) + y),
    "sqrt": _root,
    "cbrt": _of("cbrt", lambda x, y: _quotient(y, 3.0 * x)),
    "floor": _constant("floor"),
    **{name: _of(name, _reciprocal_of(below)) for name, below in _BELOW.items()},
}
