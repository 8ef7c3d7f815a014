"""Warnings of joints that are faster, or driven harder, than limits which nothing applies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import LimitsNotAppliedWarning
from mbkit.events import Event, JointVelocity
from mbkit.integrators.integrator import Rows
from mbkit.results.columns import effort_units, velocity_units
from mbkit.simulation.held_efforts import Held
from mbkit.simulation.momenta import with_velocities
from mbkit.simulation.monitors.monitor import Monitor
from mbkit.systems import System

if TYPE_CHECKING:
    from mbkit.systems.forms.momentum_form import MomentaInLoops

__all__ = ["PassedEfforts", "PassedVelocities"]

#: By how much a size may be beyond its limit, in parts of this, so that it may stand at it.
ROUNDED = 1e-6


class _Limited:
    """Limits of the absolute values of a vector (nv,), infinite where there are none."""

    def __init__(self, system: System, limits: Any, apart: Collection[str]) -> None:
        most = np.array(limits)
        for name in system.prescribed_joints:
            most[system.velocity_slice(name)] = np.inf
        self._names = system.velocity_names
        for k, name in enumerate(self._names):
            if name in apart:
                most[k] = np.inf
        self.any = bool(np.isfinite(most).any())
        self._limits, self._most = most, most * (1.0 + ROUNDED)

    def beyond(self, values: Any) -> Any:
        """Return where values (..., nv) are beyond their limits."""
        return np.abs(values) > self._most

    def said(self, k: int, values: Any, units: Sequence[str]) -> str:
        """Return the description of the k-th value, and its limit."""
        unit = f" {units[k]}" if units[k] else ""
        return (
            f"'{self._names[k]}' is {values[k]:.6g}{unit}, its limit {self._limits[k]:.6g}{unit}. "
            f"Limits of joints are data, and nothing in the model keeps to this one: "
        )


class PassedVelocities(Monitor):
    """Warns once of the first joint that is faster than the limit of its velocity.

    It looks at saved states; `momenta` are those of a run in them. Prescribed joints and those with
    an event at one of their velocities are not looked at.
    """

    BEGINS = "Limits of velocities are not applied"
    CATEGORY = LimitsNotAppliedWarning

    def __init__(
        self, system: System, events: Sequence[Event], momenta: MomentaInLoops | None = None
    ) -> None:
        super().__init__()
        watched = [each.when.name for each in events if isinstance(each.when, JointVelocity)]
        self._limited = _Limited(system, system.velocity_limits, watched)
        self._system, self._momenta = system, momenta

    @property
    def watches(self) -> bool:
        """Whether there is a joint that may be too fast, and none has been so far."""
        return self._limited.any and not self.finding

    def look(self, rows: Rows, t: float, q: Any) -> None:
        """Look at rows that were written."""
        if not self.watches or rows.t.size == 0:
            return
        v = with_velocities(self._momenta, rows).v
        beyond = self._limited.beyond(v)
        if not beyond.any():
            return
        row = int(np.argmax(beyond.any(axis=1)))
        system = self._system
        units = velocity_units(system.position_names, system.position_units, system.velocity_names)
        said = self._limited.said(int(np.argmax(beyond[row])), v[row], units)
        self.finding = (
            f"{self.BEGINS}: at t = {rows.t[row]:.6g} s the velocity of {said}ask for a slower "
            f"motion, or leave `velocity` out of the limits. This is said of the first joint alone."
        )


class PassedEfforts(Monitor):
    """Warns once of the first joint that is given a greater effort than its limit.

    It checks the efforts `tau` of a run, not those of forces and of prescribed joints. A step that
    is tried again evaluates efforts at the same times again: the last counts.
    """

    BEGINS = "Limits of efforts are not applied"
    CATEGORY = LimitsNotAppliedWarning

    def __init__(self, system: System) -> None:
        super().__init__()
        self._limited = _Limited(system, system.effort_limits, ())
        self._system = system
        self._last: tuple[float, str] | None = None
        self.held: Held | None = None  # efforts that are evaluated at rows

    @property
    def watches(self) -> bool:
        """Whether there is a joint that may be driven too hard, and none has been so far."""
        return self._limited.any and not self.finding

    def hear(self, t: float, tau: Any) -> None:
        """Look at the efforts (nv,) that act at a time."""
        if not self.watches:
            return
        if self._last is not None and t <= self._last[0]:
            self._last = None
        if self._last is None:
            beyond = self._limited.beyond(tau)
            if beyond.any():
                self._last = t, self._said(t, tau, int(np.argmax(beyond)))

    def look(self, rows: Rows, t: float, q: Any) -> None:
        """Issue the warnings collected until the end of a step."""
        if self.held is not None and self.watches:
            for time in rows.t.tolist():
                self.hear(time, self.held.at(time))
        if self._last is not None and not self.finding:
            self.finding = self._last[1]

    def _said(self, t: float, tau: Any, k: int) -> str:
        system = self._system
        units = effort_units(system.position_names, system.position_units, system.velocity_names)
        said = self._limited.said(k, tau, units)
        return (
            f"{self.BEGINS}: at t = {t:.6g} s the effort tau of {said}clip what the controller "
            f"returns, numpy.clip(tau, -system.effort_limits, system.effort_limits), or leave "
            f"`effort` out of the limits. This is said of the first joint alone."
        )
