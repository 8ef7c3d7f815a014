"""Python functions behind addresses: slots, their callbacks, and the exceptions they keep."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Slot", "callback_address", "register"]


class Slot(Protocol):
    """Views of the arguments of one Python function, prepared once."""

    error: BaseException | None


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

    The callback returns 0, or 1 after an exception, KeyboardInterrupt included, which it leaves in
    the slot: nothing may unwind through compiled code.
    """
    from mbkit.kernels.compile import python_address

    def run(address: int) -> int:
        slot = _slots[address]
        try:
            getattr(slot, operation)()
        except BaseException as error:
            slot.error = error
            return 1
        return 0

    made = python_address("i", run)
    _owners.append(made)
    return made.address


_owners: list[Any] = []
