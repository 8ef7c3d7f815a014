"""Steps in which an event resets the state or ends the run, linear about the run.

The step is cut into parts by the events. With dy the change of the state at the end of a part, at
a time that does not move, dT that of the time of the event, and dz of the state there,

    dT = g^T dy + g_p dp,    dz = dy + Phi_h dT,    dx = J dz + J_t dT + J_p dp,

from which the next part goes on: that is the saltation matrix. Source: R. I. Leine, H. Nijmeijer,
*Dynamics and Bifurcations of Non-Smooth Mechanical Systems*, Springer 2004, section 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, final

import attrs
import numpy as np

from mbkit.errors import UsageError
from mbkit.events import Event
from mbkit.sensitivities.event_changes import EventChange, EventState, Jump, crossing_of, jump_of
from mbkit.sensitivities.linear_steps import Inputs, moving
from mbkit.sensitivities.step_parts import Part
from mbkit.simulation.stepping.events_within_step import Occurrence, Passage
from mbkit.systems.calls.arguments import Floats

__all__ = ["Branch", "Found", "PassageSteps", "Seeds", "stops_of"]


class Found(NamedTuple):
    """Forward derivatives: of rows (k, ndx + nv, width), of times of events (m, width)."""

    rows: Floats
    times: Floats


class Seeds(NamedTuple):
    """Derivatives of a loss: by rows (k, ndx + nv), and by their times (k,)."""

    rows: Floats
    times: Floats


class Piece(Protocol):
    """Some steps of a run, linear about it."""

    def forward(self, x: Floats, inputs: Inputs, found: Found) -> Floats:
        """Take columns (size, width) to the end; write the results on the way."""

    def reverse(
        self, adjoint: Floats, seeds: Seeds, inputs: Inputs, total: dict[str, Floats]
    ) -> Floats:
        """Take an adjoint (size,) to the beginning, seeds on the way and there added."""


@final
@attrs.frozen(eq=False)
class Branch:
    """A part that leads to a row or to a recorded event, and from which nothing goes on.

    Attributes
    ----------
    part : Part
        How it gets there.
    row : int or None
        Row of the result.
    event : tuple or None
        Of a recorded event its number in the log, and the event.
    """

    part: Part
    row: int | None = None
    event: tuple[int, Event] | None = None

    def forward(self, x: Floats, ds: Any, inputs: Inputs, found: Found) -> None:
        """Write the results, the beginning moving by ds (width,)."""
        y = self.part.forward(x, inputs) + np.multiply.outer(self.part.by_start, ds)
        if self.row is not None:
            found.rows[self.row] = y
        if self.event is not None:
            number, event = self.event
            time = time_of(self.part, event, inputs.names)
            found.times[number] = _applied(time, y, inputs, self.part.step)[0]

    def reverse(
        self, seeds: Seeds, inputs: Inputs, total: dict[str, Floats]
    ) -> tuple[Floats, float]:
        """Return the adjoint of the state, and that of the time it begins at."""
        if self.row is None or not seeds.rows[self.row].any():
            return np.zeros(self.part.whole.size), 0.0
        seed = seeds.rows[self.row]
        return self.part.reverse(seed, inputs, total), float(self.part.by_start @ seed)


def time_of(part: Part, event: Event, names: Sequence[str]) -> EventChange:
    """Return how the time of an event changes with the state at the end of a part."""
    here = EventState(*part.end, part.whole.problem.h)
    return crossing_of(part.whole, event, here, part.by_end, names)


def _applied(change: EventChange, x: Floats, inputs: Inputs, step: int) -> Floats:
    """Return the changes of m numbers by columns x (ndx + nv, width) and inputs, (m, width)."""
    found = np.asarray(change.by_state @ x)
    inputs.add(found, change.by_inputs, step)
    return found


def stops_of(passage: Passage, events: Sequence[Event]) -> list[Occurrence]:
    """Return the events that cut a step; UsageError where two do so at once."""
    stops = [each for each in passage.occurrences if events[each.event].stops]
    short = [k for k, part in enumerate(passage.segments) if part.h == 0.0 and 0 < k < len(stops)]
    for k in short or [k for k in range(1, len(stops)) if stops[k].t == stops[k - 1].t]:
        names = " and ".join(f"'{events[each.event].name}'" for each in stops[k - 1 : k + 1])
        raise UsageError(
            f"There are no derivatives of this run, since events {names} happen at once at "
            f"t = {stops[k].t:.9g} s: which of them is first depends on the state."
        )
    return stops


@final
@attrs.frozen(eq=False)
class PassageSteps:
    """One step that events cut into parts.

    Attributes
    ----------
    parts : list of Part
        In order.
    jumps : list of tuple
        The event at the end of each part: number in the log, event; none at the end of the step.
    branches : list of list of Branch
        Of each part.
    begin : tuple of int
        Rows that are the state where the step begins.
    end : tuple of int
        Rows that are the state at its end.
    terminal : bool
        Whether the last event ends the run.
    """

    parts: list[Part]
    jumps: list[tuple[int, Event]]
    branches: list[list[Branch]]
    begin: Sequence[int]
    end: Sequence[int]
    terminal: bool

    def jump(self, k: int, names: Sequence[str]) -> Jump:
        """Return the linear map of the event at the end of a part."""
        part, (_, event) = self.parts[k], self.jumps[k]
        here = EventState(*part.end, part.whole.problem.h)
        return Jump(time_of(part, event, names), jump_of(part.whole, event, here, names))

    def forward(self, x: Floats, inputs: Inputs, found: Found) -> Floats:
        """See `Piece`."""
        ds = np.zeros(x.shape[1])
        for k, part in enumerate(self.parts):
            for branch in self.branches[k]:
                branch.forward(x, ds, inputs, found)
            y = part.forward(x, inputs)
            if ds.any():
                y = y + np.outer(part.by_start, ds)
            if k >= len(self.jumps):
                x = y
                break
            time, after = self.jump(k, inputs.names)
            ds = _applied(time, y, inputs, part.step)[0]
            z = y + np.outer(part.by_end, ds)
            x = _applied(after, z, inputs, part.step) + np.outer(after.by_t, ds)
            found.times[self.jumps[k][0]] = ds
            if not self.terminal or k + 1 < len(self.jumps):
                x = x * _free(part)
        found.rows[list(self.end)] = x
        return self.parts[0].padded(x)

    def reverse(
        self, adjoint: Floats, seeds: Seeds, inputs: Inputs, total: dict[str, Floats]
    ) -> Floats:
        """See `Piece`."""
        n = self.parts[0].width
        by_time = float(seeds.times[list(self.end)].sum()) if self.terminal else 0.0
        for k in reversed(range(len(self.parts))):
            part, adjoint = self.parts[k], adjoint[:n]
            if k < len(self.jumps):
                if not self.terminal or k + 1 < len(self.jumps):
                    adjoint = adjoint * _free(part)[:, 0]
                time, after = self.jump(k, inputs.names)
                by_z = after.by_state.T @ adjoint
                by_time += float(after.by_t @ adjoint + part.by_end @ by_z)
                for name in inputs.names:
                    if name != "tau":  # no event depends on it
                        total[name] += after.by_inputs[name].T @ adjoint
                        total[name] += by_time * time.by_inputs[name][0]
                adjoint = by_z + by_time * time.by_state[0]
            by_time = float(part.by_start @ adjoint) if k > 0 else 0.0
            adjoint = part.reverse(adjoint, inputs, total)
            for branch in self.branches[k]:
                more, moved = branch.reverse(seeds, inputs, total)
                adjoint, by_time = adjoint + more, by_time + moved
        adjoint[:n] += seeds.rows[list(self.begin)].sum(axis=0)
        return adjoint


def _free(part: Part) -> Floats:
    """Return 1 for entries of q and v, 0 for those of prescribed joints, (ndx + nv, 1)."""
    return moving(part.whole.system)[:, None]
