"""Fields of events: numbers, checked with messages that name them."""

from __future__ import annotations

import math
from typing import Any

import attrs

from mbkit.errors import UsageError
from mbkit.given_values import as_number


def finite(
    default: Any,
    *,
    least: float | None = None,
    most: float | None = None,
    kw_only: bool = False,
) -> Any:
    """Return a field that is a finite number within bounds."""

    def check(owner: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        name = getattr(owner, "name", None)
        who = type(owner).__name__ if name is None else f"{type(owner).__name__} {name!r}"
        what = f"{who}: {attribute.name}"
        if not (isinstance(value, float) and math.isfinite(value)):
            raise UsageError(f"{what} must be a finite number, got {value!r}.")
        if least is not None and value < least:
            raise UsageError(f"{what} must be at least {least:g}, got {value!r}.")
        if most is not None and value > most:
            raise UsageError(f"{what} must be at most {most:g}, got {value!r}.")

    return attrs.field(default=default, converter=as_number, validator=check, kw_only=kw_only)
