"""From a tape to a Python function of floats."""

from __future__ import annotations

import math
from collections import Counter
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
    compared = [side for guard in tape.guards for side in (guard.left, guard.right)]
    nodes = reachable([*outputs, *compared])
    writer = _Writer(space, nodes, [*outputs, *compared])
    guards = [*tape.guards]
    for node in nodes:
        while guards and guards[0].position <= node.index:
            writer.check(guards.pop(0))
        writer.write(node)
    for guard in guards:
        writer.check(guard)
    results = ", ".join(map(writer.operand, outputs))
    source = "\n".join(
        [f"def program({', '.join(arguments)}):", *writer.lines, f"    return ({results},)", ""]
    )
    # The text holds names of functions above and numbers of a tape, nothing that anybody wrote.
    exec(compile(source, "<derivatives>", "exec"), space)  # noqa: S102
    program: Callable[..., tuple[float, ...] | None] = space["program"]
    return program


#: Most operations within one another in an expression: Python's compiler has a limit.
_DEEPEST = 12


class _Writer:
    """Lines of a program. Results that are used once stand in the line that uses them.

    That takes two thirds of the time of compiling a line for each.
    """

    def __init__(
        self, space: dict[str, Any], nodes: Sequence[Traced], results: Sequence[Number]
    ) -> None:
        self.lines: list[str] = []
        self._space = space
        self._uses = Counter(each.index for node in nodes for each in node.parents)
        self._uses.update(each.index for each in results if isinstance(each, Traced))
        self._within: dict[int, tuple[str, int]] = {}  # expressions by node, and their depth
        self._calls: dict[Any, str] = {}

    def write(self, node: Traced) -> None:
        """Write a node, or keep its expression for the line that uses it."""
        depth = 1 + max(
            (self._within[a.index][1] for a in node.parents if a.index in self._within), default=0
        )
        expression = self._expression(node)
        if self._uses[node.index] == 1 and depth < _DEEPEST:
            self._within[node.index] = f"({expression})", depth
        else:
            self.lines.append(f"    t{node.index} = {expression}")

    def check(self, guard: Guard) -> None:
        """Write a line that leaves the program where a comparison comes out otherwise."""
        condition = f"{self.operand(guard.left)} {guard.comparison} {self.operand(guard.right)}"
        self.lines.append(f"    if {'not ' if guard.outcome else ''}({condition}): return None")

    def operand(self, number: Number) -> str:
        """Return how a number is written where it is used."""
        if not isinstance(number, Traced):
            return f"({float(number)!r})"
        known = self._within.get(number.index)
        return f"t{number.index}" if known is None else known[0]

    def _expression(self, node: Traced) -> str:
        if node.operation == "input":
            return str(node.arguments[0])
        if node.operation == "spline":
            curves, order, component, x = node.arguments
            # one call for all entries of a curve's result
            key = id(curves), order, x.index
            if key not in self._calls:
                name = f"curve{len(self._calls)}"
                self._space[name] = curves[order]
                self._calls[key] = f"{name}_at_{x.index}"
                self.lines.append(
                    f"    {self._calls[key]} = ravel({name}({self.operand(x)})).tolist()"
                )
            return f"{self._calls[key]}[{component}]"
        operands = map(self.operand, node.arguments)
        form = _FORMS.get(node.operation)
        if form is None:
            return f"{node.operation}({', '.join(operands)})"
        return form.format(*operands)
