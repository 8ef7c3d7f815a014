"""Energy, momentum and centre of mass of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.evaluations import ENERGIES, MOMENTUM

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["centre_of_mass", "energies", "kinetic_energy", "potential_energy"]


def kinetic_energy(system: System, q: ArrayLike, v: ArrayLike) -> float | Floats:
    """See `System.kinetic_energy`."""
    return _scalar(system.energies(q, v)[0])


def potential_energy(system: System, q: ArrayLike) -> float | Floats:
    """See `System.potential_energy`."""
    return _scalar(system.energies(q, system.evaluator.zero)[1])


def energies(
    system: System, q: ArrayLike, v: ArrayLike, *, on_error: str = "raise"
) -> tuple[Floats, Floats]:
    """See `System.energies`."""
    both = system.evaluator.compute(ENERGIES, q, v, on_error=on_error)
    return both[..., 0].copy(), both[..., 1].copy()


def centre_of_mass(system: System, q: ArrayLike, *, on_error: str = "raise") -> Floats:
    """See `System.centre_of_mass`."""
    found = system.evaluator.compute(MOMENTUM, q, system.evaluator.zero, on_error=on_error)
    with np.errstate(invalid="ignore"):
        return found[..., 6:] / np.float64(system.mass)


def _scalar(array: Floats) -> float | Floats:
    return array if array.ndim else float(array)
