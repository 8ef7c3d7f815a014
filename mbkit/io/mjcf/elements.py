"""Attributes of MJCF elements: numbers with all digits, poses, inertias, geoms."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from mbkit.io.mjcf.meshes import MeshAssets
from mbkit.io.xml.quoting import numbers_text
from mbkit.lie import UnitQuaternion
from mbkit.shapes import BoxShape, CapsuleShape, CylinderShape, EllipsoidShape, Shape, SphereShape
from mbkit.spatial import FloatArray, SpatialInertia

__all__ = ["geom", "inertial", "pose_attributes"]


def pose_attributes(C: FloatArray, *, always: bool = False) -> dict[str, str]:
    """Return position and quaternion, each only where it is not the default."""
    found = {}
    if always or C[:3, 3].any():
        found["pos"] = numbers_text(C[:3, 3])
    if always or not np.array_equal(C[:3, :3], np.eye(3)):
        found["quat"] = numbers_text(UnitQuaternion.from_rotation(C[:3, :3]))
    return found


def inertial(inertia: SpatialInertia) -> dict[str, str]:
    """Return the attributes of <inertial>, of a mass that is not zero."""
    I = inertia.moment_about_com  # noqa: E741 - its name in every book
    found = {"pos": numbers_text(inertia.com), "mass": repr(inertia.mass)}
    if np.array_equal(I, np.diag(I.diagonal())):
        return found | {"diaginertia": numbers_text(I.diagonal())}
    return found | {"fullinertia": numbers_text(I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])}


def geom(element: ET.Element, shape: Shape, meshes: MeshAssets) -> bool:
    """Add a shape to a body, without contact; False for one that MuJoCo would refuse."""
    sizes: dict[type[Shape], Any] = {
        BoxShape: lambda s: ("box", 0.5 * s.size),
        CapsuleShape: lambda s: ("capsule", [s.radius, 0.5 * s.length]) if s.length else None,
        CylinderShape: lambda s: ("cylinder", [s.radius, 0.5 * s.length]),
        EllipsoidShape: lambda s: ("ellipsoid", s.radii),
        SphereShape: lambda s: ("sphere", [s.radius]),
    }
    found = sizes[type(shape)](shape) if type(shape) in sizes else None
    if found is not None:
        about = {"type": found[0], "size": numbers_text(found[1])}
    elif (name := meshes.name_of(shape)) is not None:
        about = {"type": "mesh", "mesh": name}
    else:
        return False
    about |= pose_attributes(shape.pose)
    if shape.color is not None:
        about["rgba"] = numbers_text([*shape.color, 1.0][:4])
    ET.SubElement(element, "geom", about | {"contype": "0", "conaffinity": "0"})
    return True
