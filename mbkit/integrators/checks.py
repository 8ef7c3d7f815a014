"""What fields of integrators are checked for."""

from __future__ import annotations

import math
import numbers
from typing import Any

from mbkit.errors import UsageError

__all__ = ["as_number", "check_choice", "check_tolerance", "has_tolerance"]


def as_number(value: Any) -> Any:
    """Return a number as a float; what is none comes back as it is, for the check that follows."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if is_number else value


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


def has_tolerance(integrator: Any) -> bool:
    """Return whether an integrator has `rtol` or `atol`, by which it chooses its steps."""
    return not (integrator.rtol is None and integrator.atol is None)
