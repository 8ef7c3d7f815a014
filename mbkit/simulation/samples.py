"""States of a run that are looked at beside the rows it saves, where these are few."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.integrators.integrator import Problem, Rows
from mbkit.simulation.energies import energies
from mbkit.simulation.momenta import with_velocities
from mbkit.systems.momentum_form import MomentaInLoops

if TYPE_CHECKING:
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

    What saved rows show may be at rest each time, as a pendulum at the ends of its periods; whether
    energies are in balance is judged by what moves between.
    """

    def __init__(self, problem: Problem, steps: int, momenta: MomentaInLoops | None = None) -> None:
        self._steps: list[int] = sampled_steps(steps).tolist()
        self._wanted = frozenset([0, *self._steps])
        self._problem = problem
        self._momenta = momenta
        self._taken: dict[int, tuple[float, Any, Any, Any]] = {}

    def fitting(self, step: int, count: int) -> int:
        """Return how many steps from `step` on, up to `count`, lead to the next one."""
        following = bisect.bisect_right(self._steps, step)
        if following == len(self._steps):
            return count
        return min(count, self._steps[following] - step)

    def note(self, step: int) -> None:
        """Take the problem's state after so many steps, if it is one of them."""
        if step in self._wanted:
            problem = self._problem
            t = problem.t0 + step * problem.h
            self._taken[step] = (t, problem.q.copy(), problem.v.copy(), problem.work.copy())

    def energies(self, system: System, first: int, last: int) -> Any:
        """Return t and four energies (5, k) of those after `first` to `last` steps."""
        states = [self._taken[step] for step in sorted(self._taken) if first <= step <= last]
        if not states:
            return np.zeros((5, 0))
        t, q, v, work = (np.array(part) for part in zip(*states, strict=True))
        rows = with_velocities(self._momenta, Rows(t, q, v, work, np.zeros((t.size, 0))))
        kinetic, potential, _ = energies(system, rows)
        return np.stack([t, kinetic, potential, work[:, 0], work[:, 1]])

    def forget(self, last: int) -> None:
        """Drop those of up to `last` steps."""
        self._taken = {step: state for step, state in self._taken.items() if step > last}
