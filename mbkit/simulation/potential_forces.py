"""Forces with a potential, for methods that take no others."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import UsageError
from mbkit.forces import Force
from mbkit.integrators import Integrator
from mbkit.integrators.rattlie import constant_effort
from mbkit.systems import System

#: Power, by the largest there is, that is rounding.
_ROUNDED = 1e-12


def check_forces(system: System, integrator: Integrator, tau: Any, t: float, q: Any) -> None:
    """Raise where an integrator is given forces that it does not take."""
    if integrator.takes_forces_of_velocity:
        return
    method = type(integrator).__name__
    if tau is not None:
        raise UsageError(
            f"{method} takes forces with a potential alone, and tau was given; give an mbkit.Force "
            f"with a potential_energy, or use mbkit.GeneralizedAlpha()."
        )
    if not system.forces:
        return
    v = np.cos(1.0 + np.arange(system.nv))
    powers = np.abs(np.atleast_2d(system.force_powers(q, v, t))).sum(axis=1)
    f = system.generalized_forces(q, v, t)
    limit = _ROUNDED * (1.0 + float(np.abs(f) @ np.abs(v)))
    for force, power in zip(system.forces, powers, strict=True):
        if constant_effort(system, force) is not None:
            continue  # the integrator adds up its supplied energy
        fault = _fault(force, power > limit)
        if fault:
            raise UsageError(
                f"{method} takes forces with a potential alone, and force '{force.name}' of system "
                f"'{system.name}' {fault}, or use mbkit.GeneralizedAlpha()."
            )


def _fault(force: Force, works: bool) -> str:
    """Return why a force is not that of a potential, and the remedy; nothing where it is."""
    if np.any(getattr(force, "damping", 0.0)):
        return "is not conservative; leave its damping out"
    if not _has_potential(force):
        return "has no potential_energy; give it one where it has a potential"
    if works:
        return "dissipates or supplies power; let it be that of its potential alone"
    return ""


def _has_potential(force: Force) -> bool:
    kernels = force.kernels()
    if kernels is not None:
        return kernels.potential is not None
    return type(force).potential_energy is not Force.potential_energy
