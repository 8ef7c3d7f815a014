"""The integrators that have derivatives of their steps."""

from __future__ import annotations

import importlib

from mbkit.errors import UsageError
from mbkit.integrators import GeneralizedAlpha, Integrator, RungeKuttaMuntheKaas
from mbkit.sensitivities.linear_steps import Linearisation
from mbkit.simulation.preparation import Prepared

__all__ = ["METHODS", "check_method", "linearisation_of"]

#: Modules, each with a class `Steps`, a `Linearisation`.
METHODS: dict[type[Integrator], str] = {
    GeneralizedAlpha: "mbkit.sensitivities.generalized_alpha.steps",
    RungeKuttaMuntheKaas: "mbkit.sensitivities.munthe_kaas.steps",
}


def check_method(integrator: Integrator) -> None:
    """Raise UsageError where there are no derivatives of an integrator's steps."""
    if type(integrator) not in METHODS:
        raise UsageError(
            f"There are no derivatives of runs by {type(integrator).__name__}; take the run with "
            f"{' or '.join('mbkit.' + each.__name__ for each in METHODS)}."
        )


def linearisation_of(run: Prepared) -> Linearisation:
    """Return the steps of a run, linear about it."""
    check_method(run.integrator)
    module = importlib.import_module(METHODS[type(run.integrator)])
    found: Linearisation = module.Steps(run)
    return found
