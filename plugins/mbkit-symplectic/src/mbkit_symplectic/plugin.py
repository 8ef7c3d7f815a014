"""Hooks that mbkit finds when the distribution is installed."""

from __future__ import annotations

from mbkit.plugins import hookimpl
from mbkit_symplectic.variational import VariationalIntegrator


@hookimpl
def mbkit_integrators() -> dict[str, type[VariationalIntegrator]]:
    """Return the integrator by the name that studies call it."""
    return {"variational": VariationalIntegrator}
