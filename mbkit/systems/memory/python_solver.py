"""A constraint solver that is written in Python, and the memory it is called back with."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import ShapeError
from mbkit.solvers import DenseSolver
from mbkit.systems.memory.callbacks import callback_address

__all__ = ["PythonSolverSlot"]


class PythonSolverSlot:
    """Views of the arguments of `DenseSolver.solve`, prepared once."""

    def __init__(self, solver: DenseSolver, memory: Any, matrix: Any) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.constraints.solve import python_solver as own

        self.error: BaseException | None = None
        self.memory = memory
        self._solver = solver
        self._rows = matrix.T
        m = len(self._rows)
        self._target = memory[own.SOLVER_VECTORS : own.SOLVER_VECTORS + m]
        self._multipliers = memory[own.SOLVER_VECTORS + m :]
        memory[own.SOLVER_CALLBACK] = callback_address("solve")
        memory[own.SOLVER_ADDRESS] = array_address(memory)

    def solve(self) -> None:
        """Call the solver."""
        found = np.asarray(self._solver.solve(self._rows.copy(), self._target.copy()))
        if found.shape != self._multipliers.shape:
            raise ShapeError(
                f"{type(self._solver).__name__}.solve must return one multiplier a row, shape "
                f"{self._multipliers.shape}, got shape {found.shape}."
            )
        self._multipliers[:] = found
