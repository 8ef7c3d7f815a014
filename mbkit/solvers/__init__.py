"""Strategies for the multipliers of constraints: solutions of A M^-1 A^T x = y.

Their classes and their choice; the compiled solutions are in `mbkit.kernels.constraints.solve`.
"""

from mbkit.solvers.built_in import *
from mbkit.solvers.dense_solver import DenseSolver as DenseSolver
from mbkit.solvers.descriptions import described as described
from mbkit.solvers.descriptions import from_description as from_description
from mbkit.solvers.solver import ConstraintSolver as ConstraintSolver
from mbkit.solvers.solver import DenseKernels as DenseKernels
from mbkit.solvers.solver import SolverKernels as SolverKernels
from mbkit.solvers.strategies import automatic_solver as automatic_solver
