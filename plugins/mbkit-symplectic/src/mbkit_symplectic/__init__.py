"""A variational, symplectic integrator for mbkit."""

from mbkit_symplectic.variational import VariationalIntegrator as VariationalIntegrator

__all__ = ["VariationalIntegrator"]
