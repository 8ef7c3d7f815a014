"""Python functions behind addresses: slots, their callbacks, and the exceptions they keep."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Protocol

from mbkit.kernels.layout import DONE, SLOT_STATUS


class Slot(Protocol):
    """Views of the arguments of one Python function, prepared once."""

    error: BaseException | None
    memory: Any


def read_only(view: Any) -> Any:
    """Return a view of the same numbers through which nobody can write."""
    view = view.view()
    view.flags.writeable = False
    return view


# Slots by address. A slot is entered when its workspace is made and leaves with it.
_slots: dict[int, Any] = {}


def register(address: int, slot: Slot) -> Callable[[], None]:
    """Enter a slot under its address; return the function that takes it out again."""
    _slots[address] = slot

    def remove() -> None:
        _slots.pop(address, None)

    return remove


@functools.cache
def callback_address(operation: str) -> int:
    """Return the address of the callback that runs the slot's method `operation`.

    An exception, KeyboardInterrupt included, is stored in the slot, because it must not unwind
    through compiled code. The callback writes its completion into the slot's memory, because Ctrl-C
    may end it before its first statement: CPython handles signals when a function begins. After an
    error compiled code may try again, for example in smaller steps, and the error is forgotten; not
    after Ctrl-C.
    """
    from mbkit.kernels.compile import python_address

    def run(address: int) -> int:
        slot = _slots[address]
        if slot.error is not None and not isinstance(slot.error, Exception):
            return 0
        slot.error = None
        try:
            getattr(slot, operation)()
            slot.memory[SLOT_STATUS] = DONE
        except BaseException as error:
            slot.error = error
        return 0

    if not _owners:
        _tell_nothing_of_ctrl_c()
    made = python_address("i", run)
    _owners.append(made)
    return made.address


_owners: list[Any] = []


def _tell_nothing_of_ctrl_c() -> None:
    """Keep Python from printing a Ctrl-C that ends a callback before its first statement.

    The interpreter has nobody to raise it to and prints "Exception ignored on calling ctypes
    callback function"; `taken_error` raises it where the callback was called from.
    """
    before = sys.unraisablehook

    def hook(unraisable: Any) -> None:
        # CPython names the function as the object, from 3.13 on in the message alone
        told = f"{unraisable.object!r} {unraisable.err_msg}"
        ours = f"{callback_address.__name__}.<locals>.run" in told
        if not (ours and issubclass(unraisable.exc_type, KeyboardInterrupt)):
            before(unraisable)

    sys.unraisablehook = hook


def taken_error(slot: Slot) -> BaseException:
    """Return the exception that ended a callback, and forget it; Ctrl-C if it never began."""
    error, slot.error = slot.error, None
    return KeyboardInterrupt() if error is None else error
