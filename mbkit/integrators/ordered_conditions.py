"""Order conditions of methods that compose exponentials, one for each forest of ordered trees.

On a group that does not commute the order in which things happen counts: an elementary differential
is a product of frozen vector fields in their order, a word whose letters are ordered trees.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

__all__ = ["composition_defect", "ordered_forests"]

#: An ordered tree is the tuple of the branches at its root, a forest that of its trees.
Forest = tuple["Forest", ...]


@functools.cache
def ordered_forests(vertices: int) -> tuple[Forest, ...]:
    """Return all ordered forests with so many vertices: 1, 1, 2, 5, 14, 42, ... of them.

    Examples
    --------
    >>> len(ordered_forests(4))
    14
    """
    if vertices == 0:
        return ((),)
    return tuple(
        (*before, branches)
        for size in range(1, vertices + 1)
        for branches in ordered_forests(size - 1)
        for before in ordered_forests(vertices - size)
    )


@functools.cache
def _vertices(forest: Forest) -> int:
    return sum(1 + _vertices(branches) for branches in forest)


@functools.cache
def exact_coefficient(forest: Forest) -> float:
    """Return the coefficient of a word in the flow of the equation itself.

    The last letter comes last: d/dt of the coefficient is that of the word before it times that of
    the branches at the last tree's root, all of which are powers of t.
    """
    if not forest:
        return 1.0
    branches = forest[-1]
    return exact_coefficient(forest[:-1]) * exact_coefficient(branches) / _vertices(forest)


class _Composition:
    """The coefficients of a method's stages, and of its result."""

    def __init__(self, stages: Sequence[Any]) -> None:
        self._stages = stages
        self._known: dict[tuple[int, int, Forest], float] = {}

    def coefficient(self, stage: int, forest: Forest) -> float:
        """Return that of a word in the state of a stage: a product of exponentials."""
        return self._of_product(stage, len(self._stages[stage]), forest)

    def _of_product(self, stage: int, factors: int, forest: Forest) -> float:
        """Return that of the first `factors` exponentials: words are cut before the last one."""
        if factors == 0:
            return 0.0 if forest else 1.0
        key = (stage, factors, forest)
        if key not in self._known:
            weights = self._stages[stage][factors - 1]
            total, letters = 0.0, 1.0
            for count in range(len(forest) + 1):
                if count > 0:
                    letters *= self._of_letter(weights, forest[-count])
                rest = forest[: len(forest) - count]
                total += (
                    self._of_product(stage, factors - 1, rest) * letters / math.factorial(count)
                )
            self._known[key] = total
        return self._known[key]

    def _of_letter(self, weights: Any, branches: Forest) -> float:
        """Return that of one tree in an exponent, which is a sum of the stages' vector fields."""
        return sum(
            float(weight) * self.coefficient(stage, branches)
            for stage, weight in enumerate(weights)
            if weight != 0.0
        )


def composition_defect(stages: Sequence[Any], order: int) -> float:
    """Return the largest difference between method and flow over the forests of `order` vertices.

    A stage, and last the result, is an array (J, s) of the weights of the stages in its exponents,
    the first of which acts first. Zero, to rounding, if the conditions of this order hold.

    Source: Owren, Marthinsen, "Runge-Kutta methods adapted to manifolds and based on rigid frames",
    BIT 39 (1999) 116-142; Owren, "Order conditions for commutator-free Lie group methods", J. Phys.
    A 39 (2006) 5585-5599. The coefficients are computed by their recursions.

    Examples
    --------
    >>> euler = [[], [[1.0]]]
    >>> composition_defect(euler, 1), composition_defect(euler, 2)
    (0.0, 0.5)
    """
    method = _Composition(stages)
    last = len(stages) - 1
    return max(
        abs(method.coefficient(last, forest) - exact_coefficient(forest))
        for forest in ordered_forests(order)
    )
