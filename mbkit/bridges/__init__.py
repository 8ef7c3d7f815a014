"""Systems handed on to other programs: sympy, CasADi, JAX."""

from mbkit.bridges.casadi_function import casadi_function
from mbkit.bridges.jax_function import jax_function
from mbkit.bridges.symbolic import SymbolicSystem, symbolic

__all__ = ["casadi_function", "SymbolicSystem", "jax_function", "symbolic"]
