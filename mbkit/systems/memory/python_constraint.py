"""Constraints and their solvers in Python inside the compiled solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.constraints import Constraint
from mbkit.constraints.derivatives import ConstraintDerivatives
from mbkit.errors import ShapeError
from mbkit.kernels.constraints import layout
from mbkit.solvers import DenseSolver
from mbkit.systems.memory.callbacks import callback_address, read_only


class PythonConstraintSlot:
    """The arguments and the answer of one Python constraint in one workspace.

    Memory: see OWN_* in `mbkit.kernels.constraints.layout`.
    """

    def __init__(self, constraint: Constraint, derivatives: ConstraintDerivatives) -> None:

        nq, nv = derivatives.motion.num_positions, derivatives.motion.num_velocities
        nb, m, g = len(constraint.bodies), constraint.num_rows, constraint.num_position_rows
        sizes = [nq, nv, 16 * nb, 6 * nb, g + m * (2 + 6 * nb + nv)]
        start = layout.OWN_VECTORS
        self.error: BaseException | None = None
        self.memory = np.zeros(start + sum(sizes))
        self.memory[layout.OWN_EVALUATE] = callback_address("evaluate")
        parts = np.split(self.memory[start:], np.cumsum(sizes)[:-1])
        parts[2].reshape(nb, 4, 4)[:, 3, 3] = 1.0
        q, v, poses, twists = (read_only(part) for part in parts[:4])
        self._arguments = q, v, poses.reshape(nb, 4, 4), twists.reshape(nb, 6)
        self._said = parts[4]
        self._derivatives = derivatives
        self._time = layout.OWN_TIME

    def evaluate(self) -> None:
        """Write residual, rate, bias, wrenches and coefficients."""
        time = self.memory.item(self._time)
        self._said[:] = self._derivatives.numbers(time, *self._arguments)


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
