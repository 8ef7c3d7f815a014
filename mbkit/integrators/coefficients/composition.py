"""The coefficients of methods that compose exponentials, as data that is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import UsageError, check_kind
from mbkit.integrators.checks import as_array, check_array, check_name_and_order, whole
from mbkit.integrators.coefficients.order_conditions import composition_defect
from mbkit.integrators.coefficients.tableau import Tableau

__all__ = ["COMPOSITIONS", "COMMUTATOR_FREE3", "COMMUTATOR_FREE4", "Composition"]

#: How far a sum of coefficients may be from its required value.
TOLERANCE = 1e-13

#: More stages are a mistake: no known method has as many.
_MOST_STAGES = 1000


def _tables(stages: Any) -> Any:
    """Return read-only arrays (J, s), of which the number of stages is known from their number.

    Other values than sequences, and entries that are no arrays, return unchanged, to be checked.
    """
    if isinstance(stages, str) or not isinstance(stages, Sequence | np.ndarray):
        return stages
    if (isinstance(stages, np.ndarray) and stages.ndim == 0) or len(stages) > _MOST_STAGES:
        return stages
    tables = tuple(as_array(rows) for rows in stages)
    none = as_array(np.zeros((0, max(0, len(tables) - 1))))  # no exponential
    return tuple(
        none if isinstance(table, np.ndarray) and table.size == 0 else table for table in tables
    )


def _same(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(map(np.array_equal, one, other))


@final
@attrs.frozen
class Composition:
    """Products of exponentials: where the stages of a method are, and where its step ends.

    Stage i is at ``q exp(x_1) exp(x_2) ...`` with ``x_m = h sum_j stages[i][m, j] k_j``, where k_j
    is the velocity at the stage j before it; the last of `stages` is the end of the step.

    Attributes
    ----------
    name : str
        The name.
    order : int
        Of the method, on groups that do not commute: the conditions of all ordered forests up to it
        hold.
    stages : tuple of ndarray, shape (J, s)
        s + 1 of them: weights of the s stages in the exponents, a row each.

    Raises
    ------
    UsageError
        If the shapes do not fit, a stage uses one that is not before it, or a condition fails.

    Examples
    --------
    >>> import mbkit as mb
    >>> midpoint = mb.Composition("midpoint", order=2, stages=[[], [[0.5, 0]], [[0, 1]]])
    >>> midpoint.num_exponentials
    2
    """

    name: str
    order: int = attrs.field(converter=whole)
    stages: Any = attrs.field(converter=_tables, eq=attrs.cmp_using(eq=_same), repr=False)

    @classmethod
    def of_tableau(cls, tableau: Tableau) -> Composition:
        """Return one exponential an entry, in the order of the stages: Crouch and Grossman's.

        Its order is as high as the conditions hold, up to that of the tableau.
        """
        check_kind("Composition.of_tableau: tableau", tableau, Tableau, "an mbkit.Tableau")
        count = tableau.num_stages
        rows = (*tableau.A[:count, :count], tableau.b[:count])
        stages = [[row[j] * np.eye(row.size)[j] for j in np.flatnonzero(row)] for row in rows]
        order = 1
        while order < tableau.order and composition_defect(_tables(stages), order + 1) <= TOLERANCE:
            order += 1
        return cls(tableau.name, order, stages)

    @property
    def A(self) -> Any:
        """Sums of the exponents, (s + 1, s): the tableau where the group commutes; b comes last."""
        return np.array([table.sum(axis=0) for table in self.stages])

    @property
    def num_exponentials(self) -> int:
        """How many exponentials a step takes."""
        return sum(len(table) for table in self.stages)

    def packed(self) -> Any:
        """Return all exponents as one array (s + 1, J, s), with rows of zeros after the last."""
        count = len(self.stages) - 1
        packed = np.zeros((count + 1, max(len(table) for table in self.stages), count))
        for i, table in enumerate(self.stages):
            packed[i, : len(table)] = table
        return packed

    def __attrs_post_init__(self) -> None:
        check_name_and_order(self)
        if not (isinstance(self.stages, tuple) and len(self.stages) > 1):
            raise UsageError(
                f"Composition '{self.name}': stages must be a list of the exponents of each stage, "
                f"one at least, and of the end of the step, {_MOST_STAGES} at most, got "
                f"{self.stages!r}; for example [[], [[1.0]]]."
            )
        count = len(self.stages) - 1
        for i, table in enumerate(self.stages):
            check_array(f"Composition '{self.name}'", f"entry {i} of stages", table)
            if table.ndim != 2 or table.shape[1] != count or not np.isfinite(table).all():
                raise UsageError(
                    f"Composition '{self.name}' has {count} stages and its end: entry {i} of "
                    f"stages must be rows of {count} finite weights, one an exponential; got shape "
                    f"{table.shape}."
                )
            if i < count and table[:, i:].any():
                raise UsageError(
                    f"Composition '{self.name}' is not explicit: stage {i} uses stage "
                    f"{i + int(np.flatnonzero(table[:, i:].any(axis=0))[0])}."
                )
        for order in range(1, self.order + 1):
            defect = composition_defect(self.stages, order)
            if defect > TOLERANCE:
                raise UsageError(
                    f"Composition '{self.name}' claims order {self.order}, but a condition of "
                    f"order {order} is missed by {defect:.1e}; check the digits and the order of "
                    f"the exponentials, or claim less."
                )


#: Three stages of one exponential, two at the end, of which the first is that of the second stage.
#: Celledoni, Marthinsen, Owren, "Commutator-free Lie group methods", Future Gener. Comput. Syst. 19
#: (2003) 341-352.
COMMUTATOR_FREE3 = Composition(
    "commutator_free3",
    order=3,
    stages=[
        [],
        [[1 / 3, 0, 0]],
        [[0, 2 / 3, 0]],
        [[1 / 3, 0, 0], [-1 / 12, 0, 3 / 4]],
    ],
)

#: The same authors' method of order 4, with the stages of the classical Runge-Kutta method.
COMMUTATOR_FREE4 = Composition(
    "commutator_free4",
    order=4,
    stages=[
        [],
        [[1 / 2, 0, 0, 0]],
        [[0, 1 / 2, 0, 0]],
        [[1 / 2, 0, 0, 0], [-1 / 2, 0, 1, 0]],
        [[1 / 4, 1 / 6, 1 / 6, -1 / 12], [-1 / 12, 1 / 6, 1 / 6, 1 / 4]],
    ],
)

#: All of the above by name.
COMPOSITIONS = {each.name: each for each in (COMMUTATOR_FREE3, COMMUTATOR_FREE4)}
