"""What fields of integrators are checked for."""

from __future__ import annotations

import math
from typing import Any

from mbkit.errors import UsageError

__all__ = ["check_choice", "check_tolerance"]


def check_choice(integrator: Any, field: str, choices: tuple[str, ...]) -> None:
    """Raise UsageError unless a field has one of the values there are."""
    value = getattr(integrator, field)
    if value not in choices:
        raise UsageError(
            f"{type(integrator).__name__}: {field} must be "
            f"{' or '.join(map(repr, choices))}, got {value!r}."
        )


def check_tolerance(integrator: Any, field: str = "tolerance") -> None:
    """Raise UsageError unless a field is a positive number."""
    value = getattr(integrator, field)
    if not (isinstance(value, float) and 0.0 < value < math.inf):
        raise UsageError(
            f"{type(integrator).__name__}: {field} must be a positive number, got {value!r}."
        )
