"""Faults of a URDF file, and the parts of it that are not read, with their lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import attrs

from mbkit.errors import MbkitError, ModelFileError
from mbkit.io.text_file import shortened

Made = TypeVar("Made")

_SHOWN = 50  # faults in a message

Hint = Callable[[], str]


@attrs.define
class _Unread:
    line: int
    count: int = 1


class Reading:
    """A list of faults and of notes that grows while a file is read.

    Messages begin with `what`, and have `name` before the number of a line.
    """

    def __init__(self, what: str, name: str) -> None:
        self.what, self.name = what, name
        self._faults: list[tuple[int, str, Hint]] = []
        self._notes: list[tuple[int, str, Hint]] = []
        self._unread: dict[str, _Unread] = {}

    @property
    def num_faults(self) -> int:
        """Number of faults so far."""
        return len(self._faults)

    def fault(self, line: int, message: str, hint: Hint = str) -> None:
        """Note a fault; `hint` makes the end of the message, if it comes to be shown."""
        self._faults.append((line, shortened(message), hint))

    def note(self, line: int, message: str, hint: Hint = str) -> None:
        """Note an element read in another way than a user might think; `hint` as for faults."""
        self._notes.append((line, shortened(message), hint))

    def unread(self, path: str, line: int) -> None:
        """Note that an element, ``link/contact``, or attribute, ``limit@current``, is not read."""
        if path in self._unread:
            self._unread[path].count += 1
        else:
            self._unread[path] = _Unread(line)

    def attempt(self, line: int, owner: str, make: Callable[[], Made]) -> Made | None:
        """Return the result of `make`; its errors of mbkit are noted, and None returned."""
        try:
            return make()
        except MbkitError as error:
            self.fault(line, f"{owner}: {error}")
            return None

    def raise_faults(self) -> None:
        """Raise ModelFileError with all faults, by lines, if there are any."""
        if not self._faults:
            return
        count = "a fault" if len(self._faults) == 1 else f"{len(self._faults)} faults"
        faults = sorted(self._faults, key=lambda fault: fault[0])
        # Looking for names that may have been meant takes time: for what is shown alone.
        lines = [
            f"{self.name}:{line}: {shortened(message + hint())}"
            for line, message, hint in faults[:_SHOWN]
        ]
        if len(faults) > _SHOWN:
            lines.append(f"and {len(faults) - _SHOWN} more.")
        raise ModelFileError(f"{self.what} has {count}:\n" + "\n".join(lines))

    def notes(self) -> tuple[str, ...]:
        """Return all notes, each with the first line it is about."""
        lines = [
            (line, shortened(message + (hint() if k < _SHOWN else "")))
            for k, (line, message, hint) in enumerate(self._notes)
        ]
        for path, unread in self._unread.items():
            times = f" ({unread.count} times)" if unread.count > 1 else ""
            kind = "attribute" if "@" in path else "text in" if path.endswith("text()") else ""
            shown = path.removesuffix("/text()")
            text = shortened(f"{kind} {shown} is not read{times}.".lstrip())
            lines.append((unread.line, text))
        return tuple(f"{self.name}:{line}: {message}" for line, message in sorted(lines))
