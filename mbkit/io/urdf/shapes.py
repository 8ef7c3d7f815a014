"""Shapes of links: to shapes of bodies, and back to XML."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mbkit.io.xml.angles import rpy_from_rotation
from mbkit.io.xml.quoting import numbers_text, quoteattr
from mbkit.shapes import (
    BoxShape,
    CapsuleShape,
    Color,
    CylinderShape,
    MeshShape,
    Shape,
    SphereShape,
)

if TYPE_CHECKING:
    from mbkit.io.urdf.document import UrdfGeometry, UrdfLink


def shapes_of(link: UrdfLink, files: Mapping[str, pathlib.Path]) -> tuple[Shape, ...]:
    """Return the visual shapes of a link, without those that have no size.

    Meshes have the files that were found, by their names, else these names.
    """
    visual = (each for each in link.shapes if each.use == "visual")
    return tuple(_shape(each, files) for each in visual if _has_size(each))


def _has_size(geometry: UrdfGeometry) -> bool:
    sizes = geometry.size
    if geometry.kind == "capsule":
        sizes = sizes[:1]
    return all(sizes) and (geometry.kind != "mesh" or bool(geometry.filename))


def _shape(geometry: UrdfGeometry, files: Mapping[str, pathlib.Path]) -> Shape:
    size, pose, color = geometry.size, geometry.pose, geometry.color
    if geometry.kind == "box":
        return BoxShape(np.array(size), pose=pose, color=color)
    if geometry.kind == "cylinder":
        return CylinderShape(*size, pose=pose, color=color)
    if geometry.kind == "capsule":
        return CapsuleShape(*size, pose=pose, color=color)
    if geometry.kind == "sphere":
        return SphereShape(*size, pose=pose, color=color)
    file = str(files.get(geometry.filename, geometry.filename))
    return MeshShape(file=file, scale=np.array(size), pose=pose, color=color)


def visual_lines(shape: Shape, color: Color | None) -> list[str] | None:
    """Return the lines of an element <visual>, None for a shape that the format does not have."""
    geometry = _geometry(shape)
    if geometry is None:
        return None
    lines = ["    <visual>"]
    if not np.array_equal(shape.pose, np.eye(4)):
        xyz, rpy = shape.pose[:3, 3], rpy_from_rotation(shape.pose[:3, :3])
        lines.append(f'      <origin xyz="{numbers_text(xyz)}" rpy="{numbers_text(rpy)}"/>')
    lines.append(f"      <geometry>{geometry}</geometry>")
    if color is not None:
        rgba = numbers_text(color)
        lines.append(f'      <material name=""><color rgba="{rgba}"/></material>')
    return [*lines, "    </visual>"]


def _geometry(shape: Shape) -> str | None:
    if isinstance(shape, BoxShape):
        return f'<box size="{numbers_text(shape.size)}"/>'
    if isinstance(shape, CylinderShape | CapsuleShape):
        tag = "cylinder" if isinstance(shape, CylinderShape) else "capsule"
        return f'<{tag} radius="{shape.radius!r}" length="{shape.length!r}"/>'
    if isinstance(shape, SphereShape):
        return f'<sphere radius="{shape.radius!r}"/>'
    if isinstance(shape, MeshShape) and shape.file:
        name = quoteattr(shape.file)
        is_scaled = not np.array_equal(shape.scale, np.ones(3))
        scale = f' scale="{numbers_text(shape.scale)}"' if is_scaled else ""
        return f"<mesh filename={name}{scale}/>"
    return None
