"""Numbers of events and jumps of the state at events, linear about one of them.

Both are functions of the user, or of the system at a state: their derivatives are differences of
eighth order. Prescribed joints keep their motion, and in closed mechanisms states are closed
before a reset and after it: the derivatives are those along which loops stay closed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbkit.errors import RedundantConstraintsWarning, UsageError
from mbkit.events import Event
from mbkit.sensitivities.linear_steps import Linearisation, shape_of_input, size_of
from mbkit.systems import System
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.derivatives.numeric_changes import best_rate
from mbkit.systems.derivatives.parameter_moves import changed_by, moves_of

__all__ = ["EventChange", "Jump", "EventState", "crossing_of", "jump_of", "state_of"]

#: Inputs that neither events nor their resets know of.
_NOT_OF_EVENTS = ("q", "v", "tau")

#: Four times the first step of differences, in q, and in parts of the velocities.
_WIDE = 0.25

#: A number of an event that changes more slowly, in parts of how it changes with the state, only
#: touches its zero.
_GRAZING = 1e-9


class EventState(NamedTuple):
    """The state at an event, and the scale of time there."""

    t: float
    q: Floats
    v: Floats
    h: float


class EventChange(NamedTuple):
    """Derivatives of m numbers: by the state (m, ndx + nv), by time (m,), by inputs (m, k)."""

    by_state: Floats
    by_t: Floats
    by_inputs: Mapping[str, Floats]


class Jump(NamedTuple):
    """An event that ends a part of a step at a time that depends on the state.

    dT = time.by_state dy + time.by_inputs dp, of the state y at a time that does not move, and
    dx = after.by_state dz + after.by_t dT + after.by_inputs dp, of the state z at the event.
    """

    time: EventChange
    after: EventChange


def state_of(system: System, base: tuple[Floats, Floats], q: Floats, v: Floats) -> Floats:
    """Return a state as a step from another one, (ndx + nv,)."""
    return np.concatenate([system.difference(base[0], q), v - base[1]])


def crossing_of(
    run: Linearisation, event: Event, here: EventState, by_size: Floats, names: Sequence[str]
) -> EventChange:
    """Return how the time of an event changes, by the implicit function theorem.

    Parameters
    ----------
    run, event, here : Linearisation, Event, EventState
        In which run whose number is zero where.
    by_size : ndarray, shape (ndx + nv,)
        How the state there changes with time.
    names : sequence of str
        Inputs.
    """

    def number(system: System, t: float, q: Floats, v: Floats) -> Floats:
        q, v, _ = system.prescribed_state(t, q, v)
        return np.array([event.when.value(system, t, q, v)], dtype=np.float64)

    found = _differences(number, run, here, names)
    rate = float(found.by_t[0] + found.by_state[0] @ by_size)
    if not abs(rate) > _GRAZING * float(np.abs(found.by_state[0]) @ np.abs(by_size)):
        raise UsageError(
            f"There are no derivatives of this run, since event '{event.name}' only touches its "
            f"zero at t = {here.t:.9g} s: its time has none there."
        )
    inputs = {name: -each / rate for name, each in found.by_inputs.items()}
    return EventChange(-found.by_state / rate, np.zeros(1), inputs)


def jump_of(
    run: Linearisation, event: Event, here: EventState, names: Sequence[str]
) -> EventChange:
    """Return how the state after an event changes with that before it, with time and with inputs.

    Parameters
    ----------
    run, event, here : Linearisation, Event, EventState
        The run, the event, and the state at the event.
    names : sequence of str
        Inputs.
    """

    def after(system: System, t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
        q, v, _ = system.prescribed_state(t, q, v)
        if event.reset is None:
            return q, v
        q, v = _closed(system, t, q, v)
        q, v = event.reset.apply(system, event, t, q.copy(), v.copy())
        q, v, _ = system.prescribed_state(t, q, v)
        return _closed(system, t, q, v)

    base = after(run.system, here.t, here.q, here.v)

    def moved(system: System, t: float, q: Floats, v: Floats) -> Floats:
        return state_of(system, base, *after(system, t, q, v))

    return _differences(moved, run, here, names)


def _closed(system: System, t: float, q: Floats, v: Floats) -> tuple[Floats, Floats]:
    if not system.num_velocity_constraints:
        return q, v
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundantConstraintsWarning)
        return system.close_loops(q, v, t=t)


def _differences(
    function: Callable[[System, float, Floats, Floats], Floats],
    run: Linearisation,
    here: EventState,
    names: Sequence[str],
) -> EventChange:
    """Return the derivatives of m numbers, a function of (system, t, q, v)."""
    system, (t, q, v, h) = run.system, here
    speed = max(1.0, float(np.abs(v).max(initial=0.0)))

    def rates(moves: Sequence[Callable[[float], Any]], start: float) -> Floats:
        def found(e: float) -> Floats:
            return np.stack([function(*move(e)) for move in moves], axis=-1)

        return best_rate(found, start)

    by_q = [lambda e, x=x: (system, t, system.retract(q, e * x), v) for x in np.eye(system.ndx)]
    by_v = [lambda e, x=x: (system, t, q, v + e * x) for x in np.eye(system.nv)]
    by_t = rates([lambda e: (system, t + e, q, v)], _WIDE * h)[:, 0]
    by_state = np.concatenate([rates(by_q, _WIDE), rates(by_v, _WIDE * speed)], axis=-1)
    by_inputs = {}
    for name in names:
        if name in _NOT_OF_EVENTS:
            width = size_of(shape_of_input(system, name))
            by_inputs[name] = np.zeros((len(by_state), width))
        else:
            start, entries = moves_of(system, name)

            def by(e: float, k: int, name: str = name) -> Any:
                return changed_by(system, name, k, e), t, q, v

            moved = [lambda e, k=k, by=by: by(e, k) for k in range(len(entries))]
            by_inputs[name] = rates(moved, start)
    return EventChange(by_state, by_t, by_inputs)
