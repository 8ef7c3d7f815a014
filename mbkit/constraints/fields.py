"""Fields of constraints: numbers, vectors and names; messages name the constraint."""

from __future__ import annotations

import fractions
import numbers
from typing import Any

import attrs
import numpy as np

from mbkit.autodiff.tape import Traced
from mbkit.errors import ConstraintError
from mbkit.spatial.fields import Fields, array_field

__all__ = [
    "array_field",
    "check_name_field",
    "direction",
    "fault",
    "number",
    "point",
    "pose",
    "returned",
    "table",
]

#: Types of entries of arrays of numbers, traced ones included.
_NUMBERS = (numbers.Real, Traced)

#: Types of numbers that may be too large for floats, and the bound.
_EXACT: Any = (int, fractions.Fraction)
_LARGEST = 1e308

_fields = Fields("Constraint", ConstraintError)

fault = _fields.fault
check_name_field = _fields.check_name
number = _fields.number
point = _fields.point
pose = _fields.pose
direction = _fields.direction


def _is_number(x: Any) -> bool:
    too_large = isinstance(x, _EXACT) and abs(x) > _LARGEST
    return isinstance(x, _NUMBERS) and not too_large


def returned(owner: Any, value: Any, shape: tuple[int, ...]) -> Any:
    """Return what a function of a user returned as an array, of numbers that may be traced."""
    try:
        array = np.asarray(value)
    except Exception:  # rows of several lengths; whatever its own __array__ raises
        array = np.asarray(None)
    if array.shape != shape or not all(map(_is_number, array.ravel().tolist())):
        kind = f"numbers in an array of shape {shape}" if shape else "a number"
        raise fault(owner, "function", f"must return {kind}, got {value!r}.")
    return array


def table(default: Any = attrs.NOTHING) -> Any:
    """Return a field that is an array, which the class checks as a whole."""
    return array_field(lambda *_: None, default)
