"""The events of a run in the memory of its workspace, where compiled steps look at them."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mbkit.errors import NotFiniteError, ShapeError, UsageError
from mbkit.events import Event
from mbkit.events.event import DIRECTIONS
from mbkit.events.quantities import FunctionQuantity
from mbkit.events.reset import FunctionReset
from mbkit.kernels import layout
from mbkit.simulation.python_force import check_takes_states
from mbkit.systems import System
from mbkit.systems.forms.momentum_form import MomentaInLoops
from mbkit.systems.memory.callbacks import callback_address, register
from mbkit.systems.memory.workspace import Workspace

__all__ = ["Watch", "checked_events"]

#: Numbers of this size at the start are rounding. [m], [rad]
CONTACT = 1e-12


def checked_events(events: Any, system: System) -> tuple[Event, ...]:
    """Return the events of a run; raise where one is none, or does not fit the system."""
    if isinstance(events, Event):
        raise UsageError(f"events must be a list of events; write events=[...] around {events!r}.")
    try:
        found = tuple(events)
    except TypeError:
        raise UsageError(f"events must be a list of events, got {events!r}.") from None
    names: set[str] = set()
    for event in found:
        if not isinstance(event, Event):
            raise UsageError(f"events must be mbkit.Event objects, got {event!r}.")
        if event.name in names:
            raise UsageError(f"Two events are called '{event.name}'; give each its own name.")
        names.add(event.name)
        if isinstance(event.when, FunctionQuantity):
            check_takes_states(event.when.function, f"The function of event '{event.name}'")
        if isinstance(event.reset, FunctionReset):
            check_takes_states(event.reset.function, f"The reset of event '{event.name}'")
        try:
            event.check(system)
        except Exception as error:
            error.add_note(f"At event '{event.name}'.")
            raise
    return found


class Watch:
    """The numbers of events, their values when a step began, and a callback for those in Python.

    Parameters
    ----------
    events : sequence of Event
        At least one; `checked_events` has seen them.
    system : System
        Whose state is looked at.
    workspace : Workspace
        Where the compiled steps find the watch.
    momenta : MomentaInLoops, optional
        Of a run in momenta, whose states have them for v.
    """

    def __init__(
        self,
        events: Sequence[Event],
        system: System,
        workspace: Workspace,
        momenta: MomentaInLoops | None = None,
    ) -> None:
        from mbkit.kernels.compile import array_address
        from mbkit.kernels.time_loops.event_watch import watch

        count, nq, nv = len(events), system.nq, system.nv
        start = layout.WATCH_EVENTS + layout.WATCH_SIZE * count
        self.events = tuple(events)
        self.error: BaseException | None = None
        self.memory = np.zeros(start + nq + nv)
        self._system = system
        self.momenta = momenta
        self._table = self.memory[layout.WATCH_EVENTS : start].reshape(count, layout.WATCH_SIZE)
        self._now = self._table[:, layout.EVENT_NOW]
        self._before = self._table[:, layout.EVENT_BEFORE]
        self._time = self.memory[layout.WATCH_TIME : layout.WATCH_EVENTS]
        self._q, self._v = self.memory[start : start + nq], self.memory[start + nq :]
        self._in_python = self._fill_in(layout)
        self._rules = self._table[:, [layout.EVENT_DIRECTION, layout.EVENT_CLOSED]].tolist()
        self.memory[layout.WATCH_NUM_POSITIONS] = nq
        self.memory[layout.WATCH_NUM_VELOCITIES] = nv
        self.memory[layout.WATCH_COUNT] = count
        if self._in_python:
            self.memory[layout.WATCH_CALLBACK] = callback_address("evaluate")
        address = array_address(self.memory)
        weakref.finalize(workspace, register(address, self))
        self._record: Any = workspace.record[0]
        self._record["watch_slot"] = address
        self._record["watch"] = self._function = watch.address

    def _fill_in(self, layout: Any) -> list[int]:
        """Write the data of each event for the kernel; return which are in Python."""
        in_python = []
        for k, (event, row) in enumerate(zip(self.events, self._table, strict=True)):
            compiled = event.when.compiled(self._system)
            if compiled is None or (compiled[0] == "v" and self.momenta is not None):
                row[layout.EVENT_KIND] = layout.EVENT_PYTHON
                in_python.append(k)
            else:
                kind, row[layout.EVENT_INDEX], row[layout.EVENT_LEVEL] = compiled
                kinds = {"q": layout.EVENT_POSITION, "v": layout.EVENT_VELOCITY}
                row[layout.EVENT_KIND] = kinds[kind]
            row[layout.EVENT_DIRECTION] = DIRECTIONS[event.direction]
            row[layout.EVENT_CLOSED] = event.departs
        return in_python

    # ------------------------------------------------------------------------- called back

    def evaluate(self) -> None:
        """Write the numbers of the events in Python at the state that the kernel has left."""
        for k in self._in_python:
            self._now[k] = self.value(k, float(self._time[0]), self._q, self._v)

    # ------------------------------------------------------------------------- between steps

    def value(self, number: int, t: float, q: Any, v: Any) -> float:
        """Return the number of one event; errors that its function raises name the event.

        It is given copies of q and v, which it may keep or change.
        """
        event = self.events[number]
        v = v.copy() if self.momenta is None else self.momenta.velocity(q, v)
        try:
            value = event.when.value(self._system, t, q.copy(), v)
        except Exception as error:
            error.add_note(f"Raised by event '{event.name}' at t = {t:.9g} s.")
            raise
        if type(value) is not float:
            value = self._number(event.name, value, t)
        if not np.isfinite(value):
            raise NotFiniteError(f"Event '{event.name}' is {value} at t = {t:.9g} s.")
        return value

    @staticmethod
    def _number(name: str, value: Any, t: float) -> float:
        """Return the result of a function as a number."""
        try:
            array = np.asarray(value)
            if array.size == 1 and array.dtype.kind in "fiub":
                return float(array.reshape(-1)[0])
        except Exception as error:  # it has no array
            raise ShapeError(f"Event '{name}' must be a number, got {value!r}.") from error
        raise ShapeError(
            f"Event '{name}' must be a number at all times, got {value!r} at t = {t:.9g} s; let "
            f"its function return one."
        )

    def values(self, t: float, q: Any, v: Any) -> Any:
        """Return the numbers of all events."""
        return np.array([self.value(k, t, q, v) for k in range(len(self.events))])

    def begin(self, values: Any) -> None:
        """Let the next step begin with these numbers."""
        self._before[:] = values

    def start(self, values: Any) -> None:
        """Let the first step of a run begin: a point behind a wall by rounding is in contact."""
        contact = [
            event.departs and abs(value) < CONTACT
            for event, value in zip(self.events, values, strict=True)
        ]
        self.begin(np.where(contact, 0.0, values))

    @property
    def before(self) -> Any:
        """The numbers with which the step began."""
        return self._before.copy()

    def crosses(self, number: int, before: float, now: float) -> bool:
        """Return whether an event lies between two of its numbers."""
        from mbkit.kernels.time_loops.event_watch import has_crossed

        function = getattr(has_crossed, "py_func", has_crossed)  # the same rule, not compiled
        return bool(function(before, now, *self._rules[number]))

    @contextlib.contextmanager
    def off(self) -> Iterator[None]:
        """Let steps be taken without a look at the events."""
        self._record["watch"] = 0
        try:
            yield
        finally:
            self._record["watch"] = self._function
