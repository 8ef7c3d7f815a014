"""States of a run that are looked at beside the rows it saves, where these are few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.integrators.integrator import Problem, Rows
from mbkit.simulation.momenta import with_velocities
from mbkit.simulation.outputs.energies import energies
from mbkit.systems.forms.momentum_form import MomentaInLoops

if TYPE_CHECKING:
    from mbkit.kernels.time_loops.records import KeptSamples
    from mbkit.systems import System

__all__ = ["Samples", "sampled_steps"]

#: How many there are in a run.
COUNT = 64

#: Steps between them have no common measure, so that no period of the motion is theirs.
GOLDEN = 0.6180339887498949


def sampled_steps(steps: int) -> Any:
    """Return after how many of so many steps states are looked at, besides that at the start."""
    places = np.floor(np.arange(1, COUNT + 1) * GOLDEN % 1.0 * steps).astype(np.int64)
    return np.unique(np.append(places, steps))


class Samples:
    """States of a problem after some of its steps, the same however a run is cut into calls.

    The motion may be at rest at each saved row, as a pendulum at the ends of its periods; whether
    energies are in balance is judged by the energy that moves between.
    """

    def __init__(self, problem: Problem, steps: int, momenta: MomentaInLoops | None = None) -> None:
        self._steps = np.append(0, sampled_steps(steps))
        self._problem = problem
        self._momenta = momenta
        count = self._steps.size
        self._q = np.zeros((count, problem.nq))
        self._v = np.zeros((count, problem.nv))
        self._work = np.zeros((count, 2))
        self._taken = np.zeros(count, dtype=bool)

    def fitting(self, step: int, count: int) -> int:
        """Return how many steps from `step` on, up to `count`, lead to the next one."""
        following = self._following(step)
        if following == self._steps.size:
            return count
        return min(count, int(self._steps[following]) - step)

    def _following(self, step: int) -> int:
        return int(np.searchsorted(self._steps, step, side="right"))

    def after(self, step: int) -> KeptSamples:
        """Return where a compiled loop keeps those after more than so many steps."""
        from mbkit.kernels.time_loops.records import KeptSamples

        k = self._following(step)
        return KeptSamples(self._steps[k:], self._q[k:], self._v[k:], self._work[k:])

    def note_kept(self, first: int, last: int) -> None:
        """Note that a loop has kept those after more than `first` and up to `last` steps."""
        self._taken[self._following(first) : self._following(last)] = True

    def note(self, step: int) -> None:
        """Take the problem's state after so many steps, if it is one of them."""
        k = self._following(step) - 1
        if self._steps[k] == step:
            problem = self._problem
            self._q[k], self._v[k], self._work[k] = problem.q, problem.v, problem.work
            self._taken[k] = True

    def energies(self, system: System, first: int, last: int) -> Any:
        """Return t and four energies (5, k) of those after `first` to `last` steps."""
        steps, problem = self._steps, self._problem
        chosen = self._taken & (steps >= first) & (steps <= last)
        if not chosen.any():
            return np.zeros((5, 0))
        t = problem.t0 + steps[chosen] * problem.h
        q, v, work = self._q[chosen], self._v[chosen], self._work[chosen]
        rows = with_velocities(self._momenta, Rows(t, q, v, work, np.zeros((t.size, 0))))
        kinetic, potential, _ = energies(system, rows)
        return np.stack([t, kinetic, potential, work[:, 0], work[:, 1]])

    def forget(self, last: int) -> None:
        """Drop those of up to `last` steps."""
        self._taken[self._steps <= last] = False
