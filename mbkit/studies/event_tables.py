"""Events in a study file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from mbkit.errors import UsageError
from mbkit.events import Event, Impact, JointPosition, JointVelocity, PlaneDistance
from mbkit.io.toml.faults import Faults
from mbkit.io.toml.fields import converter
from mbkit.systems import System

__all__ = ["read_events"]

#: Quantities that events observe, and their actions on the state, by their names in files.
QUANTITIES: dict[str, Any] = {
    "joint_position": JointPosition,
    "joint_velocity": JointVelocity,
    "plane_distance": PlaneDistance,
}
RESETS: dict[str, Any] = {"impact": Impact}


@attrs.frozen
class EventKeys:
    """The keys of an event, those of `Event`."""

    when: Any
    direction: str = "both"
    terminal: bool = False
    reset: Any = None
    tolerance: float = 1e-12


def read_events(tables: Mapping[str, Any], system: System, faults: Faults) -> tuple[Event, ...]:
    """Return the events of a study that are sound, in its order; the others are noted."""
    events = []
    for name, table in tables.items():
        path = ("events", name)
        with faults.at(*path):
            keys = converter().structure(table, EventKeys)
            when = keys.when
            if not isinstance(when, str):  # else: a position
                when = _made(when, QUANTITIES, (*path, "when"), faults)
            reset = keys.reset
            if reset is not None:
                reset = _made(reset, RESETS, (*path, "reset"), faults)
            if when is not None and (reset is not None or keys.reset is None):
                event = Event(
                    name, when, direction=keys.direction, terminal=keys.terminal, reset=reset,
                    tolerance=keys.tolerance,
                )  # fmt: skip
                event.check(system)
                events.append(event)
    return tuple(events)


def _made(table: Any, kinds: Mapping[str, Any], path: tuple[str, ...], faults: Faults) -> Any:
    """Return the object that a table with a type describes; None if it is at fault."""
    made = None
    with faults.at(*path):
        if not isinstance(table, dict):
            raise UsageError(f"must be a table with a type, {_one_of(kinds)}; got {table!r}.")
        kind = table.get("type")
        if not isinstance(kind, str) or kind not in kinds:
            faults.add_unknown((*path, "type"), f"there is no {kind!r} here", kind, kinds)
        else:
            fields = {key: value for key, value in table.items() if key != "type"}
            made = converter().structure(fields, kinds[kind])
    return made


def _one_of(kinds: Mapping[str, Any]) -> str:
    return " or ".join(map(repr, kinds))
