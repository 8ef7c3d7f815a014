"""Links of a URDF file: inertias and shapes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbkit.given_values import check_name
from mbkit.io.urdf.document import UrdfGeometry, UrdfLink
from mbkit.io.urdf.origin import pose_of
from mbkit.io.xml.elements import Element
from mbkit.io.xml.faults import Reading
from mbkit.io.xml.inertias import inertia_at
from mbkit.io.xml.values import Part
from mbkit.shapes import Color
from mbkit.spatial import FloatArray, SpatialInertia

_PRODUCTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def colors_of(robot: Element) -> dict[str, Color]:
    """Return the colours of materials by name, those of <robot> first, then those of shapes."""
    shapes = [each for link in robot.children if link.tag == "link" for each in link.children]
    found: dict[str, Color] = {}
    for owner in (robot, *(each for each in shapes if each.tag == "visual")):
        for material in owner.children:
            name = material.attributes.get("name", "")
            color = _own_color(material) if material.tag == "material" and name else None
            if color is not None:
                found.setdefault(name, color)
    return found


def _own_color(material: Element) -> Color | None:
    """Return the colour of a material itself, None where it has none, or no valid one."""
    for child in material.children:
        if child.tag == "color":
            try:
                r, g, b, a = map(float, child.attributes.get("rgba", "").split())
            except ValueError:
                return None
            return (r, g, b, a) if all(0.0 <= each <= 1.0 for each in (r, g, b, a)) else None
    return None


def read_material(part: Part) -> None:
    """Note the parts of a material that are not read: all of it where it has no valid colour."""
    part.text("name", required=False)
    for color in part.children("color"):
        if _own_color(part.element) is None:
            part.reading.unread(f"{color.path}@rgba", color.line)
        color.text("rgba", required=False)
        color.done()
    part.done()


def read_link(element: Element, reading: Reading, colors: Mapping[str, Color]) -> UrdfLink | None:
    """Return the link of an element <link>, None where it has no name; faults are noted."""
    name = element.attributes.get("name", "")
    part = Part(element, f"link {name!r}", "link", reading)
    if part.text("name") is None:
        return None
    reading.attempt(part.line, "<link>", lambda: check_name("Body", name))
    inertial = part.child("inertial")
    inertia = SpatialInertia.zero() if inertial is None else _inertia(inertial)
    shapes = [
        shape
        for use in ("visual", "collision")
        for each in part.children(use)
        if (shape := _shape(each, use, colors)) is not None
    ]
    part.done()
    return UrdfLink(name, inertia, tuple(shapes), part.line)


def _inertia(inertial: Part) -> SpatialInertia:
    """Return the inertia in the frame of the link: m, c, R I R^T of <origin> (R, c)."""
    C = pose_of(inertial)
    mass, table = inertial.child("mass", required=True), inertial.child("inertia", required=True)
    value = 0.0 if mass is None else mass.number("value")
    moment = np.zeros((3, 3)) if table is None else _moment(table)
    for part in (mass, table):
        if part is not None:
            part.done()
    inertial.done()
    return inertia_at(inertial, value, C, moment)


def _moment(table: Part) -> FloatArray:
    xx, xy, xz, yy, yz, zz = (table.number(key) for key in _PRODUCTS)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _shape(part: Part, use: str, colors: Mapping[str, Color]) -> UrdfGeometry | None:
    """Return a shape; None where it is at fault or of a kind that is not known."""
    part.text("name", required=False)
    pose = pose_of(part)
    geometry = part.child("geometry", required=True)
    color = None
    for material in part.children("material") if use == "visual" else ():
        color = _own_color(material.element) or colors.get(
            material.element.attributes.get("name", "")
        )
        read_material(material)
    part.done()
    if geometry is None:
        return None
    kinds = [child.tag for child in geometry.element.children if child.tag in _SIZES]
    if len(kinds) != 1:
        found = ", ".join(f"<{child.tag}>" for child in geometry.element.children) or "none"
        known = ", ".join(f"<{kind}>" for kind in _SIZES)
        geometry.fault(f"must have one of {known}, got {found}.")
        return None
    kind = kinds[0]
    shape = geometry.children(kind)[0]
    size: tuple[float, ...] = ()
    for key, count, default in _SIZES[kind]:
        size += tuple(shape.numbers(key, count, default).tolist())
    filename = shape.text("filename") if kind == "mesh" else ""
    if kind != "mesh" and min(size) < 0.0:
        shape.fault(f"sizes must not be negative, got {size}; give them in metres.")
    shape.done()
    geometry.done(ignored=("name",))
    return UrdfGeometry(use, kind, size, pose, filename or "", shape.line, color)


_SIZES = {
    "box": (("size", 3, None),),
    "cylinder": (("radius", 1, None), ("length", 1, None)),
    "capsule": (("radius", 1, None), ("length", 1, None)),
    "sphere": (("radius", 1, None),),
    "mesh": (("scale", 3, (1.0, 1.0, 1.0)),),
}
