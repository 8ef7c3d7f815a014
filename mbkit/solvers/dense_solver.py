"""Strategies written in Python."""

from __future__ import annotations

import abc
from typing import Any

from numpy.typing import ArrayLike, NDArray

from mbkit.solvers.solver import ConstraintSolver, DenseKernels, SolverKernels


class DenseSolver(ConstraintSolver):
    """A strategy in Python over one dense matrix: subclass it and write `solve`.

    It is called back once for every solution, some ten microseconds on top of its computation.

    Examples
    --------
    By the pseudoinverse:

    >>> import attrs
    >>> import numpy as np
    >>> import mbkit as mb
    >>> @attrs.frozen
    ... class Pseudoinverse(mb.DenseSolver):
    ...     cutoff: float = 1e-10
    ...
    ...     def solve(self, rows, target):
    ...         inverse = np.linalg.pinv(rows, rcond=self.cutoff)
    ...         return -inverse.T @ (inverse @ target)
    >>> Pseudoinverse().solve(np.diag([1.0, 2.0]), np.array([3.0, 4.0]))
    array([-3., -1.])
    """

    @abc.abstractmethod
    def solve(self, rows: NDArray[Any], target: NDArray[Any]) -> ArrayLike:
        """Return multipliers with ``rows rows^T multipliers = -target``.

        Parameters
        ----------
        rows : ndarray, shape (m, nv)
            ``A M^-1/2``: the rows of the constraints in velocities whose square is twice the
            kinetic energy. Zero for prescribed velocities. Its rank may be less than m; all states
            that the equations of motion meet are to be solved.
        target : ndarray, shape (m,)
            The violation of the constraints. [m/s^2]; in projections [m], [m/s].

        Returns
        -------
        array_like, shape (m,)
            The multipliers; of those that solve, the ones of least norm, if `System.solve_dynamics`
            is to return these. It must depend on the arguments alone.
        """

    def kernels(self, num_velocities: int, num_rows: int) -> SolverKernels:
        """Return the functions that call back; see `ConstraintSolver`."""
        from mbkit.kernels.constraints.solve import python_solver as own

        memory = own.memory_size(num_rows)
        return SolverKernels.of_dense(DenseKernels(own.prepare, own.solve, memory), 0.0)
