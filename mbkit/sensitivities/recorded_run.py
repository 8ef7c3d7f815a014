"""A run that is taken again in pieces, each linear about it, and the rows of its result."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, final

import attrs
import numpy as np

from mbkit.errors import UsageError, check_kind
from mbkit.events import Event
from mbkit.results import Result
from mbkit.sensitivities.efforts import with_efforts
from mbkit.sensitivities.event_steps import Branch, PassageSteps, Piece, stops_of
from mbkit.sensitivities.grid_steps import GridSteps
from mbkit.sensitivities.held_start import HeldStart
from mbkit.sensitivities.linear_steps import Inputs, Linearisation, checked_inputs
from mbkit.sensitivities.methods import check_method, linearisation_of
from mbkit.sensitivities.step_parts import Part
from mbkit.simulation.in_memory import run_in_memory
from mbkit.simulation.piecewise_efforts import HeldEfforts, PiecewiseEfforts
from mbkit.simulation.run_origin import Origin
from mbkit.simulation.sampled_control import Sampled
from mbkit.simulation.stepping.events_within_step import Passage, Segment, State
from mbkit.simulation.stepping.output_times import OutputTimes
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.parameter_moves import keep_changed

__all__ = ["RecordedRun"]

#: How far a state may be from that of the run: efforts of a function are summed in another order.
SAME = 1e-9

#: How many numbers steps are kept with at once: 128 MB.
MOST_NUMBERS = 2**24


class SavedRows(NamedTuple):
    """Where the rows of a result are.

    Attributes
    ----------
    at : mapping of int to list of int
        Rows that are the state after so many steps.
    inside : mapping of int to list of tuple
        Rows within steps, and their times.
    """

    at: Mapping[int, list[int]]
    inside: Mapping[int, list[tuple[int, float]]]

    @classmethod
    def every(cls, count: int, interval: int, *, ended: bool) -> SavedRows:
        """Return those of a run of `count` steps that saves every so many of them."""
        saved = sorted({*range(0, count + 1, interval), *([] if ended else [count])})
        return cls({step: [row] for row, step in enumerate(saved)}, {})

    @classmethod
    def of_times(cls, times: OutputTimes, problem: Any, count: int) -> SavedRows:
        """Return those of output times, in `count` steps."""
        at: dict[int, list[int]] = {0: list(range(len(times.at_start)))}
        inside: dict[int, list[tuple[int, float]]] = {}
        for row in range(len(times.at_start), len(times.times)):
            t, step = float(times.times[row]), int(times.steps[row])
            if times.is_end(t, problem, step):
                at.setdefault(step + 1, []).append(row)
            else:
                inside.setdefault(step, []).append((row, t))
        return cls(at, {step: rows for step, rows in inside.items() if step < count})


def _passages(origin: Origin) -> dict[int, Passage]:
    """Return the steps of a run in which an event happens: it is taken again."""
    run = origin.prepared()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_in_memory(run, progress=False)
    return dict(run.course.passages)


@final
@attrs.frozen(eq=False, slots=False)
class RecordedRun:
    """The pieces of a run, taken again, and the rows of its result.

    Attributes
    ----------
    run : Result
        The run whose steps are repeated.
    linear : Linearisation
        Its steps.
    inputs : Inputs
        The inputs of the derivatives.
    count : int
        How many steps it has; the last one is not a whole one where an event ends the run.
    passages : mapping of int to Passage
        Of the steps in which an event has happened.
    same : float
        How far states may be from those of the run.
    """

    run: Result
    linear: Linearisation
    inputs: Inputs
    count: int
    passages: Mapping[int, Passage]
    same: float
    _start: Mapping[str, Floats] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        keep_changed(self.linear.run.system, self)
        object.__setattr__(self, "_start", self.state())
        self.linear.run.workspace.record[0]["watch"] = 0  # the events are known

    @classmethod
    def of(cls, run: Any, by: Any) -> RecordedRun:
        """Check the arguments."""
        check_kind("run", run, Result, "an mbkit.Result")
        origin = run.origin
        if not isinstance(origin, Origin):
            raise UsageError(
                "Derivatives of a run need what it began with, and this result was read from a "
                "file, or copied: call simulate, without output=, and give its result."
            )
        check_method(origin.arguments["integrator"])
        system = origin.arguments["system"]
        inputs = Inputs(checked_inputs(system, by))
        if system.nv == 0:
            raise UsageError(f"System '{system.name}' cannot move: its runs have no derivatives.")
        tau = origin.arguments["tau"]
        if isinstance(tau, Sampled):
            raise UsageError(
                "A run with a controller that is Sampled has no derivatives: what it answers is "
                "not differentiated; give its answers as mbkit.PiecewiseEfforts."
            )
        held = isinstance(tau, PiecewiseEfforts)
        if "tau" in inputs.shapes and callable(tau) and not held:
            raise UsageError(
                "There are no derivatives by 'tau' of a run whose efforts are a function; give "
                "arrays, tau=numpy.zeros(nv) or mbkit.PiecewiseEfforts, and let a force of the "
                "mechanism do the rest."
            )
        if callable(tau) and not held:
            changed = {"system": with_efforts(system, tau), "tau": None}
            origin = attrs.evolve(origin, arguments={**origin.arguments, **changed})
        prepared = origin.prepared()
        if not run.completed:
            raise UsageError(f"The run is not complete, and has no derivatives: {run.message}")
        passages = _passages(origin) if origin.arguments["events"] else {}
        ended = [step + 1 for step, passage in passages.items() if passage.terminal is not None]
        count = ended[0] if ended else prepared.steps
        if isinstance(prepared.held, HeldEfforts):
            shapes = dict(inputs.shapes)
            shapes |= {"tau": tau.values.shape} if "tau" in shapes else {}
            inputs = Inputs(shapes, prepared.held.interval)
        same = SAME * (callable(tau) and not held)
        if prepared.system.num_velocity_constraints:
            HeldStart.of(prepared).warn([*inputs.shapes])
        return cls(run, linearisation_of(prepared), inputs, count, passages, same)

    # ------------------------------------------------------------------------- rows

    @functools.cached_property
    def ended(self) -> bool:
        """Whether an event ends the run, in its last step."""
        last = self.passages.get(self.count - 1)
        return last is not None and last.terminal is not None

    @functools.cached_property
    def rows(self) -> SavedRows:
        """Where the rows are; the last one is where an event ends the run."""
        course, problem = self.linear.run.course, self.linear.problem
        whole = self.count - self.ended
        if course.times is None:
            rows = SavedRows.every(whole, problem.save_every, ended=self.ended)
        else:
            rows = SavedRows.of_times(course.times, problem, self.count)
        if self.ended:
            last = len(self.run.t) - 1
            known = [(row, t) for row, t in rows.inside.get(self.count - 1, []) if row < last]
            at = {step: each for step, each in rows.at.items() if step < self.count}
            rows = SavedRows(at | {self.count: [last]}, {**rows.inside, self.count - 1: known})
        return rows

    def rows_at(self, step: int) -> list[int]:
        """Return the rows that are the state after so many steps."""
        return self.rows.at.get(step, [])

    # ------------------------------------------------------------------------- pieces

    def pieces(self, *, matrices: bool) -> Iterator[tuple[int, int]]:
        """Give the first step and the number of steps of each piece; 0 of one that is cut.

        matrices: see `Linearisation.numbers`.
        """
        options = self.run.options
        evaluations = options["counts"].get("evaluations", 0) / max(1, options["steps_taken"])
        numbers = self.linear.numbers(matrices=matrices, evaluations=evaluations)
        size = int(max(1, min(self.count, MOST_NUMBERS // max(1, numbers))))
        cut = [k for k, each in self.passages.items() if len(each.segments) > 1]
        cut = sorted({*cut, *([self.count - 1] if self.ended else [])})
        first = 0
        for step in [*cut, self.count]:
            for begin in range(first, step, size):
                yield begin, min(size, step - begin)
            if step < self.count:
                yield step, 0
            first = step + 1

    def take(self, piece: tuple[int, int]) -> Piece:
        """Take some steps; UsageError where they are not those of the run."""
        first, count = piece
        if count == 0:
            return self._passage(first)
        branches = {}
        numbers = [k for k in (*self.rows.inside, *self.passages) if first <= k < first + count]
        taken = self.linear.take(first, count)
        for k in set(numbers):
            q, v = taken.q[k - first], taken.v[k - first]
            state = State(float(taken.t[k - first]), q, v, np.zeros(2))
            branches[k - first] = self._branches(k, [Segment(state, self.linear.problem.h)])[0]
        rows = [self.rows_at(first + k) for k in range(count + 1)]
        self._check(rows, taken.q)
        return GridSteps(
            first, taken, rows, branches, self.linear.system.ndx + self.linear.system.nv
        )

    def _passage(self, step: int) -> PassageSteps:
        passage, problem = self.passages[step], self.linear.problem
        segments, events = passage.segments, self.linear.run.course.events
        numbers = self._numbers(step)
        stops = stops_of(passage, events)
        jumps = [(numbers[id(each)], events[each.event]) for each in stops]
        parts = [Part(self.linear, step, segment) for segment in segments]
        self._check([self.rows_at(step)], problem.q[None])
        for part, each in zip(parts, stops, strict=False):
            if not np.allclose(part.end[1], each.q, rtol=1e-9, atol=1e-9):
                raise self._other(each.t)
        self.put({**self._start, "q": passage.end.q, "v": passage.end.v})
        terminal = passage.terminal is not None
        branches = self._branches(step, segments)
        return PassageSteps(
            parts, jumps, branches, self.rows_at(step), self.rows_at(step + 1), terminal
        )

    def _numbers(self, step: int) -> dict[int, int]:
        """Return the numbers in the log of the events in a step."""
        before = self._before[step]
        return {id(each): before + n for n, each in enumerate(self.passages[step].occurrences)}

    @functools.cached_property
    def _before(self) -> dict[int, int]:
        """How many events there were before each of the steps that have some."""
        sizes = [len(each.occurrences) for each in self.passages.values()]
        return dict(zip(self.passages, np.cumsum([0, *sizes]).tolist(), strict=False))

    def _branches(self, step: int, segments: Sequence[Segment]) -> list[list[Branch]]:
        """Return the branches of a step at events, by its segments."""
        found: list[list[Branch]] = [[] for _ in segments]

        def add(k: int, t: float, **what: Any) -> None:
            start = segments[k].start
            found[k].append(Branch(Part(self.linear, step, Segment(start, t - start.t)), **what))

        inside = self.rows.inside.get(step, [])
        if inside and len(segments) == 1 and self.linear.run.problem.interpolate is not None:
            raise UsageError(
                "There are no derivatives of this run, since its states at output times within "
                "steps are interpolated: use save_every, or a tableau without b_dense."
            )
        for row, t in inside:
            late = [k for k, part in enumerate(segments) if t <= part.start.t + part.h]
            add(late[0] if late else len(segments) - 1, t, row=row)
        events: Sequence[Event] = self.linear.run.course.events
        if step in self.passages:
            numbers, k = self._numbers(step), 0
            for each in self.passages[step].occurrences:
                event = events[each.event]
                if event.stops:
                    k += 1
                else:
                    add(k, each.t, event=(numbers[id(each)], event))
        return found

    # ------------------------------------------------------------------------- the state

    def state(self) -> dict[str, Floats]:
        """Return a copy of the state from which the steps go on."""
        return {name: array.copy() for name, array in self.linear.problem.state.items()}

    def put(self, state: Mapping[str, Floats]) -> None:
        """Let the problem go on from a state."""
        for name, array in state.items():
            self.linear.problem.state[name][:] = array

    def _check(self, rows: Sequence[Sequence[int]], states: Floats) -> None:
        """Raise UsageError where states that are rows of the result are other ones there."""
        known = [(row, k) for k, each in enumerate(rows) for row in each]
        if not known:
            return
        numbers, places = (list(each) for each in zip(*known, strict=True))
        other = np.abs(self.run.q[numbers] - states[places]).max(axis=-1, initial=0.0) > self.same
        if other.any():
            raise self._other(self.run.t[numbers[int(np.argmax(other))]])

    def _other(self, t: float) -> UsageError:
        return UsageError(
            f"The run cannot be taken again: at t = {t:.9g} s another state is found. A function "
            "of the user, such as a force, gives other numbers than before; let it depend on its "
            "arguments alone."
        )
