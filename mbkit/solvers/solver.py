"""The contract of a strategy that finds the multipliers of constraints."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

import attrs

from mbkit.final import FinalBuiltIns

if TYPE_CHECKING:
    from mbkit.kernels.compile import FunctionAddress

#: The one rule of rank: a row of constraints counts where more than this part of the largest row is
#: left of it after the rows before, in parts of the length of the system. Loops may be open by as
#: much at the start of a run; factors of squares can resolve it from rounding. Dynamics go by
#: it (`mbkit.kernels.constraints.solve.rank`), and kinematics and diagnosis (`mbkit.systems.rank`).
RANK = 1e-6


@attrs.frozen(eq=False)
class DenseKernels:
    """Compiled functions over one dense matrix; see `mbkit.kernels.constraints.solve.dense`.

    Attributes
    ----------
    prepare, solve : FunctionAddress
        Of the forms ``DENSE_PREPARE`` and ``DENSE_SOLVE``.
    memory : int
        How many numbers of their own they need.
    """

    prepare: FunctionAddress
    solve: FunctionAddress
    memory: int


@attrs.frozen(eq=False)
class SolverKernels:
    """Functions of a solver for equations of motion: `mbkit.kernels.constraints.solve.strategy`.

    Attributes
    ----------
    prepare, resolve : FunctionAddress
        Of the forms ``PREPARE`` and ``RESOLVE``.
    reduce : FunctionAddress, optional
        Replaces multipliers by those of least norm; None where they are these already.
    tolerance : float
        A row depends on others if elimination leaves less than this part of its squared size.
    dense : DenseKernels, optional
        Where `prepare` and `resolve` are those of `mbkit.kernels.constraints.solve.dense`.
    gather : FunctionAddress, optional
        Brings the efforts of given multipliers into u of every velocity; by the response of the
        tree if left out.
    nested : SolverKernels, optional
        Called instead where loops are nested and local elimination of each at its base is cheaper;
        if left out, the wrenches of all rows are propagated to the world.
    """

    prepare: FunctionAddress
    resolve: FunctionAddress
    reduce: FunctionAddress | None = None
    tolerance: float = 0.0
    dense: DenseKernels | None = None
    gather: FunctionAddress | None = None
    nested: SolverKernels | None = None

    @classmethod
    def of_dense(cls, dense: DenseKernels, tolerance: float) -> SolverKernels:
        """Return those of a strategy on a dense matrix."""
        from mbkit.kernels.constraints.solve.dense import prepare_dense, resolve_dense

        return cls(prepare_dense, resolve_dense, tolerance=tolerance, dense=dense)


class ConstraintSolver(FinalBuiltIns, abc.ABC):
    """A strategy that finds the multipliers of the constraints of a closed mechanism.

    The accelerations without constraints are known, and how far they would violate these. A
    strategy finds multipliers with ``A M^-1 A^T multipliers = -target``, and the motion that they
    cause, of least kinetic energy. All strategies start from the same factors of the
    articulated-body algorithm, in which neither M nor A is formed; they differ in how they solve.

    Rows that depend on others must change neither the motion nor the multipliers that are unique;
    of the others `System.solve_dynamics` promises those of least norm.

    Strategies of your own: subclass `DenseSolver` to write one in Python, or this class to hand
    over compiled functions.
    """

    @abc.abstractmethod
    def kernels(self, num_velocities: int, num_rows: int) -> SolverKernels:
        """Return the compiled functions for a system.

        Parameters
        ----------
        num_velocities, num_rows : int
            Of the system: entries of v, and rows of constraints.

        Returns
        -------
        SolverKernels
            They are functions of their arguments alone, or runs cannot be resumed bit for bit.
        """
