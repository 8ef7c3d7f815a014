"""Fields of constraints: numbers, vectors and names; messages name the constraint."""

from __future__ import annotations

from typing import Any

import attrs

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
    "table",
]

_fields = Fields("Constraint", ConstraintError)

fault = _fields.fault
check_name_field = _fields.check_name
number = _fields.number
point = _fields.point
pose = _fields.pose
direction = _fields.direction


def table(default: Any = attrs.NOTHING) -> Any:
    """Return a field that is an array, which the class checks as a whole."""
    return array_field(lambda *_: None, default)
