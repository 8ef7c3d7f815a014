"""Ctrl-C, noted until it does no harm."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps
import signal
import threading
from types import FrameType
from typing import Any, Self

# Those of `signal` make enumerations of handlers, for 5 us each way; a batch takes some tens.


class Interrupts:
    """Notes Ctrl-C instead of raising KeyboardInterrupt wherever the interpreter happens to be.

    For example between two statements of a callback, where it would be lost. A second Ctrl-C raises
    as ever, for callbacks that do not return. Only in the main thread, and only in place of
    Python's own handler: other handlers remain in force.

    Ctrl-C may come between any two statements of this class as well: whatever leaves it as an
    exception, the handler from before is there again.

    Attributes
    ----------
    noted : bool
        Whether there was one; to be looked at after the end, too.
    """

    def __init__(self) -> None:
        self.noted = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = _signal.getsignal(signal.SIGINT)
            if self._replaces(self._before):
                _signal.signal(signal.SIGINT, self._note)
        return self

    def _replaces(self, handler: Any) -> bool:
        return handler is signal.default_int_handler

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            _signal.signal(signal.SIGINT, self._before)
            raise KeyboardInterrupt
        self.noted = True

    def look(self) -> None:
        """Raise KeyboardInterrupt if there was a Ctrl-C, where it does no harm."""
        if self.noted:
            raise KeyboardInterrupt

    def __exit__(self, *error: object) -> None:
        if _signal.getsignal(signal.SIGINT) == self._note:
            _signal.signal(signal.SIGINT, self._before)


class PatientInterrupts(Interrupts):
    """Notes Ctrl-C, as often as it comes.

    For work that looks soon whether one was noted, and must not end while others take part in it.
    """

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.noted = True


class HeldInterrupts(PatientInterrupts):
    """Notes Ctrl-C, as often as it comes, and hands it on at the end.

    For the work of others in which it would leave a lock held or memory half written: compilers,
    files. To be put around pieces that are short, or look in between.
    """

    def _replaces(self, handler: Any) -> bool:
        return super()._replaces(handler) or isinstance(
            getattr(handler, "__self__", None), Interrupts
        )

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self.noted and not isinstance(error[1], KeyboardInterrupt):
            self._before(signal.SIGINT, None)
