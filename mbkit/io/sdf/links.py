"""Links of an SDF file: inertias and visual shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.io.sdf.contents import number_in, pose_in, vector_in, word_in
from mbkit.io.xml.inertias import inertia_at
from mbkit.io.xml.values import Part
from mbkit.shapes import (
    BoxShape,
    CapsuleShape,
    Color,
    CylinderShape,
    EllipsoidShape,
    MeshShape,
    Shape,
    SphereShape,
)
from mbkit.spatial import FloatArray, SpatialInertia

_DEFAULTS = {"ixx": 1.0, "ixy": 0.0, "ixz": 0.0, "iyy": 1.0, "iyz": 0.0, "izz": 1.0}


def inertia_of(link: Part) -> SpatialInertia:
    """Return the inertia of a link in its frame; 1 kg and 1 kg m^2 where the file has none."""
    inertial = link.child("inertial")
    if inertial is None:
        link.reading.note(
            link.line,
            f"{link.owner} has no <inertial>: it has 1 kg and 1 kg m^2, as the format says.",
        )
        return SpatialInertia.from_com(1.0, (0, 0, 0), np.eye(3))
    if inertial.text("auto", required=False) in ("true", "1"):
        inertial.fault("auto='true' needs shapes of collision, which are not read; give numbers.")
    C, relative = pose_in(inertial)
    if relative:
        inertial.fault("its pose must be relative to the link; leave relative_to out.")
    mass = number_in(inertial, "mass", 1.0)
    table = inertial.child("inertia")
    values = _DEFAULTS
    if table is not None:
        values = {key: number_in(table, key, default) for key, default in _DEFAULTS.items()}
        table.done()
    inertial.done()
    xx, xy, xz, yy, yz, zz = values.values()
    moment = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return inertia_at(inertial, mass, C, moment)


def shapes_of(link: Part) -> list[Shape]:
    """Return the visual shapes of a link; those that mbkit does not have are noted."""
    found = []
    for visual in link.children("visual"):
        visual.text("name", required=False)
        C, relative = pose_in(visual)
        if relative:
            visual.fault("its pose must be relative to the link; leave relative_to out.")
        geometry, color = visual.child("geometry", required=True), _color(visual)
        visual.done()
        shape = None if geometry is None else _shape(geometry, C, color)
        if shape is not None:
            found.append(shape)
    return found


def _color(visual: Part) -> Color | None:
    """Return the colour of the material: its <diffuse>, else its <ambient>."""
    material = visual.child("material")
    if material is None:
        return None
    colors = {
        tag: each.content_numbers(4)
        if len(each.content().split()) == 4
        else np.append(each.content_numbers(3), 1.0)
        for tag in ("ambient", "diffuse")
        if (each := material.child(tag)) is not None
    }
    for tag in ("specular", "emissive", "shininess", "lighting", "double_sided"):
        material.children(tag)  # of a renderer
    material.done()
    rgba = colors.get("diffuse", colors.get("ambient"))
    return None if rgba is None else tuple(np.clip(rgba, 0.0, 1.0).tolist())


def _shape(geometry: Part, C: FloatArray, color: Color | None) -> Shape | None:
    rest: dict[str, Any] = {"pose": C, "color": color}
    made: Shape | None = None
    for element in geometry.element.children[:1]:
        if element.tag not in _SHAPES:
            break
        part = geometry.children(element.tag)[0]
        made = part.attempt(lambda part=part, make=_SHAPES[element.tag]: make(part, rest))  # type: ignore[misc]
        part.done()
    geometry.done()
    return made


def _mesh(part: Part, rest: dict[str, Any]) -> Shape | None:
    file = word_in(part, "uri", required=True)
    scale = vector_in(part, "scale", 3) if part.children("scale") else np.ones(3)
    return MeshShape(file=file, scale=scale, **rest) if file else None


_SHAPES: dict[str, Any] = {
    "box": lambda part, rest: BoxShape(vector_in(part, "size", 3), **rest),
    "sphere": lambda part, rest: SphereShape(number_in(part, "radius"), **rest),
    "ellipsoid": lambda part, rest: EllipsoidShape(vector_in(part, "radii", 3), **rest),
    "cylinder": lambda part, rest: CylinderShape(
        number_in(part, "radius"), number_in(part, "length"), **rest
    ),
    "capsule": lambda part, rest: CapsuleShape(
        number_in(part, "radius"), number_in(part, "length"), **rest
    ),
    "mesh": _mesh,
}
