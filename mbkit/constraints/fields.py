"""Fields of constraints: numbers, vectors and names; messages name the constraint."""

from __future__ import annotations

from mbkit.errors import ConstraintError
from mbkit.spatial.fields import Fields
from mbkit.spatial.fields import array_field as array_field

__all__ = ["array_field", "direction", "fault", "name", "number", "point", "pose"]

_fields = Fields("Constraint", ConstraintError)

fault = _fields.fault
name = _fields.name
number = _fields.number
point = _fields.point
pose = _fields.pose
direction = _fields.direction
