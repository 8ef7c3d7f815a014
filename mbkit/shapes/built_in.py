"""The shapes of mbkit, by the names that model files have for them."""

from __future__ import annotations

from mbkit.catalogue import file_name
from mbkit.shapes.mesh import MeshShape
from mbkit.shapes.shape import Shape
from mbkit.shapes.solids import (
    BoxShape,
    CapsuleShape,
    CylinderShape,
    EllipsoidShape,
    SphereShape,
)

#: Classes of shapes by their names in files.
SHAPE_TYPES: dict[str, type[Shape]] = {
    file_name(kind, Shape): kind
    for kind in (BoxShape, CylinderShape, CapsuleShape, SphereShape, EllipsoidShape, MeshShape)
}
