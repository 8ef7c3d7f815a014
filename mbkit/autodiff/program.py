"""From a tape to a Python function of floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.rules import reachable
from mbkit.autodiff.tape import FUNCTIONS, Guard, Number, Tape, Traced

#: The result of a program where a comparison comes out otherwise than when it was traced.
LEFT = None

_FORMS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "div": "{} / {}",
    "neg": "-{}",
}


def compile_tape(
    tape: Tape, outputs: Sequence[Number], arguments: Sequence[str]
) -> Callable[..., tuple[float, ...] | None]:
    """Return a function that computes outputs on a tape from other inputs, as a tuple of floats.

    Its arguments are sequences of floats: the input ``q[2]`` is the third of ``q``. It returns
    `LEFT` where a comparison comes out otherwise, and raises the errors of `math`: ValueError,
    ZeroDivisionError, OverflowError.
    """
    space: dict[str, Any] = {**FUNCTIONS, "inf": math.inf, "nan": math.nan, "ravel": np.ravel}
    lines: list[str] = []
    compared = [side for guard in tape.guards for side in (guard.left, guard.right)]
    nodes = reachable([*outputs, *compared])
    guards = [*tape.guards]
    calls: dict[Any, str] = {}
    for node in nodes:
        while guards and guards[0].position <= node.index:
            lines.append(_checked(guards.pop(0)))
        lines.append(f"    t{node.index} = {_expression(node, space, calls, lines)}")
    lines += [_checked(guard) for guard in guards]
    results = ", ".join(map(_operand, outputs))
    source = "\n".join(
        [f"def program({', '.join(arguments)}):", *lines, f"    return ({results},)", ""]
    )
    # The text holds names of functions above and numbers of a tape, nothing that anybody wrote.
    exec(compile(source, "<derivatives>", "exec"), space)  # noqa: S102
    program: Callable[..., tuple[float, ...] | None] = space["program"]
    return program


def _operand(number: Number) -> str:
    return f"t{number.index}" if isinstance(number, Traced) else f"({float(number)!r})"


def _checked(guard: Guard) -> str:
    condition = f"{_operand(guard.left)} {guard.comparison} {_operand(guard.right)}"
    return f"    if {'not ' if guard.outcome else ''}({condition}): return None"


def _expression(
    node: Traced, space: dict[str, Any], calls: dict[Any, str], lines: list[str]
) -> str:
    if node.operation == "input":
        return str(node.arguments[0])
    if node.operation == "spline":
        curves, order, component, x = node.arguments
        # one call for all entries of a curve's result
        key = id(curves), order, x.index
        if key not in calls:
            name = f"curve{len(calls)}"
            space[name] = curves[order]
            calls[key] = f"{name}_at_{x.index}"
            lines.append(f"    {calls[key]} = ravel({name}(t{x.index})).tolist()")
        return f"{calls[key]}[{component}]"
    operands = map(_operand, node.arguments)
    form = _FORMS.get(node.operation)
    if form is None:
        return f"{node.operation}({', '.join(operands)})"
    return form.format(*operands)
