"""The course of a run: steps, events within them, and output times of its own."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from mbkit.events import Event
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Advance, Problem, Rows
from mbkit.results.event_log import FIELDS
from mbkit.simulation.output_times import OutputTimes
from mbkit.simulation.watch import Watch
from mbkit.simulation.within_step import Occurrence, Passage, Segment, State, StepError, WithinStep
from mbkit.systems import System

__all__ = ["FAILED", "TERMINAL", "Course", "event_columns"]

#: Stand for statuses where an event has ended the run, and where Python code has failed.
TERMINAL = -2
FAILED = -3


@attrs.define(eq=False)
class Course:
    """Takes the steps of a problem, in calls of any size, with what happens within them.

    Steps end on the grid t0 + k h. Within one, states come from steps of other sizes from its
    beginning: they are of the order of the integrator, and lie on the group. After a reset the rest
    of the step is taken from there.

    Attributes
    ----------
    system : System
        Whose motion it is.
    integrator : Integrator
        Takes the steps.
    problem : Problem
        Its state is advanced.
    watch : Watch or None
        The events.
    times : OutputTimes or None
        Times at which rows are written, instead of every so many steps.
    log : list of Occurrence
        What has happened so far, and was not taken away.
    ended : float or None
        When an event has ended the run.
    error : BaseException or None
        What code in Python has raised, after the status FAILED.
    """

    system: System
    integrator: Integrator
    problem: Problem
    watch: Watch | None = None
    times: OutputTimes | None = None
    log: list[Occurrence] = attrs.field(factory=list)
    ended: float | None = None
    error: BaseException | None = None
    _advance: Advance = attrs.field(init=False)
    _within: WithinStep = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._advance = self.integrator.prepare(self.problem)
        self._within = WithinStep(self.system, self.integrator, self.problem, self.watch)

    # ------------------------------------------------------------------------- rows

    @property
    def events(self) -> tuple[Event, ...]:
        """The events that are watched."""
        return () if self.watch is None else self.watch.events

    @property
    def saves_start(self) -> bool:
        """Whether the initial state is a row."""
        return self.times is None or self.times.with_start

    def saves_end(self, steps: int) -> bool:
        """Return whether the state after the last of all steps is a row that is not written yet."""
        return self.times is None and steps % self.problem.save_every != 0

    def num_rows(self, steps: int, first: int = 0) -> int:
        """Return how many rows the steps from `first` on write, with one more at either end."""
        if self.times is None:
            return 2 + (steps - first) // self.problem.save_every
        return 2 + self.times.left(first)

    def fitting(self, step: int, rows: int) -> int:
        """Return how many steps from `step` on write no more than `rows` rows."""
        if self.times is None:
            return rows * self.problem.save_every
        return self.times.fitting(step, rows)

    def happened(self, first: int, end: int) -> list[Occurrence]:
        """Return what has happened in the steps from `first` to before `end`, or last of all."""
        return [
            each
            for each in self.log
            if first <= each.step < end or (self.ended is not None and each.step == end)
        ]

    @property
    def how_ended(self) -> str:
        """What the result says of the event that has ended the run."""
        last = self.log[-1]
        return f"Ended by event '{self.events[last.event].name}' at t = {last.t:.9g} s."

    # ------------------------------------------------------------------------- steps

    def __call__(self, first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        """Take steps as `Advance` does; the status may be TERMINAL or FAILED too."""
        from mbkit.kernels.status import EVENT, unpack

        if self.watch is None and self.times is None:
            return self._advance(first, steps, rows)
        taken = saved = 0
        try:
            self._begin(first)
            while taken < steps:
                rest = Rows(*(part[saved:] for part in rows))
                status, done, wrote = self._go_on(first + taken, steps - taken, rest)
                taken, saved = taken + done, saved + wrote
                if status > 0 and unpack(status)[0] == EVENT:
                    rest = Rows(*(part[saved:] for part in rows))
                    status, done, wrote = self._eventful(first + taken, rest)
                    taken, saved = taken + done, saved + wrote
                if status != 0:
                    return status, taken, saved
        except StepError as error:
            return error.args[0], taken, saved
        except BaseException as error:
            self.error = error
            return FAILED, taken, saved
        return 0, taken, saved

    def _reached(self, step: int) -> State:
        problem = self.problem
        t = problem.t0 + step * problem.h
        return State(t, problem.q.copy(), problem.v.copy(), problem.work.copy())

    def _begin(self, step: int) -> None:
        """Tell the watch where the next step begins."""
        if self.watch is not None:
            t = self.problem.t0 + step * self.problem.h
            self.watch.begin(self.watch.values(t, self.problem.q, self.problem.v))

    def _go_on(self, step: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        """Take steps until one has an event; those with output times within them one by one."""
        plain = steps if self.times is None else self.times.steps_without(step, steps)
        start = self._reached(step) if plain == 0 else None
        status, taken, saved = self._advance(step, max(1, plain), rows)
        if status == 0 and start is not None:
            with self._taken_back_on_error(start):
                saved = self._write(step, [Segment(start, math.inf)], rows)
        return status, taken, saved

    @contextlib.contextmanager
    def _taken_back_on_error(self, start: State) -> Iterator[None]:
        """Put the state back to the beginning of a step that fails late."""
        try:
            yield
        except BaseException:
            self._set(start)
            raise

    def _set(self, state: State) -> None:
        self.problem.q[:], self.problem.v[:], self.problem.work[:] = state[1:]

    def _eventful(self, step: int, rows: Rows) -> tuple[int, int, int]:
        """Take a step with an event in it."""
        problem = self.problem
        until = problem.t0 + (step + 1) * problem.h
        start = self._reached(step)
        passage = self._within.through(step, start, until)
        if passage.terminal:
            saved = self._end(step, passage, rows)
            self.log += passage.occurrences
            return TERMINAL, 0, saved
        with self._taken_back_on_error(start):
            if len(passage.segments) == 1:  # nothing has changed the state
                assert self.watch is not None
                with self.watch.off():
                    status, _, saved = self._advance(step, 1, rows)
                if status != 0:
                    return status, 0, 0
            else:
                self._set(passage.end)
                self._advance = self.integrator.prepare(problem)  # it forgets what was before
                saved = int((step + 1) % problem.save_every == 0)
                if saved:
                    _put(rows, 0, passage.end._replace(t=until))
            if self.times is not None:
                saved = self._write(step, passage.segments, rows)
            self._begin(step + 1)
        self.log += passage.occurrences
        return 0, 1, saved

    def _end(self, step: int, passage: Passage, rows: Rows) -> int:
        """Write what is left of a run that an event ends; its last state is a row."""
        self.ended = passage.end.t
        saved = 0
        if self.times is not None:
            saved = self._write(step, passage.segments, rows, until=passage.end.t)
        if saved == 0 or rows.t[saved - 1] != passage.end.t:
            _put(rows, saved, passage.end)
            saved += 1
        return saved

    def _write(
        self, step: int, segments: list[Segment], rows: Rows, until: float = math.inf
    ) -> int:
        """Write the rows of the output times in a step that was taken; return how many."""
        assert self.times is not None
        saved = 0
        for t in self.times.within(step):
            if t > until:
                break
            if until == math.inf and self.times.is_end(t, self.problem, step):
                state = self._reached(step + 1)
            else:
                inside = (part for part in segments if t <= part.start.t + part.h)
                segment = next(inside, segments[-1])
                state = self._within.moved(segment.start, t - segment.start.t)
            _put(rows, saved, state._replace(t=t))
            saved += 1
        return saved


def _put(rows: Rows, row: int, state: State) -> None:
    for part, value in zip(rows, state, strict=True):
        part[row] = value


def event_columns(log: list[Occurrence], nq: int, nv: int) -> dict[str, Any]:
    """Return what happened as arrays: ``event`` (numbers), ``t``, and the states."""
    sizes = {"q": nq, "v": nv, "q_after": nq, "v_after": nv}
    columns: dict[str, Any] = {
        "event": np.array([each.event for each in log], dtype=np.int64),
        "t": np.array([each.t for each in log], dtype=np.float64),
    }
    for name in FIELDS:
        rows = [getattr(each, name) for each in log]
        columns[name] = np.array(rows, dtype=np.float64).reshape(len(log), sizes[name])
    return columns
