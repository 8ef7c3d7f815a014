"""Derivatives of elementary functions, and of all that is written on a tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.tape import (
    Number,
    Tape,
    Traced,
    add,
    apply,
    divide,
    multiply,
    negative,
    power,
    subtract,
)

__all__ = ["ELEMENTARY", "differentiate", "gradient", "operated", "spline", "substitute"]


def _root(x: Number) -> Number:
    return apply("sqrt", x)


#: f'(x) from x and y = f(x).
DERIVATIVES: dict[str, Callable[[Number, Number], Number]] = {
    "sin": lambda x, y: apply("cos", x),
    "cos": lambda x, y: negative(apply("sin", x)),
    "tan": lambda x, y: add(1.0, multiply(y, y)),
    "arcsin": lambda x, y: divide(1.0, _root(subtract(1.0, multiply(x, x)))),
    "arccos": lambda x, y: divide(-1.0, _root(subtract(1.0, multiply(x, x)))),
    "arctan": lambda x, y: divide(1.0, add(1.0, multiply(x, x))),
    "sinh": lambda x, y: apply("cosh", x),
    "cosh": lambda x, y: apply("sinh", x),
    "tanh": lambda x, y: subtract(1.0, multiply(y, y)),
    "arcsinh": lambda x, y: divide(1.0, _root(add(1.0, multiply(x, x)))),
    "arccosh": lambda x, y: divide(1.0, _root(subtract(multiply(x, x), 1.0))),
    "arctanh": lambda x, y: divide(1.0, subtract(1.0, multiply(x, x))),
    "exp": lambda x, y: y,
    "expm1": lambda x, y: add(1.0, y),
    "log": lambda x, y: divide(1.0, x),
    "log1p": lambda x, y: divide(1.0, add(1.0, x)),
    "sqrt": lambda x, y: divide(0.5, y),
    "cbrt": lambda x, y: divide(y, multiply(3.0, x)),
    "floor": lambda x, y: 0.0,
}

#: Names of the functions of one number that a tape can hold.
ELEMENTARY = tuple(DERIVATIVES)

_ARITHMETIC: dict[str, Callable[..., Number]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "neg": negative,
    "pow": power,
}

for _name in ELEMENTARY:
    # numpy computes with arrays of objects by their methods of these names
    setattr(Traced, _name, lambda self, name=_name: apply(name, self))


def spline(curves: tuple[Any, ...], order: int, component: int, x: Number) -> Number:
    """Return an entry, counted flat, of a curve or of its derivative of some order, at x.

    `curves` has both. There are as many of these as are not zero.
    """
    if not isinstance(x, Traced):
        return float(np.ravel(curves[order](x))[component])
    value = float(np.ravel(curves[order](x.value))[component])
    return x.tape.record("spline", curves, order, component, x, value=value)


def _rate(node: Traced, rates: Mapping[int, Number]) -> Number:
    """Return the derivative of a node from those of its arguments, where they are not zero."""
    operation, arguments = node.operation, node.arguments
    if operation == "spline":
        curves, order, component, x = arguments
        if order + 1 == len(curves):
            return 0.0
        return multiply(spline(curves, order + 1, component, x), rates[x.index])
    slopes = [rates.get(a.index, 0.0) if isinstance(a, Traced) else 0.0 for a in arguments]
    if operation == "where":
        return node.tape.where(arguments[:3], *slopes[3:])
    if operation in ("add", "sub", "neg"):
        return _ARITHMETIC[operation](*slopes)
    a = arguments[0]
    if operation == "mul":
        return add(multiply(slopes[0], arguments[1]), multiply(a, slopes[1]))
    if operation == "div":
        return divide(subtract(slopes[0], multiply(node, slopes[1])), arguments[1])
    if operation == "pow":
        n = arguments[1]
        return multiply(multiply(n, power(a, n - 1.0)), slopes[0])
    if operation == "arctan2":
        x = arguments[1]
        turned = subtract(multiply(x, slopes[0]), multiply(a, slopes[1]))
        return divide(turned, add(multiply(x, x), multiply(a, a)))
    return multiply(DERIVATIVES[operation](a, node), slopes[0])


def reachable(outputs: Sequence[Number]) -> list[Traced]:
    """Return the nodes that outputs are computed from, in their order on the tape."""
    found: dict[int, Traced] = {}
    waiting = [node for node in outputs if isinstance(node, Traced)]
    while waiting:
        node = waiting.pop()
        if node.index not in found:
            found[node.index] = node
            waiting += node.parents
    return [found[index] for index in sorted(found)]


def differentiate(outputs: Sequence[Number], seeds: Mapping[Traced, Number]) -> list[Number]:
    """Return the derivatives of outputs while inputs move at given rates; all others stand still.

    Rates may be traced numbers themselves. Those of the outputs are on the same tape: they can be
    differentiated again.
    """
    rates: dict[int, Number] = {node.index: rate for node, rate in seeds.items()}
    for node in reachable(outputs):
        moves = any(each.index in rates for each in node.parents)
        if moves and node.index not in rates:
            rate = _rate(node, rates)
            if isinstance(rate, Traced) or rate != 0.0:
                rates[node.index] = rate
    return [rates.get(out.index, 0.0) if isinstance(out, Traced) else 0.0 for out in outputs]


def gradient(output: Number, inputs: Sequence[Traced]) -> list[Number]:
    """Return the derivatives of one output by inputs, from the output back.

    That takes a few operations for each of the output's, however many inputs there are. They are on
    the same tape.
    """
    slopes: dict[int, Number] = {}
    if isinstance(output, Traced):
        slopes[output.index] = 1.0
    for node in reversed(reachable([output])):
        slope = slopes.get(node.index, 0.0)
        if node.operation == "input" or (not isinstance(slope, Traced) and slope == 0.0):
            continue
        for argument, share in _shares(node, slope):
            if isinstance(argument, Traced):
                slopes[argument.index] = add(slopes.get(argument.index, 0.0), share)
    return [slopes.get(each.index, 0.0) for each in inputs]


def _shares(node: Traced, slope: Number) -> list[tuple[Any, Number]]:
    """Return the arguments of a node, and the slope through it by each of them."""
    operation, arguments = node.operation, node.arguments
    if operation == "spline":
        curves, order, component, x = arguments
        if order + 1 == len(curves):
            return []
        return [(x, multiply(slope, spline(curves, order + 1, component, x)))]
    if operation == "where":
        condition, (a, b) = arguments[:3], arguments[3:]
        where = node.tape.where
        return [(a, where(condition, slope, 0.0)), (b, where(condition, 0.0, slope))]
    a = arguments[0]
    if operation == "neg":
        return [(a, negative(slope))]
    if operation in ("add", "sub"):
        return [(a, slope), (arguments[1], slope if operation == "add" else negative(slope))]
    if operation == "mul":
        return [(a, multiply(slope, arguments[1])), (arguments[1], multiply(slope, a))]
    if operation == "div":
        share = divide(slope, arguments[1])
        return [(a, share), (arguments[1], negative(multiply(share, node)))]
    if operation == "pow":
        n = arguments[1]
        return [(a, multiply(slope, multiply(n, power(a, n - 1.0))))]
    if operation == "arctan2":
        x = arguments[1]
        share = divide(slope, add(multiply(x, x), multiply(a, a)))
        return [(a, multiply(share, x)), (x, negative(multiply(share, a)))]
    return [(a, multiply(slope, DERIVATIVES[operation](a, node)))]


def substitute(
    outputs: Sequence[Number], values: Mapping[Traced, float]
) -> tuple[Tape, list[Number]]:
    """Return a tape on which some inputs are constants, and the outputs on it.

    The new tape has the guards of the old one, but for those that are settled.
    """
    old = next((out.tape for out in outputs if isinstance(out, Traced)), None)
    tape = Tape()
    if old is None:
        return tape, list(outputs)
    made: dict[int, Number] = {node.index: value for node, value in values.items()}

    def new(argument: Any) -> Any:
        return made[argument.index] if isinstance(argument, Traced) else argument

    compared = [side for guard in old.guards for side in (guard.left, guard.right)]
    guards = iter([*old.guards, None])
    guard = next(guards)
    for node in reachable([*outputs, *compared]):
        while guard is not None and guard.position <= node.index:
            _settle(tape, guard, new)
            guard = next(guards)
        if node.index not in made:
            made[node.index] = _again(tape, node, new)
    while guard is not None:
        _settle(tape, guard, new)
        guard = next(guards)
    return tape, [new(out) for out in outputs]


def _settle(tape: Tape, guard: Any, new: Callable[[Any], Any]) -> None:
    left, right = new(guard.left), new(guard.right)
    if isinstance(left, Traced) or isinstance(right, Traced):
        tape.guards.append(guard._replace(position=len(tape.nodes), left=left, right=right))


def _again(tape: Tape, node: Traced, new: Callable[[Any], Any]) -> Number:
    if node.operation == "input":
        return tape.input(node.arguments[0], node.value)
    arguments = [new(argument) for argument in node.arguments]
    if node.operation == "spline":
        return spline(*arguments)
    return operated(node.operation, arguments)


def operated(operation: str, arguments: Sequence[Any]) -> Number:
    """Return an operation of arithmetic, or an elementary function, of other arguments."""
    known = _ARITHMETIC.get(operation)
    return apply(operation, *arguments) if known is None else known(*arguments)
