"""The course of a run: steps, events within them, and output times of its own."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.events import Event
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Advance, Problem, Rows
from mbkit.results.event_log import FIELDS
from mbkit.simulation.held_efforts import Held
from mbkit.simulation.monitors.large_steps import LargeSteps
from mbkit.simulation.monitors.monitor import Monitor
from mbkit.simulation.monitors.near_singularities import Lookout
from mbkit.simulation.stepping.chunks import FAILED, TERMINAL
from mbkit.simulation.stepping.event_watch import Watch
from mbkit.simulation.stepping.events_within_step import (
    Occurrence,
    Passage,
    Segment,
    State,
    StepError,
    WithinStep,
)
from mbkit.simulation.stepping.guarded import Guarded, guarded
from mbkit.simulation.stepping.output_times import OutputTimes
from mbkit.simulation.watched_states import Samples
from mbkit.systems import System

if TYPE_CHECKING:
    from mbkit.kernels.time_loops.records import KeptSamples

__all__ = ["Course", "event_columns"]


@attrs.define(eq=False)
class Course:
    """Takes the steps of a problem, in calls of any size, with the events within them.

    Steps end on the grid t0 + k h. Within one, states come from steps of other sizes from its
    beginning: they are of the order of the integrator, and lie on the group. After a reset the rest
    of the step is taken from there.
    """

    system: System  # whose motion it is
    integrator: Integrator  # takes the steps
    problem: Problem  # its state is advanced
    watch: Watch | None = None  # the events
    # times at which rows are written, instead of every so many steps
    times: OutputTimes | None = None
    samples: Samples | None = None  # states that are looked at beside the rows
    told: tuple[str, ...] = ()  # warnings before the first step
    held: Held | None = None  # efforts that change between steps
    monitors: tuple[Monitor, ...] = ()  # checks during the run, each with one warning
    # events so far that were not taken away
    log: list[Occurrence] = attrs.field(factory=list)
    # the number of each step in which something has happened, and the way through it
    passages: list[tuple[int, Passage]] = attrs.field(factory=list)
    ended: float | None = None  # when an event has ended the run, and its name
    ended_by: str = ""
    error: BaseException | None = None  # an error of code in Python, after the status FAILED
    _advance: Advance = attrs.field(init=False)
    _within: WithinStep = attrs.field(init=False)
    _lookout: Lookout = attrs.field(init=False)
    _large_steps: LargeSteps | None = attrs.field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        self._advance = self._prepared()
        self._lookout = Lookout(self.system)
        steps_alike = self.integrator.local_steps and not self.integrator.adaptive
        if steps_alike and not self.problem.momenta:
            self._large_steps = LargeSteps(self.system, self.problem.h)
        self._within = WithinStep(self.system, self.integrator, self.problem, self.watch)

    def _prepared(self) -> Advance:
        advance = guarded(self.integrator, self.problem)
        if self.held is None:
            return advance
        self.held.keep_in(self.problem)
        return self.held.in_steps(advance)

    # ------------------------------------------------------------------------- rows

    @property
    def events(self) -> tuple[Event, ...]:
        """The events that are watched."""
        return () if self.watch is None else self.watch.events

    @property
    def start_times(self) -> Any:
        """Times of the rows that are the initial state."""
        return np.array([self.problem.t0]) if self.times is None else self.times.at_start

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
        """Return the events in the steps from `first` to before `end`, or last of all."""
        return [
            each
            for each in self.log
            if first <= each.step < end or (self.ended is not None and each.step == end)
        ]

    @property
    def is_compiled(self) -> bool:
        """Whether a compiled loop takes all steps."""
        return isinstance(self._advance, Guarded) and self._advance.is_compiled

    @property
    def in_lanes(self) -> Any:
        """How several runs take the steps side by side, a `StepInLanes`; None if they do not."""
        return self._advance.in_lanes if isinstance(self._advance, Guarded) else None

    def advance(self, first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        """Take steps without a look at anything, as the integrator does."""
        return self._advance(first, steps, rows)

    @property
    def findings(self) -> tuple[str, ...]:
        """Warnings about the accuracy of the run so far."""
        return (*self.told, *(each.finding for each in self.monitors if each.finding))

    def message(self, error: BaseException | None, steps: int, t: float, remedy: str = "") -> str:
        """Return the message of the result on the end of the run: by itself, or by an exception.

        `steps` were taken, up to t [s]; the remedy is for a run that the user interrupts.
        """
        if error is None and self.ended is not None:
            return f"Ended by event '{self.ended_by}' at t = {self.ended:.9g} s."
        if error is None:
            return f"Completed: {steps} steps."
        if isinstance(error, KeyboardInterrupt):
            return f"Interrupted by the user after t = {t:.9g} s{remedy}."
        return f"{type(error).__name__}: {error}"

    # ------------------------------------------------------------------------- steps

    def __call__(self, first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        """Take steps as `Advance` does; the status may be TERMINAL or FAILED too."""
        if not self._look(first, rows, 0):
            return FAILED, 0, 0
        status, taken, saved = self._take_sampled(first, steps, rows)
        if not self._look(first + taken, rows, saved):
            return FAILED, taken, saved
        return status, taken, saved

    def _look(self, step: int, rows: Rows, saved: int) -> bool:
        """Let monitors check rows and the state; false where that raises."""
        problem = self.problem
        now = [problem.t0 + step * problem.h]
        try:
            self._lookout.look(rows.t[:saved], rows.q[:saved])
            self._lookout.look(now, [problem.q])
            if self._large_steps is not None:
                self._large_steps.look(rows.t[:saved], rows.v[:saved])
                self._large_steps.look(now, [problem.v])
            written = Rows(*(part[:saved] for part in rows))
            for monitor in self.monitors:
                monitor.look(written, now[0], problem.q)
                monitor.tell()
        except Exception as error:  # of a joint, or of warnings that are errors
            self.error = error
            return False
        return True

    def _take_sampled(self, first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        """Take steps, and keep the states that are looked at on the way."""
        if self.samples is None:
            return self._take(first, steps, rows)
        self.samples.note(first)
        if self.is_compiled and self.watch is None and self.times is None:
            status, taken, saved = self._advanced(first, steps, rows, self.samples.after(first))
            self.samples.note_kept(first, first + taken)
            return status, taken, saved
        taken = saved = status = 0
        rest = rows
        while taken < steps and status == 0:
            size = self.samples.fitting(first + taken, steps - taken)
            status, done, wrote = self._take(first + taken, size, rest)
            taken += done
            if wrote:
                saved += wrote
                rest = Rows(*(part[saved:] for part in rows))
            self.samples.note(first + taken)
        return status, taken, saved

    def _take(self, first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        if self.watch is None and self.times is None:
            return self._advanced(first, steps, rows)
        from mbkit.kernels.status import EVENT, unpack

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

    def _advanced(
        self, first: int, steps: int, rows: Rows, *sampled: KeptSamples
    ) -> tuple[int, int, int]:
        """Take steps; those of an integrator in Python may raise, and are then taken back."""
        kept = {} if self.is_compiled else self._kept()
        try:
            return self._advance(first, steps, rows, *sampled)
        except Exception as error:
            self._put_back(kept)
            self.error = error
            return FAILED, 0, 0

    def time_of(self, step: int) -> float:
        """Return when a step begins, in seconds."""
        return self.problem.t0 + step * self.problem.h

    def reached(self, step: int) -> State:
        """Return the state of the problem, which is at the beginning of a step."""
        problem = self.problem
        t = self.time_of(step)
        return State(t, problem.q.copy(), problem.v.copy(), problem.work.copy())

    def moved(self, state: State, h: float) -> State:
        """Return the state part of a step later, of which the size is h [s]."""
        return self._within.moved(state, h)

    def _begin(self, step: int) -> None:
        """Tell the watch where the next step begins."""
        if self.watch is not None:
            values = self.watch.values(*self.reached(step)[:3])
            (self.watch.start if step == 0 else self.watch.begin)(values)

    def _go_on(self, step: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        """Take steps until one has an event; those with output times within them one by one."""
        outputs = self.times is not None and self.times.steps_without(step, steps) == 0
        if self.times is not None:
            steps = max(1, self.times.steps_without(step, steps))
        if self.watch is not None and not self.integrator.looks:
            return self._step_and_look(step, rows, outputs=outputs)
        kept, start = self._kept(), self.reached(step)
        with self._taken_back_on_error(kept):
            status, taken, saved = self._advance(step, 1 if outputs else steps, rows)
            if status == 0 and outputs:
                saved = self._write(step, [Segment(start, math.inf)], rows)
        return status, taken, saved

    def _step_and_look(self, step: int, rows: Rows, *, outputs: bool) -> tuple[int, int, int]:
        """Take one step of an integrator that does not look at events itself."""
        kept, start = self._kept(), self.reached(step)
        with self._taken_back_on_error(kept):
            status, _, saved = self._advance(step, 1, rows)
            if status == 0:
                status = self.problem.look(*self.reached(step + 1)[:3])
                if status == 0 and outputs:
                    saved = self._write(step, [Segment(start, math.inf)], rows)
        if status != 0:
            self._put_back(kept)
            return status, 0, 0
        return 0, 1, saved

    def _eventful(self, step: int, rows: Rows) -> tuple[int, int, int]:
        """Take a step with an event in it."""
        assert self.watch is not None
        problem = self.problem
        kept, start, before = self._kept(), self.reached(step), self.watch.before
        with self._taken_back_on_error(kept):
            with self.watch.off():
                status, _, saved = self._advance(step, 1, rows)
            if status != 0:
                return status, 0, 0
            passage = self._within.through(step, start, before, self.reached(step + 1))
            if passage.terminal is not None:
                self._put_back(kept)
                saved = self._end(step, passage, rows)
                self._note(step, passage)
                return TERMINAL, 0, saved
            if len(passage.segments) > 1:
                problem.q[:], problem.v[:], problem.work[:] = passage.end[1:]
                problem.multipliers[:] = np.nan  # those of before; found from the state
                self._advance = self._prepared()  # it forgets what was before
                if saved:
                    _put(rows, 0, self.reached(step + 1))
            if self.times is not None:
                saved = self._write(step, passage.segments, rows)
            self._begin(step + 1)
        self._note(step, passage)
        return 0, 1, saved

    def _note(self, step: int, passage: Passage) -> None:
        """Keep the events of a step."""
        self.log += passage.occurrences
        self.passages.append((step, passage))

    def _kept(self) -> dict[str, Any]:
        return {name: value.copy() for name, value in self.problem.state.items()}

    def _put_back(self, kept: dict[str, Any]) -> None:
        for name, value in kept.items():
            self.problem.state[name][:] = value

    @contextlib.contextmanager
    def _taken_back_on_error(self, kept: dict[str, Any]) -> Iterator[None]:
        """Put the state back to the beginning of a step that fails late."""
        try:
            yield
        except BaseException:
            self._put_back(kept)
            raise

    def _end(self, step: int, passage: Passage, rows: Rows) -> int:
        """Write the last rows of a run that an event ends; its last state is a row."""
        assert passage.terminal is not None
        end = passage.end
        self.ended, self.ended_by = end.t, self.events[passage.terminal].name
        saved = 0
        if self.times is not None:
            saved = self._write(step, passage.segments, rows, until=end.t)
        if saved > 0 and rows.t[saved - 1] == end.t:
            saved -= 1
        _put(rows, saved, end)
        return saved + 1

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
                state = self.reached(step + 1)
            else:
                state = self._within_step(segments, t)
            _put(rows, saved, state._replace(t=t))
            saved += 1
        return saved

    def _within_step(self, segments: list[Segment], t: float) -> State:
        """Return the state at a time in the step that was taken."""
        if len(segments) == 1 and self.problem.interpolate is not None:
            state = self.reached(0)
            status = self.problem.interpolate(t, *state[1:])
            if status != 0:
                raise StepError(status)
            return state
        inside = (part for part in segments if t <= part.start.t + part.h)
        segment = next(inside, segments[-1])
        return self._within.moved(segment.start, t - segment.start.t)


def _put(rows: Rows, row: int, state: State) -> None:
    rows.t[row], rows.q[row], rows.v[row], rows.work[row] = state
    rows.multipliers[row] = np.nan  # found from the state


def event_columns(log: list[Occurrence], nq: int, nv: int) -> dict[str, Any]:
    """Return the events as arrays: ``event`` (numbers), ``t``, and the states."""
    sizes = {"q": nq, "v": nv, "q_after": nq, "v_after": nv}
    columns: dict[str, Any] = {
        "event": np.array([each.event for each in log], dtype=np.int64),
        "t": np.array([each.t for each in log], dtype=np.float64),
    }
    for name in FIELDS:
        rows = [getattr(each, name) for each in log]
        columns[name] = np.array(rows, dtype=np.float64).reshape(len(log), sizes[name])
    return columns
