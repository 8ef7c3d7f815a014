"""Runs whose `h` is left out: the integrator chooses its steps by a tolerance."""

from __future__ import annotations

from mbkit.errors import UsageError
from mbkit.integrators import Integrator, RungeKuttaMuntheKaas
from mbkit.integrators.coefficients.tableaus import DORMAND_PRINCE5

__all__ = ["INTERVALS", "RTOL", "check_step_size", "default_integrator"]

#: Relative and absolute tolerance of a step where none is given: energies of smooth motions then
#: drift by some 1e-6 of themselves over hundreds of periods. [rad, m, rad/s, m/s]
RTOL = 1e-8

#: Parts of the span after each of which the state is saved.
INTERVALS = 1000


def default_integrator(h: float | None) -> Integrator:
    """Return the method of a run that names none: with a step size of order 4, else adaptive."""
    if h is not None:
        return RungeKuttaMuntheKaas()
    return RungeKuttaMuntheKaas(DORMAND_PRINCE5, rtol=RTOL)


def check_step_size(integrator: Integrator, h: float | None) -> None:
    """Raise UsageError where neither the run nor its integrator defines the step size."""
    if h is not None or integrator.adaptive:
        return
    name = type(integrator).__name__
    own = name in ("RungeKuttaMuntheKaas", "GeneralizedAlpha")
    remedy = f"{name}(..., rtol=1e-6), " if own else "mbkit.GeneralizedAlpha(rtol=1e-4), "
    raise UsageError(
        f"h was left out, and {integrator!r} takes steps of one size: give h, the size of a step, "
        f"or an integrator that chooses its steps by a tolerance: {remedy}or none for "
        f"{default_integrator(None)!r}."
    )
