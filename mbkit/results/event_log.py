"""The events of a run, in the order in which they happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from mbkit.errors import ShapeError
from mbkit.results.values import names as texts

__all__ = ["FIELDS", "EventLog", "Happening"]

Floats = npt.NDArray[np.float64]

#: The arrays over the states at events.
FIELDS = ("q", "v", "q_after", "v_after")


class Happening(NamedTuple):
    """One event: when, its name, and the state before and after it."""

    t: float
    name: str
    q: Floats
    v: Floats
    q_after: Floats
    v_after: Floats


def _read_only(value: npt.ArrayLike) -> Floats:
    array = np.array(value, dtype=np.float64)
    array.setflags(write=False)
    return array


@attrs.frozen(eq=False, repr=False)
class EventLog:
    """The events of a run, at m instants.

    Attributes
    ----------
    t : ndarray, shape (m,)
        Times, which do not decrease. [s]
    names : tuple of str
        Names of the events, m.
    q, v : ndarray, shape (m, nq), (m, nv)
        The state that led to the event.
    q_after, v_after : ndarray, shape (m, nq), (m, nv)
        The state from which the run went on: the same where the event resets nothing.

    Examples
    --------
    >>> log = EventLog(
    ...     t=[0.5, 0.9], names=("floor", "apex"), q=[[0.0], [1.0]], v=[[-2.0], [0.0]],
    ...     q_after=[[0.0], [1.0]], v_after=[[1.0], [0.0]],
    ... )
    >>> len(log), log["floor"].t
    (2, array([0.5]))
    >>> for happening in log:
    ...     print(happening.name, happening.t)
    floor 0.5
    apex 0.9
    """

    t: Floats = attrs.field(converter=_read_only)
    names: tuple[str, ...] = attrs.field(converter=texts)
    q: Floats = attrs.field(converter=_read_only)
    v: Floats = attrs.field(converter=_read_only)
    q_after: Floats = attrs.field(converter=_read_only)
    v_after: Floats = attrs.field(converter=_read_only)

    def __attrs_post_init__(self) -> None:
        for name in ("t", *FIELDS):
            array = getattr(self, name)
            if array.ndim != (1 if name == "t" else 2) or len(array) != len(self.names):
                raise ShapeError(
                    f"EventLog: {name} has shape {array.shape}; there are {len(self.names)} names, "
                    "and it needs a row for each."
                )

    @classmethod
    def empty(cls, nq: int, nv: int) -> EventLog:
        """Return the log of a run in which nothing happened."""
        q, v = np.zeros((0, nq)), np.zeros((0, nv))
        return cls(t=np.zeros(0), names=(), q=q, v=v, q_after=q, v_after=v)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], names: tuple[str, ...]) -> EventLog:
        """Return the log of arrays by field, of which ``event`` numbers the `names`."""
        called = tuple(names[int(number)] for number in columns["event"])
        return cls(t=columns["t"], names=called, **{name: columns[name] for name in FIELDS})

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Happening]:
        rows = zip(
            self.t.tolist(), self.names, *(getattr(self, name) for name in FIELDS), strict=True
        )
        return (Happening(*row) for row in rows)

    def __getitem__(self, name: str) -> EventLog:
        """Return the log of one event, by its name; empty where it never happened."""
        rows = [row for row, called in enumerate(self.names) if called == name]
        return EventLog(
            t=self.t[rows], names=tuple(self.names[row] for row in rows),
            **{field: getattr(self, field)[rows] for field in FIELDS},
        )  # fmt: skip

    def __repr__(self) -> str:
        counts = {name: self.names.count(name) for name in dict.fromkeys(self.names)}
        return f"<EventLog: {', '.join(f'{k} {v}' for k, v in counts.items()) or 'nothing'}>"
