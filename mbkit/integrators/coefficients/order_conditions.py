"""Order conditions of Runge-Kutta methods by rooted trees, of compositions by ordered forests.

On a group that does not commute the order in which things happen counts: an elementary differential
is a product of frozen vector fields in their order, a word whose letters are ordered trees.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = [
    "composition_defect",
    "dense_defect",
    "order_defect",
    "order_defects",
    "ordered_forests",
    "rooted_trees",
]

#: A rooted tree is the sorted tuple of the branches at its root.
Tree = tuple["Tree", ...]


@functools.cache
def rooted_trees(order: int) -> tuple[Tree, ...]:
    """Return all rooted trees with `order` vertices: 1, 1, 2, 4, 9, 20, 48, ... of them.

    Examples
    --------
    >>> len(rooted_trees(4))
    4
    """
    return _forests(order - 1, order - 1)


@functools.cache
def _forests(vertices: int, largest: int) -> tuple[tuple[Tree, ...], ...]:
    """Return all multisets of trees with `vertices` vertices, none of more than `largest`."""
    if vertices == 0:
        return ((),)
    found = {
        tuple(sorted((tree, *rest)))
        for size in range(1, min(vertices, largest) + 1)
        for tree in rooted_trees(size)
        for rest in _forests(vertices - size, size)
    }
    return tuple(sorted(found))


@functools.cache
def _vertices(tree: Tree) -> int:
    return 1 + sum(map(_vertices, tree))


@functools.cache
def _density(tree: Tree) -> int:
    return _vertices(tree) * math.prod(map(_density, tree))


def _stage_weights(A: Any, tree: Tree, known: dict[Tree, Any]) -> Any:
    """Return Phi(t), shape (s,); trees share branches, whose A Phi is found once."""
    for branch in tree:
        if branch not in known:
            known[branch] = A @ _stage_weights(A, branch, known)
    return math.prod(map(known.__getitem__, tree), start=np.ones(len(A), dtype=A.dtype))


def order_defect(A: Any, b: Any, order: int) -> float:
    """Return the largest ``|b . Phi(t) - 1 / gamma(t)|`` over the trees t of `order` vertices.

    A (s, s) are the coefficients of the stages, b (s,) the weights. Zero, to rounding, if the
    conditions of this order hold. Source: as `dense_defect`, theorem II.2.13.

    Examples
    --------
    >>> order_defect(np.zeros((1, 1)), np.ones(1), 2)  # explicit Euler: 0 for 1/2
    0.5
    """
    return max(map(abs, map(float, order_defects(A, b, order))))


def order_defects(A: Any, b: Any, order: int) -> list[Any]:
    """Return ``b . Phi(t) - 1 / gamma(t)`` for all trees of one order, of any numbers.

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> heun = np.array([[F(0), F(0)], [F(1), F(0)]]), np.array([F(1, 2), F(1, 2)])
    >>> order_defects(*heun, 3)
    [Fraction(1, 6), Fraction(-1, 6)]
    """
    known: dict[Tree, Any] = {}
    one = b[0] * 0 + 1
    return [
        b @ _stage_weights(A, tree, known) - one / _density(tree) for tree in rooted_trees(order)
    ]


def dense_defect(A: Any, b_dense: Any, order: int) -> float:
    """Return the largest coefficient of ``b(theta) . Phi(t) - theta**order / gamma(t)``.

    t are the trees of `order` vertices, A (s, s) the coefficients of the stages, b_dense (s, d)
    those of theta, theta^2, ... in the weights. Zero, to rounding, if the conditions hold at every
    theta. Source: Hairer, Norsett, Wanner, *Solving Ordinary Differential Equations I*, Springer
    1993, theorem II.6.1.

    Examples
    --------
    >>> dense_defect(np.zeros((1, 1)), np.ones((1, 1)), 1)  # a straight line
    0.0
    """
    wanted = np.zeros(max(order, b_dense.shape[1]))
    wanted[order - 1] = 1.0
    known: dict[Tree, Any] = {}
    return max(
        float(
            np.abs(
                _padded(_stage_weights(A, tree, known) @ b_dense, wanted) - wanted / _density(tree)
            ).max()
        )
        for tree in rooted_trees(order)
    )


def _padded(values: Any, like: Any) -> Any:
    return np.concatenate([values, np.zeros(like.size - values.size)])


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
def exact_coefficient(forest: Forest) -> float:
    """Return the coefficient of a word in the flow of the equation itself.

    The last letter comes last: d/dt of the coefficient is that of the word before it times that of
    the branches at the last tree's root, all of which are powers of t.
    """
    if not forest:
        return 1.0
    branches = forest[-1]
    return (
        exact_coefficient(forest[:-1]) * exact_coefficient(branches) / sum(map(_vertices, forest))
    )


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
