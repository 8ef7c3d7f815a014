"""Fields of integrators: what is taken as a whole number."""

from __future__ import annotations

import operator
from typing import Any

__all__ = ["whole"]


def whole(value: Any) -> Any:
    """Return an integer of any kind as an int, and everything else as it is, for a validator.

    Examples
    --------
    >>> import numpy as np
    >>> whole(np.int64(3)), whole(2.5), whole(True)
    (3, 2.5, True)
    """
    if isinstance(value, bool):
        return value
    try:
        return operator.index(value)
    except TypeError:
        return value
