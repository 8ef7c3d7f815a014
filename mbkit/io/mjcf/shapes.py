"""Geoms of MuJoCo as shapes."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

import mbkit.io.mjcf.kinds as k
from mbkit.shapes import (
    BoxShape,
    CapsuleShape,
    CylinderShape,
    EllipsoidShape,
    MeshShape,
    Shape,
    SphereShape,
)
from mbkit.spatial import inverse, pose_from_quaternion

__all__ = ["is_shown", "shapes_of"]

#: Geoms of higher groups are not shown by MuJoCo either: they are there for contact.
_GROUPS = 3


def is_shown(m: Any, g: int) -> bool:
    """Whether a geom becomes a shape of its body."""
    known = k.SPHERE <= m.geom_type[g] <= k.MESH
    return bool(known and m.geom_group[g] < _GROUPS)


def shapes_of(m: Any, meshes: Sequence[pathlib.Path | None], body: int) -> list[Shape]:
    """Return the shapes of a body, 0 for the world; half sizes are whole ones here."""
    first = m.body_geomadr[body]
    geoms = range(first, first + m.body_geomnum[body])
    return [_shape(m, meshes, g) for g in geoms if is_shown(m, g)]


def _shape(m: Any, meshes: Sequence[pathlib.Path | None], g: int) -> Shape:
    kind, (a, b, c) = int(m.geom_type[g]), m.geom_size[g].tolist()
    material = int(m.geom_matid[g])
    rgba = m.geom_rgba[g] if material < 0 else m.mat_rgba[material]
    rest: dict[str, Any] = {
        "pose": pose_from_quaternion(m.geom_pos[g], m.geom_quat[g]),
        "color": tuple(np.clip(rgba, 0.0, 1.0).astype(float).round(6).tolist()),
    }
    if kind == k.SPHERE:
        return SphereShape(a, **rest)
    if kind == k.CAPSULE:
        return CapsuleShape(a, 2.0 * b, **rest)
    if kind == k.CYLINDER:
        return CylinderShape(a, 2.0 * b, **rest)
    if kind == k.ELLIPSOID:
        return EllipsoidShape(np.array((a, b, c)), **rest)
    if kind == k.BOX:
        return BoxShape(2.0 * np.array((a, b, c)), **rest)
    mesh = int(m.geom_dataid[g])
    file = meshes[mesh]
    if file is not None:  # MuJoCo has moved the mesh into its principal axes
        own = pose_from_quaternion(m.mesh_pos[mesh], m.mesh_quat[mesh])
        rest["pose"] = rest["pose"] @ inverse(own)
        return MeshShape(file=str(file), scale=m.mesh_scale[mesh], **rest)
    at, faces = int(m.mesh_vertadr[mesh]), int(m.mesh_faceadr[mesh])
    return MeshShape(
        np.array(m.mesh_vert[at : at + m.mesh_vertnum[mesh]], dtype=float),
        np.array(m.mesh_face[faces : faces + m.mesh_facenum[mesh]]),
        **rest,
    )
