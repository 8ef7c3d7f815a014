"""Warnings of joints that pass limits which nothing applies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.errors import LimitsNotAppliedWarning
from mbkit.events import Event, JointPosition
from mbkit.forces import LimitStop
from mbkit.integrators.integrator import Rows
from mbkit.simulation.monitors.monitor import Monitor
from mbkit.systems import System

__all__ = ["PassedLimits"]

#: By how much a position may be beyond a limit, as resets of events leave it. [rad], [m]
ROUNDED = 1e-6


class PassedLimits(Monitor):
    """Warns once of the first joint that is beyond a limit of its position.

    Limits are data, which no equation has. Joints with a `LimitStop`, with an event at one of their
    positions, and prescribed ones are not looked at.
    """

    BEGINS = "Limits are not applied"
    CATEGORY = LimitsNotAppliedWarning

    def __init__(self, system: System, events: Sequence[Event]) -> None:
        super().__init__()
        self._names = system.position_names
        held = {each.joint for each in system.forces if isinstance(each, LimitStop)}
        held.update(system.prescribed_joints)
        watched = [each.when for each in events if isinstance(each.when, JointPosition)]
        held.update(each.name.partition("[")[0] for each in watched)
        limited: Any = np.isfinite(system.position_limits).any(axis=1)
        for name in held:
            if name in system.joint_names:
                limited[system.position_slice(name)] = False
        self._entries = np.flatnonzero(limited)
        lower, upper = system.position_limits[self._entries].T
        self._lower, self._upper = lower - ROUNDED, upper + ROUNDED

    @property
    def watches(self) -> bool:
        """Whether there is a joint that may pass a limit, and none has so far."""
        return bool(self._entries.size) and not self.finding

    def look(self, rows: Rows, t: float, q: Any) -> None:
        """Look at rows that were written, and at the state of the problem, which comes later."""
        self._look_at(rows.t, rows.q)
        self._look_at([t], [q])

    def _look_at(self, t: Any, q: Any) -> None:
        """Look at states with times (k,) and positions (k, nq)."""
        if not self.watches or len(t) == 0:
            return
        here = np.asarray(q)[:, self._entries]
        beyond = (here < self._lower) | (here > self._upper)
        if beyond.any():
            row = int(np.argmax(beyond.any(axis=1)))
            self.finding = self._said(float(t[row]), here[row], int(np.argmax(beyond[row])))

    def _said(self, t: float, here: Any, k: int) -> str:
        side = "upper" if here[k] > self._upper[k] else "lower"
        limit = self._upper[k] - ROUNDED if side == "upper" else self._lower[k] + ROUNDED
        name = self._names[self._entries[k]]
        return (
            f"{self.BEGINS}: at t = {t:.6g} s '{name}' is at {here[k]:.6g}, beyond its {side} "
            f"limit {limit:.6g}. Limits of joints are data, and nothing in the model stops it: "
            f"mechanism.add_limit_stops() adds stops to all of them. This is said of the first "
            f"joint alone."
        )
