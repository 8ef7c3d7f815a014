"""Numbers that users give, as floats, and the check that one is positive."""

from __future__ import annotations

import math
import numbers
from typing import Any

from mbkit.errors import UsageError

__all__ = ["as_number", "positive_number"]


def as_number(value: Any) -> float:
    """Return a number as a float; what is none comes back as it is, for the check that follows."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        number: float = float(value) if is_number else value
    except OverflowError:  # a whole number of hundreds of digits
        return value  # type: ignore[no-any-return]
    return number


def positive_number(what: str, value: Any, *, unit: str = "", remedy: str = "") -> float:
    """Return a number as a float; raise UsageError unless it is above zero and finite.

    Examples
    --------
    >>> positive_number("the length", -1.0, unit="metres", remedy="leave it out")
    Traceback (most recent call last):
    mbkit.errors.UsageError: the length must be a positive number of metres, got -1.0; leave it out.
    """
    number = as_number(value)
    if not (isinstance(number, float) and 0.0 < number < math.inf):
        of, so = unit and f" of {unit}", remedy and f"; {remedy}"
        raise UsageError(f"{what} must be a positive number{of}, got {value!r}{so}.")
    return number
