"""A tape on which comparisons of numbers become branches of a result, not of the trace.

A function that compares is run once for each way through its comparisons. The results are put
together by nodes ``where``: its arguments are the comparison, both of its sides, and both results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mbkit.autodiff.rules import operated, reachable
from mbkit.autodiff.tape import (
    COMPARISONS,
    CannotTraceError,
    Number,
    Tape,
    Traced,
    value_of,
)

__all__ = ["BranchingTape", "substituted"]

#: Ways through the comparisons of one function that are followed.
_WAYS = 512


class BranchingTape(Tape):
    """A tape whose numbers stand for all numbers.

    Numbers that are compared for equality count as different. Other comparisons follow the
    values, and none is recorded, except within `every_way`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._plan: list[bool] | None = None
        self._taken: dict[tuple[Any, ...], tuple[bool, tuple[str, Number, Number]]] = {}

    def compare(self, comparison: str, left: Number, right: Number) -> bool:
        """Return how a comparison comes out on the way that is followed."""
        if comparison == "==":
            return False
        if self._plan is None:
            return bool(COMPARISONS[comparison](value_of(left), value_of(right)))
        key = comparison, *(id(x) if isinstance(x, Traced) else ("=", x) for x in (left, right))
        if key not in self._taken:
            place = len(self._taken)
            outcome = self._plan[place] if place < len(self._plan) else True
            self._taken[key] = outcome, (comparison, left, right)
        return self._taken[key][0]

    def every_way(self, run: Callable[[], list[Number]]) -> list[Number]:
        """Return what `run` returns, with a node ``where`` for each of its comparisons.

        It is called several times and must do the same each time. Within a function that is
        followed already, its comparisons are its own. CannotTraceError where it has more than 512
        ways.
        """
        outer, count = (self._plan, self._taken), 0

        def follow(plan: list[bool]) -> list[Number]:
            nonlocal count
            count += 1
            if count > _WAYS:
                raise CannotTraceError(f"it has more than {_WAYS} ways through its comparisons")
            self._plan, self._taken = plan, {}
            try:
                found = run()
                taken = [*self._taken.values()]
            finally:
                self._plan = None
            for place in range(len(taken) - 1, len(plan) - 1, -1):
                outcomes = [outcome for outcome, _ in taken[:place]]
                other = follow([*outcomes, False])
                found = [
                    self.where(taken[place][1], *both) for both in zip(found, other, strict=True)
                ]
            return found

        try:
            return follow([])
        finally:
            self._plan, self._taken = outer


def again(tape: BranchingTape, node: Traced, arguments: list[Any]) -> Number:
    """Return the operation of a node on other arguments."""
    if node.operation == "where":
        comparison, left, right, a, b = arguments
        return tape.where((comparison, left, right), a, b)
    if node.operation in ("spline", "input"):
        return node
    return operated(node.operation, arguments)


def substituted(outputs: list[Number], values: Mapping[Traced, Number]) -> list[Number]:
    """Return outputs with other numbers in the place of some inputs, on the same tape."""
    made: dict[int, Number] = {node.index: value for node, value in values.items()}

    def new(argument: Any) -> Any:
        return made.get(argument.index, argument) if isinstance(argument, Traced) else argument

    for node in reachable(outputs):
        if node.index not in made:
            arguments = [new(argument) for argument in node.arguments]
            if any(x is not y for x, y in zip(arguments, node.arguments, strict=True)):
                tape: Any = node.tape
                made[node.index] = again(tape, node, arguments)
    return [new(out) for out in outputs]
