"""What fields of integrators are checked for."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from mbkit.errors import UsageError

__all__ = [
    "as_array",
    "as_number",
    "check_array",
    "check_choice",
    "check_name_and_order",
    "check_order",
    "check_tolerance",
    "has_tolerance",
]


def as_number(value: Any) -> Any:
    """Return a number as a float; what is none comes back as it is, for the check that follows."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if is_number else value


def as_array(value: Any) -> Any:
    """Return numbers as a read-only array; what is none comes back, for the check that follows."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        return value
    array.flags.writeable = False
    return array


def check_array(what: str, field: str, value: Any) -> None:
    """Raise UsageError unless `as_array` has made an array."""
    if not isinstance(value, np.ndarray):
        raise UsageError(
            f"{what}: {field} must be an array of numbers, all its rows of one length, got "
            f"{value!r}."
        )


def check_name_and_order(coefficients: Any) -> None:
    """Raise UsageError unless coefficients have a name and the order that they claim is one."""
    kind, name = type(coefficients).__name__, coefficients.name
    if not (isinstance(name, str) and name):
        raise UsageError(f"{kind}: name must be text that is not empty, got {name!r}.")
    check_order(f"{kind} '{name}'", "order", coefficients.order, least=1)


def check_order(what: str, field: str, value: Any, *, least: int) -> None:
    """Raise UsageError unless an order is a whole number from `least` on."""
    if not (type(value) is int and value >= least):
        raise UsageError(f"{what}: {field} must be a whole number from {least} on, got {value!r}.")


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
