"""Meshes of triangles for objects without shape: rods, pins, screws, ellipsoids, arrows."""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt

from mbkit.lie.arrays import pose
from mbkit.shapes import triangles
from mbkit.spatial.arrays import FloatArray, frozen_array

Faces = npt.NDArray[np.int32]

#: Corners of a circle, and of the section of a helix.
_ROUND, _THIN = 24, 8


def _frozen_faces(value: Any) -> Faces:
    faces = np.array(value, dtype=np.int32).reshape(-1, 3)
    faces.flags.writeable = False
    return faces


@final
@attrs.frozen(eq=False)
class Mesh:
    """Triangles: vertices (n, 3) [m], and faces (m, 3), each counterclockwise from outside."""

    vertices: FloatArray = attrs.field(converter=frozen_array)
    faces: Faces = attrs.field(converter=_frozen_faces)

    def moved(self, pose: FloatArray) -> Mesh:
        """Return the mesh at a pose (4, 4)."""
        return Mesh(self.vertices @ pose[:3, :3].T + pose[:3, 3], self.faces)


def joined(*meshes: Mesh) -> Mesh:
    """Return several meshes as one."""
    starts = np.cumsum([0, *(len(each.vertices) for each in meshes)])
    faces = [each.faces + start for each, start in zip(meshes, starts, strict=False)]
    return Mesh(np.concatenate([each.vertices for each in meshes]), np.concatenate(faces))


def creased(vertices: FloatArray, faces: Any, angle: float = 0.7) -> Mesh:
    """Return triangles as a mesh whose edges that are sharper than an angle are not shaded round.

    Viewers shade a vertex by the mean normal of its faces: it is parted where these differ, each
    face keeping the corners whose neighbours look its way.
    """
    faces = np.asarray(faces)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    kept = area > 1e-12 * max(float(area.max(initial=0.0)), 1e-300)
    faces, normals = faces[kept], normals[kept] / area[kept, None]
    # corners are one vertex if they were one, and their faces look into the same octant or nearly
    smooth = np.zeros((len(vertices), 3))
    for k in range(3):
        np.add.at(smooth, faces[:, k], normals)
    smooth /= np.maximum(np.linalg.norm(smooth, axis=1), 1e-300)[:, None]
    corners = faces.reshape(-1)
    own = np.repeat(normals, 3, axis=0)
    is_sharp = np.einsum("ij,ij->i", smooth[corners], own) < math.cos(0.5 * angle)
    sharp = np.zeros(len(vertices), dtype=bool)
    sharp[corners[is_sharp]] = True
    looks = np.where(sharp[corners, None], np.round(own / angle), 0.0).astype(np.int64)
    each = round(1.0 / angle) + 1  # entries of looks are between its negative and itself
    keys = ((corners * (2 * each + 1) + looks[:, 0]) * (2 * each + 1) + looks[:, 1]) * (
        2 * each + 1
    ) + looks[:, 2]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return Mesh(vertices[corners[first]], inverse.reshape(-1, 3))


def cylinder(radius: float, length: float) -> Mesh:
    """Return a cylinder about the z axis, its middle at the origin."""
    return creased(*triangles.cylinder(radius, length, _ROUND))


def ball(radius: float) -> Mesh:
    """Return a sphere about the origin."""
    return ellipsoid(np.full(3, radius))


def ellipsoid(semi_axes: FloatArray) -> Mesh:
    """Return an ellipsoid about the origin, of semi-axes (3,) along x, y and z."""
    vertices, faces = triangles.capsule(1.0, 0.0, _ROUND)
    return Mesh(vertices * semi_axes, faces)


def box(size: FloatArray) -> Mesh:
    """Return a box about the origin, of edges (3,) along x, y and z."""
    return creased(*triangles.box(size))


def arrow(length: float, radius: float) -> Mesh:
    """Return an arrow from the origin along z, of the radius of its shaft; all head if short."""
    head = min(6.0 * radius, 0.7 * length)
    neck = length - head
    radii = np.array([radius, radius, 2.5 * radius, 0.0])
    heights = np.array([0.0, neck, neck, length])
    return creased(*triangles.revolved(radii, heights, 16))


def cone(radius: float, height: float) -> Mesh:
    """Return a cone about the z axis, from the origin to its tip."""
    radii, heights = np.array([radius, 0.0]), np.array([0.0, height])
    return creased(*triangles.revolved(radii, heights, 16))


def helix(radius: float, lead: float, length: float, wire: float) -> Mesh:
    """Return a wire about the z axis that rises by `lead` a turn, left-handed where negative.

    From -length / 2 to length / 2.
    """
    turns = length / abs(lead)
    angles = np.linspace(0.0, 2.0 * math.pi * turns, max(2, math.ceil(24 * turns) + 1))
    hand = math.copysign(1.0, lead)
    along = np.linspace(-0.5 * length, 0.5 * length, len(angles))
    outwards = np.column_stack([np.cos(angles), hand * np.sin(angles), np.zeros(len(angles))])
    rate = np.column_stack(
        [-radius * np.sin(angles), hand * radius * np.cos(angles),
         np.full(len(angles), abs(lead) / (2.0 * math.pi))]
    )  # fmt: skip
    tangent = rate / np.linalg.norm(rate, axis=1)[:, None]
    third = np.cross(tangent, outwards)
    middle = radius * outwards
    middle[:, 2] = along
    around = 2.0 * math.pi * np.arange(_THIN) / _THIN
    rings = middle[:, None] + wire * (
        np.cos(around)[:, None] * outwards[:, None] + np.sin(around)[:, None] * third[:, None]
    )
    return _tube(rings)


def _tube(rings: FloatArray) -> Mesh:
    """Return the surface through rings (k, n, 3), closed at both ends."""
    count, around = rings.shape[:2]
    k = np.arange(around)
    after = (k + 1) % around
    faces = []
    for row in range(count - 1):
        low, high = row * around, (row + 1) * around
        faces += [
            np.column_stack([low + k, low + after, high + after]),
            np.column_stack([low + k, high + after, high + k]),
        ]
    last = (count - 1) * around
    fan = np.arange(1, around - 1)
    faces.append(np.column_stack([np.zeros_like(fan), fan + 1, fan]))
    faces.append(np.column_stack([np.full_like(fan, last), last + fan, last + fan + 1]))
    return Mesh(rings.reshape(-1, 3), np.concatenate(faces))


def pose_along(direction: FloatArray, origin: FloatArray) -> FloatArray:
    """Return a pose (4, 4) whose z axis is along a direction (3,), of any length."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return pose(np.column_stack([x, np.cross(z, x), z]), origin)


def rod(start: FloatArray, end: FloatArray, radius: float) -> Mesh:
    """Return a rod with round ends between two points (3,)."""
    length = float(np.linalg.norm(end - start))
    mesh = Mesh(*triangles.capsule(radius, length, _ROUND))
    return mesh.moved(pose_along(end - start, 0.5 * (start + end)))
