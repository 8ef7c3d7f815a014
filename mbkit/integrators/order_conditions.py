"""Order conditions of Runge-Kutta methods, one for each rooted tree."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

__all__ = ["dense_defect", "order_defect", "order_defects", "rooted_trees"]

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


def _vertices(tree: Tree) -> int:
    return 1 + sum(map(_vertices, tree))


def _density(tree: Tree) -> int:
    return _vertices(tree) * math.prod(map(_density, tree))


def _stage_weights(A: Any, tree: Tree, known: dict[Tree, Any]) -> Any:
    """Return Phi(t), shape (s,); trees share branches, whose weights are found once."""
    if tree not in known:
        factors = (A @ _stage_weights(A, branch, known) for branch in tree)
        known[tree] = math.prod(factors, start=np.ones(len(A), dtype=A.dtype))
    return known[tree]


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
