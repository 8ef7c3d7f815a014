"""Coefficients of Runge-Kutta methods with as many digits as their numbers have.

Those of high order are published with 16 to 18 digits, and hold their order conditions to that:
with smaller errors a method of order 8 shows the order of what is missed, which is 1 and less. Next
to them there are others that hold them all. Newton's method finds these, in least steps: the
derivative at the doubles is good enough for ten digits a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit import Tableau
from mbkit.integrators.coefficients.order_conditions import order_defects

#: Singular values of the derivative below this part of the largest are rounding: there are more
#: conditions than coefficients, and they depend on each other.
RANK = 1e-12

MOST_STEPS = 6


def exact_tableau(tableau: Tableau, number: Callable[[float], Any], rounding: float) -> Any:
    """Return A and b that hold the order conditions to rounding; zeros stay what they are.

    Parameters
    ----------
    tableau : Tableau
        Where they are looked for.
    number : callable
        Makes a number of a float.
    rounding : float
        What conditions may be missed by.
    """
    places = [*zip(*np.nonzero(tableau.A), strict=True)], np.flatnonzero(tableau.b)
    x = _numbers([*(tableau.A[place] for place in places[0]), *tableau.b[places[1]]], number)
    zeros = _numbers(np.zeros(tableau.A.size), number).reshape(tableau.A.shape)

    def parts(x: Any) -> tuple[Any, Any]:
        A, b = zeros.copy(), zeros[0].copy()
        for place, value in zip(places[0], x, strict=False):
            A[place] = value
        b[places[1]] = x[len(places[0]) :]
        return A, b

    def defects(x: Any) -> Any:
        return np.array(
            [
                each
                for order in range(1, tableau.order + 1)
                for each in order_defects(*parts(x), order)
            ]
        )

    shift = number(2.0**-60)
    for _ in range(MOST_STEPS):
        left = defects(x)
        size = np.abs(left).max()
        if size <= rounding:
            return parts(x)
        columns = [(defects(x + shift * unit) - left) / shift for unit in np.eye(x.size, dtype=int)]
        step = np.linalg.pinv(np.array(columns, dtype=np.float64).T, rcond=RANK)
        x = x - size * _numbers(step @ (left / size).astype(np.float64), number)
    raise ValueError(f"the order conditions of '{tableau.name}' are missed by {float(size):.1e}")


def _numbers(values: Any, number: Callable[[float], Any]) -> Any:
    made = np.empty(len(values), dtype=object)
    made[:] = [number(float(value)) for value in values]
    return made
