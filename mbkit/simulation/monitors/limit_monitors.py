"""Monitors of the limits of joints, which no equation applies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mbkit.events import Event
from mbkit.simulation.monitors.passed_limits import PassedLimits
from mbkit.simulation.monitors.passed_sizes import PassedEfforts, PassedVelocities
from mbkit.systems import System

if TYPE_CHECKING:
    from mbkit.systems.forms.momentum_form import MomentaInLoops

__all__ = ["OfLimits"]


class OfLimits(NamedTuple):
    """Monitors of limits of positions, velocities and efforts."""

    positions: PassedLimits
    velocities: PassedVelocities
    efforts: PassedEfforts

    @classmethod
    def of(
        cls, system: System, events: Sequence[Event], momenta: MomentaInLoops | None = None
    ) -> OfLimits:
        """Return the monitors of a run with these events; `momenta` are those of a run in them."""
        velocities = PassedVelocities(system, events, momenta)
        return cls(PassedLimits(system, events), velocities, PassedEfforts(system))

    @property
    def watch(self) -> bool:
        """Whether there is a limit that may be passed."""
        return any(each.watches for each in self)
