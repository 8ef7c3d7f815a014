"""The strategies of mbkit, and the choice where none is named."""

from __future__ import annotations

import math
from typing import Any, final

import attrs

from mbkit.errors import UsageError
from mbkit.solvers.solver import RANK, ConstraintSolver, DenseKernels, SolverKernels

__all__ = [
    "MinimumNorm",
    "NullSpace",
    "SchurComplement",
    "automatic_solver",
]


def _check_part(instance: Any, attribute: Any, value: object) -> None:
    if not (isinstance(value, int | float) and 0.0 < value < 1.0 and math.isfinite(value)):
        raise UsageError(
            f"{type(instance).__name__}: {attribute.name} must be a number between 0 and 1, got "
            f"{value!r}."
        )


@final
@attrs.frozen
class SchurComplement(ConstraintSolver):
    """``A M^-1 A^T = L L^T`` by blocks: linear in the size of tree and loops.

    The blocks are the constraints, in an order of minimum degree; within a block the largest pivot
    goes first. Constraints of few rows are one block. The product squares A: singular values are
    resolved to the root of rounding only. So the residual of the constraints is computed, and
    solved for again until it is zero to rounding.

    Attributes
    ----------
    tolerance : float, default 1e-6
        A row of which less than this part is independent of others is redundant; see `RANK`.

    References
    ----------
    .. [1] R. Featherstone, *Rigid Body Dynamics Algorithms*, Springer 2008, section 8.5.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.SchurComplement()
    SchurComplement(tolerance=1e-06)
    """

    tolerance: float = attrs.field(default=RANK, validator=_check_part)

    def kernels(self, num_velocities: int, num_rows: int) -> SolverKernels:
        """Return the compiled functions; see `ConstraintSolver`."""
        from mbkit.kernels.constraints.solve import schur_complement as schur

        nested = SolverKernels(
            schur.prepare_nested, schur.resolve_nested, schur.reduce_nested,
            tolerance=self.tolerance**2, gather=schur.gather_nested,
        )  # fmt: skip
        return SolverKernels(
            schur.prepare_schur, schur.resolve_schur, schur.reduce_schur,
            tolerance=self.tolerance**2, nested=nested,
        )  # fmt: skip


@final
@attrs.frozen
class MinimumNorm(ConstraintSolver):
    """Efforts and multipliers of least norm by orthogonal factors, nothing squared.

    Householder reflections with column pivoting of ``M^-1/2 A^T``, whose rows come from the
    articulated-body algorithm. The most exact near singular postures; the cost is that of a dense
    matrix, nv by rows by rank.

    Attributes
    ----------
    tolerance : float, default 1e-6
        A row of which less than this part is independent of others is redundant; see `RANK`.

    References
    ----------
    .. [1] G. Golub, C. Van Loan, *Matrix Computations*, 4th edition, 2013, sections 5.4 and 5.5.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.MinimumNorm()
    MinimumNorm(tolerance=1e-06)
    """

    tolerance: float = attrs.field(default=RANK, validator=_check_part)

    def kernels(self, num_velocities: int, num_rows: int) -> SolverKernels:
        """Return the compiled functions; see `ConstraintSolver`."""
        from mbkit.kernels.constraints.solve import minimum_norm as own

        return _dense(own, num_velocities, num_rows, self.tolerance)


@final
@attrs.frozen
class NullSpace(ConstraintSolver):
    """The motion is projected on the motions that the constraints allow.

    These are found by elimination, the largest entries first; with a basis N of them the equations
    ``N^T M N`` have as many unknowns as the mechanism has freedoms. The cost is that of a dense
    matrix.

    Attributes
    ----------
    tolerance : float, default 1e-6
        A row of which less than this part is independent of others is redundant; see `RANK`.

    References
    ----------
    .. [1] J. Garcia de Jalon, E. Bayo, *Kinematic and Dynamic Simulation of Multibody Systems*,
       Springer 1994, chapter 5.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.NullSpace()
    NullSpace(tolerance=1e-06)
    """

    tolerance: float = attrs.field(default=RANK, validator=_check_part)

    def kernels(self, num_velocities: int, num_rows: int) -> SolverKernels:
        """Return the compiled functions; see `ConstraintSolver`."""
        from mbkit.kernels.constraints.solve import null_space as own

        return _dense(own, num_velocities, num_rows, self.tolerance)


def _dense(own: Any, num_velocities: int, num_rows: int, tolerance: float) -> SolverKernels:
    """Return the functions of a module of `mbkit.kernels.constraints.solve` for dense matrices."""
    memory = own.memory_size(num_velocities, num_rows)
    return SolverKernels.of_dense(DenseKernels(own.prepare, own.solve, memory), tolerance**2)


#: Up to so many rows a dense matrix costs little beside the rest: for 20 rows a tenth of
#: an evaluation.
FEW_ROWS = 24


def automatic_solver(num_velocities: int, num_rows: int) -> ConstraintSolver:
    """Return the strategy for a system, by its size and the rank that it can have at most.

    A mechanism that moves has a rank below nv. With nv rows or more some are then redundant, as in
    planar linkages of hinges: if they are few, `MinimumNorm` separates them from rows that become
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
