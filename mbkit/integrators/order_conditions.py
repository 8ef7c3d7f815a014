"""Order conditions of Runge-Kutta methods, one for each rooted tree."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

__all__ = ["order_defect", "rooted_trees"]

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


def _stage_weights(A: Any, tree: Tree) -> Any:
    return math.prod((A @ _stage_weights(A, branch) for branch in tree), start=np.ones(len(A)))


def order_defect(A: Any, b: Any, order: int) -> float:
    """Return the largest ``|b . Phi(t) - 1 / gamma(t)|`` over the trees of one order.

    Source: Hairer, Norsett, Wanner, *Solving Ordinary Differential Equations I*, Springer 1993,
    theorem II.2.13.

    Parameters
    ----------
    A : ndarray, shape (s, s)
        Coefficients of the stages.
    b : ndarray, shape (s,)
        Weights.
    order : int
        Number of vertices of the trees.

    Returns
    -------
    float
        Zero, to rounding, if the conditions of this order hold.

    Examples
    --------
    >>> order_defect(np.zeros((1, 1)), np.ones(1), 2)  # explicit Euler: 0 for 1/2
    0.5
    """
    return max(
        abs(float(b @ _stage_weights(A, tree)) - 1.0 / _density(tree))
        for tree in rooted_trees(order)
    )
