"""Exceptions of a kernel that is called with arguments of other types."""

from mbkit.interrupts import HeldInterrupts

with HeldInterrupts():  # Ctrl-C would leave numba half imported
    from numba.core.errors import NumbaError

#: numba's own errors are those of types that it cannot name, such as an empty list.
REFUSALS: tuple[type[Exception], ...] = (TypeError, ValueError, OverflowError, NumbaError)
