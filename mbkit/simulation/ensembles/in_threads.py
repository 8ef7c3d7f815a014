"""Runs of an ensemble that compiled time loops can take alone: on all cores, one preparation each.

What a single run does between its steps, saved rows and states that are looked at, is taken from
the rows of all steps here, which a loop writes for some thousand steps at a time. Energies and
constraints follow for many runs at once.
"""

from __future__ import annotations

import functools
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import attrs
import numpy as np

from mbkit.integrators.description import is_described
from mbkit.integrators.integrator import Rows
from mbkit.interrupts import Interrupts
from mbkit.simulation.ensembles.gathering import Ended, Gathered
from mbkit.simulation.preparation import Prepared
from mbkit.simulation.progress import ProgressDisplay
from mbkit.simulation.stepping.chunks import INTERRUPTED, next_chunk
from mbkit.simulation.stepping.events_within_step import State, StepError
from mbkit.simulation.stepping.failed_step import explain
from mbkit.simulation.watched_states import sampled_steps
from mbkit.systems import System
from mbkit.systems.calls.threads import cores, on_cores

__all__ = ["Block", "Plan", "Worker", "block_size", "runs_alone", "take_runs"]

#: Most rows that a loop writes at once.
ROWS = 2048

#: Bytes of what is looked at besides in a block of runs.
BLOCK = 2**26


def runs_alone(run: Prepared) -> bool:
    """Return whether a compiled loop can take all steps of a run, with no Python on the way."""
    course = run.course
    asks_python = run.force is not None or run.drive is not None or course.watch is not None
    return (
        not asks_python
        and run.momenta is None
        and not run.system.evaluator.calls_python
        and is_described(run.integrator)
        and course.is_compiled
        and (
            course.times is None
            or run.problem.interpolate is None
            or course.times.at_ends(run.problem)
        )
    )


@attrs.frozen(eq=False)
class Plan:
    """Which states of a run are rows of its result, and which are looked at besides."""

    steps: int
    at_start: Any  # times of the rows that are the initial state
    kept: Any  # (k,): after how many steps the other rows come
    parts: Any  # (k,): and how long after these, 0 or part of a step. [s]
    times: Any  # (k,): their times
    at_times: bool  # whether these were asked for; multipliers are then found from the states
    sampled: Any  # (s,): after how many steps states are looked at

    @classmethod
    def of(cls, run: Prepared) -> Plan:
        """Return the plan of a run as it was asked for."""
        course, steps = run.course, run.steps
        sampled = np.zeros(0, dtype=np.int64)
        if course.samples is not None:
            sampled = np.union1d([0], sampled_steps(steps))
        if course.times is not None:
            start = course.times.at_start
            kept, parts = course.times.parts(run.problem)
            later = course.times.times[start.size :]
            return cls(steps, start, kept, parts, later, True, sampled)
        every = run.problem.save_every
        kept = np.arange(every, steps + 1, every)
        if course.saves_end(steps):
            kept = np.append(kept, steps)
        times = run.problem.t0 + kept * run.problem.h
        return cls(steps, course.start_times, kept, 0.0 * times, times, False, sampled)

    @functools.cached_property
    def ends(self) -> Any:
        """After how many steps each row is known (k,)."""
        return self.kept + (self.parts > 0.0)

    @property
    def num_rows(self) -> int:
        """How many rows a run has, with one more for one that fails between them."""
        return len(self.at_start) + len(self.kept) + 1


def block_size(run: Prepared, plan: Plan) -> int:
    """Return how many runs share a block, by the memory for what is looked at besides."""
    width = plan.sampled.size * (run.problem.nq + run.problem.nv + 8) + 8 * plan.num_rows
    return max(16 * cores(), int(BLOCK // (8 * width)))


class Block:
    """Some runs that follow each other, with what is known of them before energies are.

    Its rows have the times of runs that reach their ends.
    """

    def __init__(self, first: int, last: int, gathered: Gathered, plan: Plan, m: int) -> None:
        system, n, s = gathered.members.system, last - first, plan.sampled.size
        self.first, self.last = first, last
        t, q, v = (gathered.rows[name][first:last] for name in ("t", "q", "v"))
        start = len(plan.at_start)
        t[:, :start], t[:, start : start + len(plan.times)] = plan.at_start, plan.times
        work, multipliers = np.empty((*t.shape, 2)), np.empty((*t.shape, m))
        self.rows = Rows(t, q, v, work, multipliers)
        self.samples = (
            np.empty((n, s, system.nq)), np.empty((n, s, system.nv)), np.empty((n, s, 2)),
        )  # fmt: skip
        self.no_multipliers = np.empty((n, plan.num_rows + s, 0))


class Worker:
    """The memory of one thread, in which one run follows another."""

    def __init__(self, run: Prepared, plan: Plan, gathered: Gathered) -> None:
        problem = run.problem
        self.run, self.plan, self.gathered = run, plan, gathered
        self.start = {name: array.copy() for name, array in problem.memory.items()}
        self.counts = problem.counts.copy()
        m = problem.multipliers.size
        self.scratch = Rows.empty(min(ROWS, run.steps), problem.nq, problem.nv, m)
        self.chunk = 64
        self.given, self.system = run.start, run.system
        self._places: dict[tuple[int, int], tuple[Any, ...]] = {}

    def exchange(self, system: System) -> None:
        """Take on another system, the same tree with other numbers."""
        self.run.workspace.exchange(system.arrays)
        self.system = system

    def begin(self, given: Any, q: Any, v: Any, tau: Any) -> None:
        """Put the problem to the start of a run; `given` is what the user gave for it."""
        problem = self.run.problem
        self.given, self._begun = given, (given, q, v, tau)
        problem.q[:] = problem.q_stage[:] = q
        problem.v[:] = problem.v_stage[:] = v
        problem.work[:] = 0.0
        problem.multipliers[:] = np.nan
        for name, array in self.start.items():
            problem.memory[name][:] = array
        problem.counts[:] = self.counts
        if problem.newton is not None:
            problem.newton.total[:] = 0
        self.run.workspace.time[:] = 0.0
        if tau is not None:
            self.run.workspace.tau[:] = tau

    def take(self, number: int, block: Block, stopped: Callable[[], bool]) -> None:
        """Take all steps from the start of a run on, and keep what the plan says."""
        try:
            self._take(number, block, stopped, len(self.scratch.t))
        except StepError:  # of part of a step: no later one is to be counted
            self.begin(*self._begun)
            self._take(number, block, stopped, 1)

    def _take(self, number: int, block: Block, stopped: Callable[[], bool], most: int) -> None:
        run, plan, place = self.run, self.plan, number - block.first
        rows = Rows(*(part[place] for part in block.rows))
        samples = tuple(part[place] for part in block.samples)
        self._put_start(rows, samples)
        taken, written, status = 0, len(plan.at_start), 0
        began = time.perf_counter()
        while taken < plan.steps and status == 0:
            if stopped():
                status = INTERRUPTED
                break
            size = min(self.chunk, plan.steps - taken, most)
            at = time.perf_counter()
            begun = run.course.reached(taken)
            status, done, _ = run.course.advance(taken, size, self.scratch)
            spent = time.perf_counter() - at
            try:
                written = self._keep(begun, taken, done, rows, samples)
                taken += done
            except StepError as failed:
                if most > 1:
                    raise
                status = failed.args[0]
                run.problem.q[:], run.problem.v[:], run.problem.work[:] = begun[1:]
            self.chunk = next_chunk(self.chunk, size, spent)
        wall_time = time.perf_counter() - began
        problem = run.problem
        t = problem.t0 + taken * problem.h
        if status != 0 and (written == 0 or rows.t[written - 1] < t):
            rows.t[written], rows.q[written], rows.v[written] = t, problem.q, problem.v
            rows.work[written], rows.multipliers[written] = problem.work, problem.multipliers
            written += 1
        error = None
        if status not in (0, INTERRUPTED):
            error = explain(attrs.evolve(run, start=self.given, system=self.system), status, taken)
        counts = problem.counted()
        ended = Ended(taken, written, t, wall_time, counts, completed=status == 0, error=error)
        self.gathered.end(number, ended)

    def _put_start(self, rows: Rows, samples: tuple[Any, ...]) -> None:
        problem, first = self.run.problem, slice(0, len(self.plan.at_start))
        rows.q[first], rows.v[first] = problem.q, problem.v
        rows.work[first], rows.multipliers[first] = 0.0, np.nan
        if self.plan.sampled.size:
            for part, array in zip((problem.q, problem.v, 0.0), samples, strict=True):
                array[0] = part

    def _keep(
        self, begun: State, taken: int, done: int, rows: Rows, samples: tuple[Any, ...]
    ) -> int:
        """Keep rows of some steps from a state on; return how many there are now."""
        scratch = self.scratch
        found = self._places.get((taken, done))
        if found is None:
            if len(self._places) > 1000:
                self._places.clear()
            found = self._places[taken, done] = (
                *self._of(self.plan.ends, taken, done), *self._of(self.plan.sampled, taken, done),
            )  # fmt: skip
        from_rows, to_rows, from_samples, to_samples = found
        start = len(self.plan.at_start)
        to = slice(start + to_rows.start, start + to_rows.stop)
        if from_rows.size:
            for name in ("q", "v", "work"):
                getattr(scratch, name).take(from_rows, axis=0, out=getattr(rows, name)[to])
            if scratch.multipliers.shape[1]:
                own = np.nan if self.plan.at_times else scratch.multipliers[from_rows]
                rows.multipliers[to] = own
            self._put_within(begun, taken, from_rows, to_rows, rows)
        if from_samples.size:
            for part, array in zip((scratch.q, scratch.v, scratch.work), samples, strict=True):
                part.take(from_samples, axis=0, out=array[to_samples])
        return int(to.stop)

    def _put_within(
        self, begun: State, taken: int, from_rows: Any, to_rows: slice, rows: Rows
    ) -> None:
        """Write the rows that are within steps, each by a step of another size.

        `begun` is the state before the steps in the scratch, of which the first has the number
        `taken`. StepError where such a step fails.
        """
        parts, course, problem = self.plan.parts[to_rows], self.run.course, self.run.problem
        if not parts.any():
            return
        last = problem.q_stage.copy(), problem.v_stage.copy()  # a step that fails is explained by
        for k in np.flatnonzero(parts):
            row, to = int(from_rows[k]), len(self.plan.at_start) + to_rows.start + k
            state = begun
            if row:
                before = (part[row - 1] for part in self.scratch[1:4])
                state = State(course.time_of(taken + row), *before)
            _, rows.q[to], rows.v[to], rows.work[to] = course.moved(state, float(parts[k]))
        problem.q_stage[:], problem.v_stage[:] = last

    @staticmethod
    def _of(steps: Any, taken: int, done: int) -> tuple[Any, slice]:
        """Return in which rows of the scratch those after some of all `steps` lie, and which."""
        low, high = np.searchsorted(steps, [taken + 1, taken + done + 1])
        return steps[low:high] - taken - 1, slice(int(low), int(high))


class Groups(Protocol):
    """Runs that one thread may take together."""

    def take(
        self, drawn: range, draw: Callable[[], range], block: Block, stopped: Callable[[], bool]
    ) -> Sequence[int]:
        """Take runs of a block that were drawn, or others too; return those to be taken alone."""


def take_runs(
    block: Block,
    begun: Callable[[int, Worker | None], Worker],
    display: ProgressDisplay,
    grouped: Callable[[], Groups] | None = None,
    width: int = 1,
) -> None:
    """Take all runs of a block; after Ctrl-C, which is raised, some have ended early or are left.

    ``begun(number, worker)`` returns a worker at the start of a run, the same if it can;
    ``grouped()`` what takes runs together, where that is possible, of which threads draw `width` at
    a time.
    """
    numbers: Iterator[int] = itertools.count(block.first, width)  # next() of it is atomic
    limit = np.array([block.last])
    noted = Interrupts()
    shown = threading.Lock()

    def stopped() -> bool:
        return noted.noted or bool(limit[0] < block.last)

    def draw() -> range:
        """Return the runs that come next, none where all are drawn."""
        first = block.last if stopped() else next(numbers)
        if shown.acquire(blocking=False):
            display.update(float(min(first, block.last)))
            shown.release()
        return range(first, min(first + width, block.last))

    def task() -> None:
        worker, groups = None, None
        while drawn := draw():
            if grouped is not None and groups is None:
                groups = grouped()
            left = drawn if groups is None else groups.take(drawn, draw, block, stopped)
            for number in left:
                if stopped():
                    return
                worker = begun(number, worker)
                worker.take(number, block, stopped)

    groups = -(-(block.last - block.first) // width)
    if min(cores(), groups) > 1:
        on_cores(task, groups, limit)
        return
    with noted:
        task()
    noted.look()
