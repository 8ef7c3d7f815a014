"""Loops that an integrator which keeps constraints itself leaves open."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import LockedMechanismWarning, MbkitError
from mbkit.integrators.integrator import Integrator, Rows
from mbkit.simulation.monitors.monitor import Monitor
from mbkit.systems import System
from mbkit.systems.rank import RANK

__all__ = ["OpenLoops"]

#: Rows of a part of a run that are looked at, at most.
_MOST = 200


class OpenLoops(Monitor):
    """Warns once where loops are open by more than the limit of closed ones.

    Constraints that depend on others but for `RANK` are no equations of implicit steps, so that
    nothing closes them: axes or points are slightly off a movable geometry. Methods whose
    steps end on closed loops stop there with an error.
    """

    BEGINS = "Loops open as the mechanism moves"
    CATEGORY = LockedMechanismWarning

    @classmethod
    def of(cls, system: System, integrator: Integrator) -> OpenLoops | None:
        """Return the monitor of a run; None where there are no loops, or each step closes them."""
        opens = system.num_position_constraints and integrator.keeps_constraints
        return cls(system) if opens else None

    def __init__(self, system: System) -> None:
        super().__init__()
        self._system = system

    def look(self, rows: Rows, t: float, q: Any) -> None:
        """Look at rows that were written."""
        finite = np.flatnonzero(np.isfinite(rows.q).all(axis=1))
        some = finite[:: -(-len(finite) // _MOST) or 1]
        if self.finding or not some.size:
            return
        system = self._system
        try:
            gaps = np.abs(system.constraint_residual(rows.q[some], rows.t[some]))
        except MbkitError:  # a state that cannot be evaluated; the run raises it
            return
        limit = RANK * system.arrays.closure.length
        beyond = gaps.max(axis=1) > limit
        if not beyond.any():
            return
        row = int(np.argmax(beyond))
        name = system.arrays.closure.position_row_names[int(np.argmax(gaps[row]))]
        self.finding = (
            f"{self.BEGINS}: at t = {rows.t[some[row]]:.6g} s '{name}' is open by "
            f"{gaps[row].max():.2g} m, more than {limit:.2g} m. Axes or points miss by little what "
            f"lets the mechanism move, and the integrator does not close what depends on the other "
            f"constraints but for {RANK:g}: strictly, the mechanism is locked. Place axes and "
            f"points exactly, or take joints that leave more free; print(system.diagnose(q)) says "
            f"more."
        )
