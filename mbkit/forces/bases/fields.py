"""Fields of forces: numbers, vectors and poses, checked with messages that name the force."""

from __future__ import annotations

from mbkit.errors import ForceError
from mbkit.spatial.fields import EVERY_BODY, Fields, array_field

__all__ = [
    "EVERY_BODY",
    "array_field",
    "check_name_field",
    "choice",
    "fault",
    "names_or_all",
    "number",
    "point",
    "pose",
    "vector",
]

_fields = Fields("Force", ForceError)

fault = _fields.fault
number = _fields.number
vector = _fields.vector
point = _fields.point
pose = _fields.pose
choice = _fields.choice
names_or_all = _fields.names_or_all
check_name_field = _fields.check_name
