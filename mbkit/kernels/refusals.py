"""What a call of a kernel raises for arguments that it does not take."""

from numba.core.errors import NumbaError

#: numba's own errors are those of types that it cannot name, such as an empty list.
REFUSALS: tuple[type[Exception], ...] = (TypeError, ValueError, OverflowError, NumbaError)
