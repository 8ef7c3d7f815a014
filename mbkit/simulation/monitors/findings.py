"""Findings about the numbers of a run that may be wrong: issued as warnings, kept in results."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import EnergyBalanceWarning
from mbkit.integrators.description import is_described
from mbkit.results import Result

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared
    from mbkit.systems import System

__all__ = ["UNKNOWN", "balance_is_known", "least_energy", "tell"]

#: Part of a radian, or of a metre, by which solvers may miss a configuration.
TOLERANCE = 1e-8


def least_energy(system: System, t: float, q: Any) -> float:
    """Return the energy that tolerances of positions may cost, whatever moves. [J].

    A mechanism that stands still under load has no other energy.
    """
    try:
        loads = np.abs(system.bias_force(q, np.zeros(system.nv)))
        if system.forces:
            loads = loads + np.abs(system.generalized_forces(q, np.zeros(system.nv), t))
    except Exception:  # of a force at rest, which the run need not have been
        return 0.0
    return TOLERANCE * float(np.nan_to_num(loads.sum()))


def balance_is_known(run: Prepared) -> bool:
    """Whether dissipated and supplied energy was added up, where forces have it.

    Integrators of users need not; these energies are zero then.
    """
    problem, system = run.problem, run.system
    if is_described(run.integrator) or problem.work.any():
        return True
    if run.tau is not None or system.motions or _moves_constraints(run):
        return False
    if not system.forces:
        return True
    v = np.cos(1.0 + np.arange(system.nv))  # that at the end may be zero
    try:
        return not np.any(system.force_powers(problem.q, v, problem.t0))
    except Exception:
        return False


def _moves_constraints(run: Prepared) -> bool:
    """Whether there are constraints that move in time."""
    system = run.system
    if not system.num_velocity_constraints:
        return False
    zero = np.zeros(system.nv)
    return bool(np.any(system.constraint_velocity(run.problem.q, zero, run.problem.t0)))


UNKNOWN = (
    "The energy balance is not known: the integrator does not add up what forces dissipate "
    "and supply, Problem.work."
)


def tell(
    run: Result, error: BaseException | None, told: tuple[str, ...], stacklevel: int = 4
) -> None:
    """Warn of errors found in the energies of a run that no error has ended.

    Those in `told` were issued during the run. Where warnings are errors, they carry the result.
    """
    if error is not None and not isinstance(error, KeyboardInterrupt):
        return
    for text in run.warnings:
        if text != UNKNOWN and text not in told:
            try:
                warnings.warn(text, EnergyBalanceWarning, stacklevel=stacklevel)
            except EnergyBalanceWarning as warning:
                warning.result = run  # type: ignore[attr-defined]
                raise
