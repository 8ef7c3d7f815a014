"""Events within a step: their instants, and the jumps of the state."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import attrs

from mbkit.errors import EventError
from mbkit.events import Event
from mbkit.integrators import Integrator
from mbkit.integrators.integrator import Problem, Rows
from mbkit.kernels.layout import DISSIPATED, SUPPLIED
from mbkit.simulation.consistent_states import closed_again
from mbkit.simulation.outputs.energies import total_energy
from mbkit.simulation.start import check_finite
from mbkit.simulation.stepping.event_watch import CONTACT, Watch
from mbkit.simulation.stepping.guarded import guarded
from mbkit.systems import System

__all__ = ["Occurrence", "Passage", "Segment", "State", "StepError", "WithinStep", "closed_bracket"]

_EPSILON = 2.0**-52


def closed_bracket(
    number: Callable[[float], float],
    crossed: Callable[[float], bool],
    before: tuple[float, float],
    after: tuple[float, float],
    tolerance: float,
) -> tuple[float, float]:
    """Return two arguments next to each other, the number having crossed at the second alone.

    `before` and `after` are argument and value where it has not crossed, and where it has, as by
    ``crossed(value)``. The bracket in the end is as wide as `tolerance`, or as rounding.

    Steps by Chandrupatla's rule: inverse quadratic interpolation where the last three points allow
    it, else half the bracket. Source: T. R. Chandrupatla, "A new hybrid quadratic/bisection
    algorithm for finding the zero of a nonlinear function without using derivatives", Adv. Eng.
    Software 28 (1997) 145-149.

    Examples
    --------
    >>> a, b = closed_bracket(lambda x: x**2 - 2, lambda y: y > 0, (0, -2), (2, 2), 1e-12)
    >>> a <= 2**0.5 <= b, b - a < 1e-12
    (True, True)
    """
    (a, fa), (b, fb) = before, after
    c, fc = a, fa  # the point that was left last
    place = 0.5
    while abs(b - a) > max(tolerance, 2.0 * _EPSILON * abs(b)):
        x = a + place * (b - a)
        if not min(a, b) < x < max(a, b):
            break
        fx = number(x)
        if crossed(fx):
            c, fc, b, fb = b, fb, x, fx
        else:
            c, fc, a, fa = a, fa, x, fx
        place = _next_place((a, fa), (b, fb), (c, fc), x, tolerance)
    return a, b


def _next_place(
    before: tuple[float, float],
    after: tuple[float, float],
    left: tuple[float, float],
    newest: float,
    tolerance: float,
) -> float:
    """Return where in the bracket to look next, from 0 to 1."""
    (a, fa), (b, fb), (c, fc) = before, after, left
    if newest == b:  # x1 is the newest point, x2 the other end
        (x1, f1), (x2, f2), turned = (b, fb), (a, fa), True
    else:
        (x1, f1), (x2, f2), turned = (a, fa), (b, fb), False
    place = 0.5
    if f1 != f2 and f2 != fc and f1 != fc and c != x2:
        xi, phi = (x1 - x2) / (c - x2), (f1 - f2) / (fc - f2)
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            place = f1 / (f2 - f1) * fc / (f2 - fc)
            place += (c - x1) / (x2 - x1) * f1 / (fc - f1) * f2 / (fc - f2)
    edge = min(0.5, 0.5 * max(tolerance, 2.0 * _EPSILON * abs(b)) / abs(b - a))
    place = min(max(place, edge), 1.0 - edge)  # not closer than it has to know
    return 1.0 - place if turned else place


#: Resets by one event within one step after which they are taken to accumulate.
MOST_RESETS = 100


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
    """The way through a step: its segments, its events, its end, and why the run ended."""

    segments: list[Segment]
    occurrences: list[Occurrence]
    end: State
    terminal: int | None


class StepError(Exception):
    """A step of another size failed; the argument is its status."""


@attrs.frozen(eq=False)
class WithinStep:
    """Goes through single steps of a problem in smaller ones."""

    system: System  # that moves
    integrator: Integrator  # how
    # whose steps they are; it learns why one of them fails, and is not changed otherwise
    problem: Problem
    watch: Watch | None  # the events

    def moved(self, state: State, h: float) -> State:
        """Return the state a step of size h later, with no look at events."""
        q, v, work = state.q.copy(), state.v.copy(), state.work.copy()
        if h > 0.0:
            problem = attrs.evolve(
                self.problem,
                t0=state.t,
                h=h,
                q=q,
                v=v,
                work=work,
                save_every=2,
                multipliers=self.problem.multipliers.copy(),
                memory={},
                interpolate=None,
            )  # a row every other step: there is none to write
            advance = guarded(self.integrator.for_parts(), problem)
            with self.watch.off() if self.watch is not None else contextlib.nullcontext():
                status, *_ = advance(0, 1, _NO_ROWS)
            if status != 0:  # the error is the problem's, too
                self.problem.error, self.problem.newton = problem.error, problem.newton
                raise StepError(status)
        return State(state.t + h, q, v, work)

    def through(self, step: int, start: State, before: Any, end: State) -> Passage:
        """Go through a step with events in it; with one segment if nothing was reset.

        It leads from `start` to `end` without resets; `before` has the numbers of the events at
        `start`.
        """
        segments: list[Segment] = []
        occurrences: list[Occurrence] = []
        until, state = end.t, start
        while True:
            h = max(0.0, until - state.t)
            hits = self._hits(Segment(state, h), before, end)
            stops = [(at, k) for at, k, _ in hits if self._events[k].stops]
            length = stops[0][0] if stops else h
            segments.append(Segment(state, length))
            for at, k, there in hits:
                if at <= length and not self._events[k].stops:
                    occurrences.append(self._occurrence(step, k, there, there))
            if not stops:
                return Passage(segments, occurrences, end, None)
            there = next(state for at, _, state in hits if at == length)
            fired = sorted(k for at, k in stops if at == length)  # in the order of the user
            for k in fired:
                after = self._reset(k, there)
                occurrences.append(self._occurrence(step, k, there, after))
                there = after
            terminal = [k for k in fired if self._events[k].terminal]
            if terminal:
                return Passage(segments, occurrences, there, terminal[0])
            if sum(each.event == fired[0] for each in occurrences) > MOST_RESETS:
                raise self._accumulation(fired[0], there.t)
            state, before = there, self._values_after(there, fired)
            end = self.moved(state, max(0.0, until - state.t))

    @property
    def _events(self) -> tuple[Event, ...]:
        assert self.watch is not None  # it has found an event before
        return self.watch.events

    def _values(self, state: State) -> Any:
        assert self.watch is not None
        return self.watch.values(state.t, state.q, state.v)

    def _values_after(self, state: State, fired: list[int]) -> Any:
        """Return the numbers after resets; those that depart get their sign, despite rounding."""
        assert self.watch is not None
        values = self._values(state)
        for k in fired:
            behind = self.watch.crosses(k, 0.0, float(values[k]))
            if self._events[k].departs and behind and abs(values[k]) < CONTACT:
                values[k] = 0.0
        return values

    def _hits(self, segment: Segment, before: Any, end: State) -> list[tuple[float, int, State]]:
        """Return when each event happens in a segment, its number, and the state, in order."""
        assert self.watch is not None
        now = self._values(end)
        hits = [
            self._located(k, segment, end, float(before[k]), float(now[k]))
            for k in range(len(self._events))
            if self.watch.crosses(k, before[k], now[k])
        ]
        return sorted(hits, key=lambda hit: hit[:2])

    def _located(
        self, k: int, segment: Segment, end: State, before: float, now: float
    ) -> tuple[float, int, State]:
        """Return how long after the start of a segment an event happens, and the state there.

        Just before the number's zero where the event is recorded or the number departs again, else
        just behind, so that the motion may go on.
        """
        assert self.watch is not None
        watch, event = self.watch, self._events[k]
        states = {0.0: segment.start, segment.h: end}

        def number(x: float) -> float:
            if x not in states:
                states[x] = self.moved(segment.start, x)
            return watch.value(k, *states[x][:3])

        def crossed(value: float) -> bool:
            return watch.crosses(k, before, value)

        first = (0.0, before)
        if before == 0.0:  # in contact: does it part first?
            first = next(
                ((x, y) for x in _halves(segment.h) if (y := number(x)) * now < 0.0), first
            )
            if first[0] == 0.0:
                return 0.0, k, segment.start
        found = closed_bracket(number, crossed, first, (segment.h, now), event.tolerance)
        x = found[0 if event.departs or not event.stops else 1]
        number(x)
        return x, k, states[x]

    def _reset(self, k: int, state: State) -> State:
        """Return the state after an event; its change of the energy is work done."""
        event = self._events[k]
        if event.reset is None:
            return state
        state = self._in_velocities(state)
        try:
            q, v = self._checked(
                event.reset.apply(self.system, event, state.t, state.q.copy(), state.v.copy())
            )
        except Exception as error:
            error.add_note(f"Raised by the reset of event '{event.name}' at t = {state.t:.9g} s.")
            raise
        if self.system.num_velocity_constraints:
            q, v = self._closed(k, state, q, v)
        gained = total_energy(self.system, state.t, q, v) - total_energy(
            self.system, state.t, state.q, state.v
        )
        work = state.work.copy()
        work[SUPPLIED if gained > 0.0 else DISSIPATED] += abs(gained)
        assert self.watch is not None
        v = v if self.watch.momenta is None else self.watch.momenta.of_velocity(q, v)
        return State(state.t, q, v, work)

    def _in_velocities(self, state: State) -> State:
        """Return a state with velocities, which it has but in a run in momenta."""
        assert self.watch is not None
        momenta = self.watch.momenta
        return state if momenta is None else state._replace(v=momenta.velocity(state.q, state.v))

    def _occurrence(self, step: int, event: int, before: State, after: State) -> Occurrence:
        before, after = self._in_velocities(before), self._in_velocities(after)
        return Occurrence(step, event, before.t, before.q, before.v, after.q, after.v)

    def _closed(self, k: int, state: State, q: Any, v: Any) -> tuple[Any, Any]:
        """Return q and v after a reset, brought back to the constraints as the end of a step is."""
        q, v = closed_again(self.system, state.t, state.q, q, v, self._events[k].name)
        q, v = q.copy(), v.copy()
        status = self.problem.close(state.t, q, v)
        if status != 0:
            raise StepError(status)
        return q, v

    def _checked(self, state: tuple[Any, Any]) -> tuple[Any, Any]:
        """Return q and v of a reset as arrays of their own; raise where they are none."""
        system = self.system
        q, v = (system.checked(name, value) for name, value in zip("qv", state, strict=True))
        check_finite("q after the reset", q, system.position_names)
        check_finite("v after the reset", v, system.velocity_names)
        system.potential_energy(q)  # refuses numbers that are no configuration
        return q.copy(), v.copy()

    def _accumulation(self, k: int, t: float) -> EventError:
        return EventError(
            f"Event '{self._events[k].name}' resets the state more than {MOST_RESETS} times in the "
            f"step at t = {t:.9g} s: its moments accumulate, as those of a ball that comes to rest "
            "do. End the run before, or model the contact by a LimitStop or another force."
        )


def _halves(h: float) -> Iterator[float]:
    """Yield h/2, h/4, ... as long as a motion could part from a contact in that time."""
    return (h * 0.5**k for k in range(1, 41))


_NO_ROWS = Rows.empty(0, 0, 0, 0)
