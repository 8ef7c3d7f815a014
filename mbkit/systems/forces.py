"""Loads of a system: generalized forces, powers and potential energies of its forces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from mbkit.errors import ForceError, several
from mbkit.forces import Force
from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.evaluations import FORCE_POTENTIALS, FORCE_POWERS, GENERALIZED_FORCES

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "force_potentials",
    "force_powers",
    "generalized_forces",
    "with_forces",
    "without_forces",
]


def generalized_forces(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    t: ArrayLike = 0.0,
    *,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.generalized_forces`."""
    return system.evaluator.compute(GENERALIZED_FORCES, q, v, _times(t), out=out, on_error=on_error)


def force_powers(
    system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.force_powers`."""
    return system.evaluator.compute(FORCE_POWERS, q, v, _times(t), on_error=on_error)


def force_potentials(
    system: System, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.force_potentials`."""
    zero = system.evaluator.zero
    return system.evaluator.compute(FORCE_POTENTIALS, q, zero, _times(t), on_error=on_error)


def with_forces(system: System, forces: Iterable[Force]) -> System:
    """See `System.with_forces`."""
    if isinstance(forces, Force) or not several(forces):
        raise ForceError(f"with_forces takes several forces, got {forces!r}; give a list.")
    return system._blueprint.with_forces(tuple(forces))


def without_forces(system: System, names: Iterable[str]) -> System:
    """See `System.without_forces`."""
    if isinstance(names, str):
        raise ForceError(f"without_forces takes several names, got {names!r}; give a list.")
    if not (several(names) and all(isinstance(each, str) for each in names)):
        raise ForceError(f"without_forces takes names of forces, got {names!r}.")
    return system._blueprint.without_forces(tuple(names))


def _times(t: ArrayLike) -> Floats:
    times: Floats = times_of(t, "nan")[..., None]
    return times
