"""Steps of adaptive size, linear about a run: those that the run took, with their sizes fixed.

`recorded` takes and keeps them, `AcceptedSteps` are put together between the points of the grid.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from mbkit.sensitivities.linear_steps import Linearisation, LinearSteps
from mbkit.systems.calls.arguments import Floats

__all__ = ["AcceptedSteps", "recorded"]


#: Takes the steps of a grid, writes them into memory and how many lead to each point; the status.
Record = Callable[[Any, Any, Any], int]


def recorded(
    whole: Linearisation, record: Record, memory: Callable[[int], Any], first: int, count: int
) -> tuple[Any, Any, Floats]:
    """Take the steps of some intervals as the run does, and keep them.

    Parameters
    ----------
    whole : Linearisation
        The run.
    record : callable
        ``record(grid, history, reached)``; see `Record`.
    memory : callable
        Memory for a number of steps: a NamedTuple of arrays with that many rows.
    first, count : int
        The intervals.

    Returns
    -------
    NamedTuple
        The steps, M.
    ndarray of int, shape (count + 1,)
        How many of them lead to each point of the grid.
    ndarray, shape (M, nv)
        Efforts in each.
    """
    from mbkit.kernels.time_loops.records import Grid

    problem = whole.problem
    kept, ends, tau, room = [], [0], [], 2 * count
    for begin, size in whole.with_constant_efforts(first, count):
        done = 0
        while done < size:
            history, reached = memory(room), np.zeros(size - done, dtype=np.int64)
            grid = Grid(
                problem.t0, problem.h, first + begin + done, size - done, problem.save_every
            )
            status = record(grid, history, reached)
            assert status == 0, "the steps of a run that was completed"
            found = reached[reached > 0]
            if found.size:
                kept.append([x[: found[-1]].copy() for x in history])
                tau.append(np.tile(whole.run.workspace.tau, (found[-1], 1)))
                ends += (ends[-1] + found).tolist()
                done += found.size
            room *= 2
    parts = (np.concatenate(each) for each in zip(*kept, strict=True))
    return type(history)(*parts), np.array(ends), np.concatenate(tau)


@final
@attrs.frozen(eq=False, slots=False)
class AcceptedSteps(LinearSteps):
    """N intervals of the grid, each of one or more steps that the method has chosen.

    Attributes
    ----------
    steps : LinearSteps
        All of these, M.
    ends : ndarray of int, shape (N + 1,)
        How many of them lead to each point of the grid.
    sizes : ndarray, shape (M,)
        Theirs. [s]
    """

    steps: LinearSteps
    ends: Any
    sizes: Floats

    @property
    def t(self) -> Floats:  # type: ignore[override]
        """Points of the grid."""
        return np.asarray(self.steps.t[self.ends])

    @property
    def q(self) -> Floats:  # type: ignore[override]
        """Configurations there."""
        return np.asarray(self.steps.q[self.ends])

    @property
    def v(self) -> Floats:  # type: ignore[override]
        """Velocities there."""
        return np.asarray(self.steps.v[self.ends])

    @property
    def fractions(self) -> Floats:
        """See `LinearSteps`."""
        sizes = self.sizes[: self.ends[1]]
        return np.asarray(sizes / sizes.sum())

    @functools.cached_property
    def _by_start(self) -> Floats:
        """A of all steps."""
        return np.asarray(self.steps.matrices())

    def matrices(self) -> Floats:
        """See `LinearSteps`."""
        A = self._by_start
        found = A[self.ends[:-1]]
        for k, (begin, end) in enumerate(zip(self.ends[:-1], self.ends[1:], strict=True)):
            for each in A[begin + 1 : end]:
                found[k] = each @ found[k]
        return np.asarray(found)

    def by_inputs(self, names: Sequence[str]) -> Mapping[str, Floats]:
        """See `LinearSteps`."""
        A, found = self._by_start, {}
        for name, B in self.steps.by_inputs(names).items():
            found[name] = whole = B[self.ends[:-1]]
            for k, (begin, end) in enumerate(zip(self.ends[:-1], self.ends[1:], strict=True)):
                for j in range(begin + 1, end):
                    whole[k] = A[j] @ whole[k] + B[j]
        return found

    def reverse(
        self, adjoint: Floats, seeds: Floats, names: Sequence[str]
    ) -> tuple[Floats, Mapping[str, Floats]]:
        """See `LinearSteps.reverse`; seeds are at the grid points."""
        at_steps = np.zeros((self.ends[-1], seeds.shape[1]))
        at_steps[self.ends[:-1]] = seeds
        adjoint, found = self.steps.reverse(adjoint, at_steps, names)
        found = dict(found)
        if "tau" in found:
            by_step = found["tau"].reshape((len(at_steps), -1, found["tau"].shape[-1])).sum(axis=1)
            found["tau"] = np.add.reduceat(by_step, self.ends[:-1], axis=0)
        return adjoint, found
