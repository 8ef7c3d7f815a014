"""A tape, computed once more with numbers of another kind."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mbkit.autodiff.rules import reachable
from mbkit.autodiff.tape import Number, Traced
from mbkit.errors import UsageError

ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
}


def replay(
    what: str,
    outputs: Sequence[Number],
    inputs: Mapping[Traced, Any],
    operations: Mapping[str, Callable[..., Any]],
    constant: Callable[[float], Any],
) -> list[Any]:
    """Return outputs of a tape for other inputs, as numbers of another kind.

    `what` is for messages; `operations` are those of tapes by name, ``where(comparison, left,
    right, a, b)`` among them; `constant` makes a number of a float.
    """
    made = {node.index: value for node, value in inputs.items()}

    def new(argument: Any) -> Any:
        if isinstance(argument, Traced):
            return made[argument.index]
        return argument if isinstance(argument, str) else constant(float(argument))

    for node in reachable(outputs):
        if node.index in made:
            continue
        function = operations.get(node.operation)
        if function is None:
            raise UsageError(
                f"{what}: {node.operation!r} cannot be handed on; it is in a joint or a force of "
                f"your own. Write it with other functions, or leave it out "
                f"(System.without_forces)."
            )
        made[node.index] = function(*map(new, node.arguments))
    return [new(out) for out in outputs]
