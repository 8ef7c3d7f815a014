"""Coefficients of explicit Runge-Kutta methods."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.integrators.order_conditions import order_defect

__all__ = ["DORMAND_PRINCE5", "EULER", "HEUN", "RK4", "TABLEAUS", "Tableau"]


#: How far a sum of coefficients may be from what it must be: rounding of some twenty numbers of
#: size ten.
TOLERANCE = 1e-13


def _read_only(values: Any) -> Any:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


@final
@attrs.frozen
class Tableau:
    """A Butcher tableau of an explicit method.

    Attributes
    ----------
    name : str
        What it is called.
    order : int
        Of the method: the conditions of all orders up to it hold.
    A : ndarray, shape (s, s)
        Strictly lower triangular: weights of the earlier stages.
    b : ndarray, shape (s,)
        Weights of the result; they add up to 1.
    c : ndarray, shape (s,)
        Nodes: the row sums of A.

    Raises
    ------
    UsageError
        If the shapes do not fit, or one of these conditions fails.

    Examples
    --------
    >>> import mbkit as mb
    >>> midpoint = mb.Tableau("midpoint", order=2, A=[[0, 0], [0.5, 0]], b=[0, 1])
    >>> midpoint.c
    array([0. , 0.5])
    """

    name: str
    order: int
    A: Any = attrs.field(converter=_read_only, eq=attrs.cmp_using(eq=np.array_equal), repr=False)
    b: Any = attrs.field(converter=_read_only, eq=attrs.cmp_using(eq=np.array_equal), repr=False)

    @property
    def c(self) -> Any:
        """Nodes, shape (s,)."""
        return self.A.sum(axis=1)

    def __attrs_post_init__(self) -> None:
        stages = self.b.size
        if self.b.shape != (stages,) or self.A.shape != (stages, stages) or stages == 0:
            raise UsageError(
                f"Tableau '{self.name}' needs A of shape (s, s) and b of shape (s,); "
                f"got {self.A.shape} and {self.b.shape}."
            )
        if not (np.isfinite(self.A).all() and np.isfinite(self.b).all()):
            raise UsageError(f"Tableau '{self.name}' has entries that are not finite.")
        if np.triu(self.A).any():
            raise UsageError(
                f"Tableau '{self.name}' is not explicit: A must be zero on and above its diagonal."
            )
        if abs(self.b.sum() - 1.0) > TOLERANCE:
            raise UsageError(
                f"Tableau '{self.name}': the weights b must add up to 1; got {self.b.sum():.17g}."
            )
        for order in range(2, self.order + 1):
            defect = order_defect(self.A, self.b, order)
            if defect > TOLERANCE:
                raise UsageError(
                    f"Tableau '{self.name}' claims order {self.order}, but a condition of order "
                    f"{order} is missed by {defect:.1e}; check the digits, or claim less."
                )


def _lower(rows: list[list[float | Fraction]]) -> Any:
    A = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        A[i, : len(row)] = [float(entry) for entry in row]
    return A


_F = Fraction

#: Explicit Euler.
EULER = Tableau("euler", order=1, A=[[0.0]], b=[1.0])

#: Heun's method of order 2.
HEUN = Tableau("heun", order=2, A=[[0.0, 0.0], [1.0, 0.0]], b=[0.5, 0.5])

#: The classical method. Kutta 1901.
RK4 = Tableau(
    "rk4",
    order=4,
    A=_lower([[], [0.5], [0.0, 0.5], [0.0, 0.0, 1.0]]),
    b=[1 / 6, 1 / 3, 1 / 3, 1 / 6],
)

#: The method of order 5 of Dormand and Prince 1980, table 2, RK5(4)7M, without its error estimate:
#: six stages.
DORMAND_PRINCE5 = Tableau(
    "dormand_prince5",
    order=5,
    A=_lower(
        [
            [],
            [_F(1, 5)],
            [_F(3, 40), _F(9, 40)],
            [_F(44, 45), _F(-56, 15), _F(32, 9)],
            [_F(19372, 6561), _F(-25360, 2187), _F(64448, 6561), _F(-212, 729)],
            [_F(9017, 3168), _F(-355, 33), _F(46732, 5247), _F(49, 176), _F(-5103, 18656)],
        ]
    ),
    b=[
        float(w) for w in (_F(35, 384), 0, _F(500, 1113), _F(125, 192), _F(-2187, 6784), _F(11, 84))
    ],
)

#: All of the above by name.
TABLEAUS = {tableau.name: tableau for tableau in (EULER, HEUN, RK4, DORMAND_PRINCE5)}
