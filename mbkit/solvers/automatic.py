"""The choice of a strategy where none is named."""

from __future__ import annotations

from mbkit.solvers.solver import ConstraintSolver
from mbkit.solvers.strategies import MinimumNorm, SchurComplement

__all__ = ["automatic_solver"]

#: Up to so many rows a dense matrix costs little beside what lies around it: for 20 rows a tenth of
#: an evaluation.
FEW_ROWS = 24


def automatic_solver(num_velocities: int, num_rows: int) -> ConstraintSolver:
    """Return the strategy for a system, by its size and the rank that it can have at most.

    A mechanism that moves has a rank below nv. With nv rows or more some are then redundant, as in
    planar linkages of hinges: if they are few, `MinimumNorm` tells them from rows that become
    dependent at singular postures. Else `SchurComplement`. It depends on the system alone, not on
    its state.

    Examples
    --------
    >>> from mbkit.solvers import automatic_solver
    >>> automatic_solver(num_velocities=3, num_rows=5)
    MinimumNorm(tolerance=1e-06)
    >>> automatic_solver(num_velocities=81, num_rows=200)
    SchurComplement(tolerance=1e-06)
    """
    if num_velocities <= num_rows <= FEW_ROWS:
        return MinimumNorm()
    return SchurComplement()
