"""What happens within one step: where events are, and what they do to the state."""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs
import numpy as np

from mbkit.errors import EventError
from mbkit.events import Event
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Problem, Rows
from mbkit.kernels.layout import DISSIPATED, SUPPLIED
from mbkit.simulation.energies import total_energy
from mbkit.simulation.watch import Watch
from mbkit.systems import System

__all__ = ["Occurrence", "Passage", "Segment", "State", "StepError", "WithinStep"]

#: Resets within one step after which they are taken to accumulate.
MOST_RESETS = 100

_EPSILON = float(np.finfo(np.float64).eps)


class State(NamedTuple):
    """A state on its way through a step."""

    t: float
    q: Any
    v: Any
    work: Any


class Segment(NamedTuple):
    """A part of a step without resets: where it begins, and how long it is."""

    start: State
    h: float


class Occurrence(NamedTuple):
    """An event that has happened, and in which step."""

    step: int
    event: int
    t: float
    q: Any
    v: Any
    q_after: Any
    v_after: Any


class Passage(NamedTuple):
    """The way through a step: its segments, what happened, its end, and whether the run's too."""

    segments: list[Segment]
    occurrences: list[Occurrence]
    end: State
    terminal: bool


class StepError(Exception):
    """A step of another size failed; the argument is its status."""


@attrs.frozen(eq=False)
class WithinStep:
    """Goes through single steps of a problem in smaller ones.

    Attributes
    ----------
    system : System
        What moves.
    integrator : Integrator
        How.
    problem : Problem
        Whose steps they are; it is not changed.
    watch : Watch or None
        The events.
    """

    system: System
    integrator: Integrator
    problem: Problem
    watch: Watch | None

    def moved(self, state: State, h: float) -> State:
        """Return the state a step of size h later, with no look at events."""
        q, v, work = state.q.copy(), state.v.copy(), state.work.copy()
        if h > 0.0:
            problem = attrs.evolve(
                self.problem, t0=state.t, h=h, q=q, v=v, work=work, save_every=2
            )  # a row every other step: there is none to write
            advance = self.integrator.prepare(problem)
            if self.watch is None:
                status, *_ = advance(0, 1, _NO_ROWS)
            else:
                with self.watch.off():
                    status, *_ = advance(0, 1, _NO_ROWS)
            if status != 0:
                raise StepError(status)
        return State(state.t + h, q, v, work)

    def through(self, step: int, state: State, until: float) -> Passage:
        """Go through a step with events in it; only states before and after resets are computed."""
        assert self.watch is not None  # who calls has been told of an event by it
        segments: list[Segment] = []
        occurrences: list[Occurrence] = []
        before = self._values(state)
        while True:
            if len(segments) > MOST_RESETS:
                raise self._accumulation(occurrences, state.t)
            h = max(0.0, until - state.t)
            end = self.moved(state, h)
            hits = self._hits(state, before, end, h)
            stops = [hit for hit in hits if self.watch.events[hit[1]].stops]
            length = stops[0][0] if stops else h
            segments.append(Segment(state, length))
            for at, k in hits:
                if at <= length and not self.watch.events[k].stops:
                    there = self.moved(state, at)
                    occurrences.append(
                        Occurrence(step, k, there.t, there.q, there.v, there.q, there.v)
                    )
            if not stops:
                return Passage(segments, occurrences, end, False)
            there = self.moved(state, length)
            fired = sorted(
                k for at, k in stops if at <= length + self.watch.events[k].tolerance
            )  # in the order of the user
            for k in fired:
                after = self._reset(k, there)
                occurrences.append(Occurrence(step, k, there.t, there.q, there.v, after.q, after.v))
                there = after
            state = there
            if any(self.watch.events[k].terminal for k in fired):
                return Passage(segments, occurrences, state, True)
            before = self._values(state)

    def _values(self, state: State) -> Any:
        assert self.watch is not None
        return self.watch.values(state.t, state.q, state.v)

    def _hits(self, state: State, before: Any, end: State, h: float) -> list[tuple[float, int]]:
        """Return when each event happens between two states, the first first."""
        assert self.watch is not None
        now = self._values(end)
        return sorted(
            (self._located(k, state, h, float(before[k]), float(now[k])), k)
            for k in range(len(self.watch.events))
            if self.watch.crosses(k, before[k], now[k])
        )

    def _located(self, k: int, state: State, h: float, before: float, now: float) -> float:
        """Return how long after `state` an event happens.

        The number is still on its old side then, by less than the tolerance; on its new one where a
        reset lets it go on, or it would happen again.
        """
        from scipy.optimize import brentq

        assert self.watch is not None
        watch, tolerance = self.watch, self.watch.events[k].tolerance
        known = {0.0: before, h: now}

        def number(x: float) -> float:
            if x not in known:
                there = self.moved(state, x)
                known[x] = watch.value(k, there.t, there.q, there.v)
            return known[x]

        if before == 0.0:
            return 0.0
        finest = 4.0 * _EPSILON
        x: float = brentq(number, 0.0, h, xtol=max(0.5 * tolerance, finest * h), rtol=finest)
        shift = max(0.5 * tolerance, finest * h)
        if _departs(self.watch.events[k]):
            while x > 0.0 and watch.crosses(k, before, number(x)):
                x = max(0.0, x - shift)
                shift *= 2.0
        else:
            while x < h and not watch.crosses(k, before, number(x)):
                x = min(h, x + shift)
                shift *= 2.0
        return x

    def _reset(self, k: int, state: State) -> State:
        """Return the state after an event; what it changes of the energy is work done."""
        assert self.watch is not None
        event = self.watch.events[k]
        if event.reset is None:
            return state
        try:
            q, v = event.reset.apply(self.system, event.when, state.t, state.q, state.v)
        except Exception as error:
            error.add_note(f"Raised by the reset of event '{event.name}' at t = {state.t:.9g} s.")
            raise
        gained = total_energy(self.system, state.t, q, v) - total_energy(
            self.system, state.t, state.q, state.v
        )
        work = state.work.copy()
        work[SUPPLIED if gained > 0.0 else DISSIPATED] += abs(gained)
        return State(state.t, q, v, work)

    def _accumulation(self, occurrences: list[Occurrence], t: float) -> EventError:
        assert self.watch is not None
        name = self.watch.events[occurrences[-1].event].name
        return EventError(
            f"Event '{name}' resets the state more than {MOST_RESETS} times in the step at "
            f"t = {t:.9g} s: its moments accumulate, as those of a ball that comes to rest do. "
            "End the run before, or model the contact by a LimitStop or another force."
        )


def _departs(event: Event) -> bool:
    """Return whether the number of an event stays on its old side."""
    return event.reset is None or event.reset.departs


_NO_ROWS = Rows(np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 2)))
