"""The equations for efforts of actuators at many states, and their solutions."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, final

import attrs
import numpy as np

from mbkit.closed_loops.actuation import Actuation
from mbkit.solvers.solver import RANK
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.memory.orthogonal_factors import memory_of_factors

__all__ = ["ActuatedStates", "ForceSides"]


class ForceSides(NamedTuple):
    """Right sides by k columns; without the last two they are zero.

    Attributes
    ----------
    forces : ndarray, shape (N, nv, k)
        The sum that efforts of actuators and multipliers must give.
    turned : ndarray, shape (N, m, k), optional
        Changes of A y, where y are the adjoints.
    hidden : ndarray, shape (N, m, k), optional
        Multipliers of which that part is taken which no motion feels.
    """

    forces: Floats
    turned: Floats | None = None
    hidden: Floats | None = None


@final
@attrs.frozen(eq=False)
class ActuatedStates:
    """N states of a mechanism whose actuators act, with the factors of their equations.

    Formulas: `mbkit.kernels.constraints.actuated_equations`.

    Attributes
    ----------
    equations, factors : Actuated, Factors
        Of that module.
    """

    equations: Any
    factors: Any

    @classmethod
    def of(cls, actuation: Actuation, A: Floats, sizes: Floats) -> Self:
        """Factorise, from constraint Jacobians (N, m, nv) and the sizes of velocities (nv,).

        A size is the displacement of the bodies [m] for a unit of a velocity.
        """
        from mbkit.kernels.constraints.actuated_equations import (
            Actuated,
            Factors,
            Memory,
            factorise_all,
        )

        count, m, nv = A.shape
        is_by_efforts = actuation.roots is not None
        roots = np.ones(len(actuation.actuated)) if actuation.roots is None else actuation.roots
        passive = np.array(actuation.passive, dtype=np.int64)
        equations: Any = Actuated(
            _own(A), _own(sizes),
            np.array(actuation.actuated, dtype=np.int64), passive, _own(roots), int(is_by_efforts),
        )  # fmt: skip
        shapes = (nv, m), (m, len(passive)), (m, len(roots))
        every = [memory_of_factors(shape, np.full(count, max(m, nv))) for shape in shapes]
        matrices = [np.empty(shape) for shape in shapes]
        along = np.empty((min(shapes[1]), len(roots)))
        factors: Any = Factors(*(each for each, _ in every))
        parts: list[Any] = [*matrices, *(each for _, each in every), along]
        memory: Any = Memory(*parts)
        factorise_all(equations, RANK, factors, memory)
        return cls(equations, factors)

    @property
    def redundancy(self) -> Any:
        """How many efforts could be chosen freely, int (N,)."""
        return self.factors.whole.rank - self.factors.passive.rank

    @property
    def is_hidden(self) -> bool:
        """Whether a part of multipliers is felt by no motion, and is not least by itself."""
        rows = self.equations.A.shape[1]
        return bool(self.equations.is_by_efforts) and bool((self.factors.whole.rank < rows).any())

    def solve(self, sides: ForceSides) -> tuple[Floats, Floats]:
        """Return efforts (N, nv, k), zero at passive velocities, and multipliers (N, m, k)."""
        from mbkit.kernels.constraints.actuated_equations import Found, Sides, solve_all

        count, m, nv = self.equations.A.shape
        k = sides.forces.shape[-1]
        none = np.zeros((count, 0, k))
        given: Any = Sides(*(none if x is None else _own(x) for x in sides))
        found: Any = Found(np.empty((count, nv, k)), np.empty((count, m, k)))
        solve_all(self.equations, self.factors, given, found, self._columns(k))
        return found.efforts, found.multipliers

    def adjoints(self, efforts: Floats, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return y and mu (N, nv) of solutions (N, nv) and (N, m)."""
        from mbkit.kernels.constraints.actuated_equations import Adjoints, set_adjoints_all

        given = _own(efforts), _own(multipliers)
        found: Any = Adjoints(*given, np.empty(efforts.shape), np.empty(efforts.shape))
        set_adjoints_all(self.equations, self.factors, found, self._columns(1))
        return found.y, found.mu

    def _columns(self, k: int) -> Any:
        from mbkit.kernels.constraints.actuated_equations import Columns

        _, m, nv = self.equations.A.shape
        most = (factors.C.shape[-1] for factors in self.factors)
        driven, passive = (len(x) for x in (self.equations.actuated, self.equations.passive))
        return Columns(*(np.empty((n, k)) for n in (passive, driven, m, nv, *most)))


def _own(x: Any) -> Floats:
    """Return a copy, as kernels take it."""
    return np.array(x, dtype=np.float64, order="C")
