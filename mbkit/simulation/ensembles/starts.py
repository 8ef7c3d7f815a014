"""The states at which runs of an ensemble begin, looked at together where nothing else differs."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from mbkit.simulation.consistent_states import is_closed, stays_closed
from mbkit.simulation.ensembles.in_threads import runs_alone
from mbkit.simulation.ensembles.members import Members, of_sample
from mbkit.simulation.monitors.locked import loses_velocity
from mbkit.simulation.preparation import Prepared
from mbkit.systems import System
from mbkit.systems.calls.evaluations import STORED_DYNAMICS
from mbkit.systems.calls.lanes import LEAST_SAMPLES
from mbkit.systems.constraint_checks import check_certain, check_dependent, warn_of_redundant
from mbkit.systems.constraints import solved_by
from mbkit.systems.memory.in_lanes.own_models import differ_in_numbers
from mbkit.systems.memory.workspace import Workspace

__all__ = ["Starts"]


class Starts:
    """The states at which the steps of runs begin, and those that were given for them.

    They differ where what a given state leaves of closed loops is removed before the first step.

    Attributes
    ----------
    models_fit : bool
        Whether all runs were found to have models that lanes can hold side by side.
    """

    def __init__(self, members: Members) -> None:
        self.models_fit = False
        sizes = members.system.nq, members.system.nv
        self._given, self._states = (
            tuple(np.empty((members.count, size)) for size in sizes) for _ in range(2)
        )

    def put(self, number: int, run: Prepared) -> None:
        """Keep the start of a run that was prepared."""
        assert run.start is not None
        own = *run.start, run.problem.q, run.problem.v
        for rows, row in zip((*self._given, *self._states), own, strict=True):
            rows[number] = row

    def like(self, first: Prepared, members: Members, told: list[tuple[int, Any]]) -> bool:
        """Return whether all starts are sound if the first is; they are looked at together.

        Where nothing but the state differs, or numbers of a tree. Of others, and where one is
        refused, each is to be prepared. What is warned of is added to `told`, by the number of the
        run.
        """
        system = members.system
        loops = system.num_velocity_constraints > 0
        if (
            not (members.are_alike or (loops and not members.parameters))
            or not first.integrator.takes_forces_of_velocity or not runs_alone(first)
            or (loops and _follow_each_other(first, members))
        ):  # fmt: skip
            return False
        assert first.start is not None
        q, v = (
            members.vectors.get(name, np.broadcast_to(own, (members.count, own.size)))
            for name, own in zip(("q", "v"), first.start, strict=True)
        )
        tau = members.vectors.get("tau", np.zeros(1))
        if not (np.isfinite(q).all() and np.isfinite(v).all() and np.isfinite(tau).all()):
            return False
        try:
            system.energies(q, v)
            states = _closed(system, first.problem.t0, q, v, told) if loops else (q, v)
        except Exception:
            return False  # said where it is prepared
        if states is None:
            return False
        self.models_fit = True
        for number in range(members.count if members.parameters else 0):
            try:
                own = members.system_of(number)
            except Exception as error:
                raise of_sample(error, members.place(number)) from error.__cause__
            fits = self.models_fit and differ_in_numbers(first.system.arrays, own.arrays)
            self.models_fit = fits
        self._given, self._states = (q, v), states
        return True

    def given(self, number: int) -> tuple[Any, Any]:
        """Return the state that was given for a run, or taken for it."""
        return self._given[0][number], self._given[1][number]

    def rows(self, first: int, last: int) -> tuple[Any, Any]:
        """Return q and v of some runs before the first step, one a row."""
        return self._states[0][first:last], self._states[1][first:last]


def _follow_each_other(first: Prepared, members: Members) -> bool:
    """Return whether v, which was left out or given by names, depends on the q of each run."""
    assert first.start is not None
    by_names = members.further.get("v")
    return (
        "q" in members.vectors and "v" not in members.vectors
        and bool(by_names or first.start[1].any())
    )  # fmt: skip


def _closed(
    system: System, t: float, q: Any, v: Any, told: list[tuple[int, Any]]
) -> tuple[Any, Any] | None:
    """Return starts of closed mechanisms, one a row, as their preparation leaves them.

    None, or any error, where one of them is refused or its mechanism cannot move.
    """
    warned: list[tuple[int, Any]] = []
    starts = np.array(q, order="C"), np.array(v, order="C")
    ranks = _close(system, t, *starts)
    if ranks is None or (ranks >= system.nv).any():
        return None
    # fewer at once than what is compiled for lanes: that takes longer
    edges = [*range(0, len(q), LEAST_SAMPLES - 1), len(q)]
    for some in itertools.starmap(slice, itertools.pairwise(edges)):
        here = starts[0][some], starts[1][some]
        sound = is_closed(system, t, q[some]) and stays_closed(system, t, q[some], v[some])
        if not sound or loses_velocity(system, *here, v[some]).any():
            return None
        warned += [(some.start + k, each) for k, each in _evaluated(system, t, *here)]
    told += warned
    return starts


def _close(system: System, t: float, q: Any, v: Any) -> Any:
    """Close the loops at (q, v), one a row, in place, as a run does before its first step.

    Return how many rows of the constraints count at each; None where one cannot be closed.
    """
    from mbkit.kernels.calls.integration_problem import close_at

    workspace = Workspace(system.arrays, system.evaluator)
    workspace.stabilise(project=True)
    assert workspace.closure is not None  # it has constraints
    kept = workspace.closure.kept[: system.num_velocity_constraints]
    ranks = np.empty(len(q), dtype=np.int64)
    for k, state in enumerate(zip(q, v, strict=True)):
        if close_at(workspace.address, t, *state) != 0:
            return None
        ranks[k] = np.count_nonzero(kept)
    return ranks


def _evaluated(system: System, t: float, q: Any, v: Any) -> list[tuple[int, Any]]:
    """Evaluate starts, one a row, as a preparation does; what it warns of, by row.

    ConstraintError where no acceleration of one of them satisfies the constraints.
    """
    given = q, v, None, None
    found = solved_by(system, STORED_DYNAMICS, given, t=t, pull=(0.0, 0.0), on_error="raise")
    vdot, multipliers, kept = found
    check_certain(system, q, vdot, multipliers, t)
    if kept.all():
        return []
    check_dependent(system, q, v, vdot, t)
    told = []
    for k in np.sort(np.unique(kept == 0.0, axis=0, return_index=True)[1]).tolist():
        with warnings.catch_warnings(record=True) as messages:
            warnings.simplefilter("always")
            warn_of_redundant(system, q[k : k + 1], kept[k : k + 1])
        told += [(k, each.message) for each in messages]
    return told
