"""Values that users give: numbers as floats, whole numbers, names; and values by name."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

from mbkit.errors import ModelError, NameUnknownError, UsageError, several, suggestion

__all__ = [
    "Named",
    "as_list",
    "as_number",
    "check_name",
    "is_whole",
    "positive_number",
    "whole_number",
]


def as_number(value: Any) -> float:
    """Return a number as a float; other values return unchanged, for the check that follows."""
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


def is_whole(value: Any) -> bool:
    """Say whether a value is a whole number, and no truth value."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def whole_number(what: str, value: Any, least: int = 0) -> int:
    """Return a whole number as an integer; raise UsageError unless it is from `least` on."""
    if not (is_whole(value) and value >= least):
        raise UsageError(f"{what} must be a whole number from {least} on, got {value!r}.")
    return int(value)


def as_list(given: Any) -> list[Any]:
    """Return several things as a list, and one name as a list of it.

    Another value comes back in a list as well, for the check of its entries that follows.

    Examples
    --------
    >>> as_list("elbow"), as_list(("elbow", "wrist")), as_list(3)
    (['elbow'], ['elbow', 'wrist'], [3])
    """
    return list(given) if several(given) and not isinstance(given, str) else [given]


def check_name(kind: str, name: Any) -> None:
    """Raise ModelError unless `name` can name something, a "Body", in tables, files and messages.

    It is printable, not empty, without blanks at its ends. Joints must do without square brackets,
    which number the positions of a joint: ``ball[2]``.

    Examples
    --------
    >>> check_name("Body", "rod ")
    Traceback (most recent call last):
    mbkit.errors.ModelError: Body name must have no blanks at its ends, got 'rod '.
    """
    if not isinstance(name, str):
        raise ModelError(f"{kind} name must be a string, got {name!r}.")
    if not name:
        raise ModelError(f"{kind} name must not be empty.")
    if name != name.strip():
        raise ModelError(f"{kind} name must have no blanks at its ends, got {name!r}.")
    if not name.isprintable():
        raise ModelError(f"{kind} name must be printable, got {name!r}.")
    if kind == "Joint" and ("[" in name or "]" in name):
        text = f"Joint name must have no square brackets, got {name!r}"
        raise ModelError(f"{text}; they number a joint's positions.")


class Named(dict[str, Any]):
    """Values by name; the error of an unknown name lists the names that exist.

    Examples
    --------
    >>> Named({"tip": 0.5}, "The run has no output")["ti"]
    Traceback (most recent call last):
    mbkit.errors.NameUnknownError: The run has no output 'ti'; did you mean 'tip'?
    """

    def __init__(self, values: Mapping[str, Any], missing: str) -> None:
        super().__init__(values)
        self.missing = missing  # how the message begins

    def __missing__(self, name: object) -> Any:
        """Raise NameUnknownError."""
        raise NameUnknownError(f"{self.missing} {name!r}; {suggestion(name, self)}")
