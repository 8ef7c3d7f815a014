"""Inertias of closed surfaces, by the divergence theorem."""

from __future__ import annotations

import numpy as np

from mbkit.errors import InertiaError
from mbkit.shapes.triangles import Triangles
from mbkit.spatial import SpatialInertia
from mbkit.spatial.shapes import UnitDensity


def inertia_of_mesh(
    what: str, triangles: Triangles, mass: float | None, density: float | None
) -> SpatialInertia:
    """Return the inertia of a homogeneous body inside of a closed surface, in its frame.

    Notes
    -----
    A surface is the sum of tetrahedra with corners o, a, b, c, of volume V = a.(b x c) / 6 with its
    sign. With s = a + b + c each has the first moment V s / 4 and the second moment
    V (a a^T + b b^T + c c^T + s s^T) / 20. o is the mean of the vertices.

    Raises
    ------
    InertiaError
        If the surface is not closed, or turned inwards, or mass and density are impossible.
    """
    vertices, faces = triangles
    _check_closed(what, triangles)
    origin = vertices.mean(axis=0)
    corners = (vertices - origin)[faces]
    volumes = np.einsum("ni,ni->n", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    volume = float(volumes.sum())
    if not volume > 0.0:
        raise InertiaError(
            f"{what}: the surface must enclose a positive volume, and encloses {volume:.3g} m^3; "
            "list the corners of each triangle counter-clockwise as seen from outside."
        )
    total = UnitDensity("mesh", volume, np.zeros(3)).mass(mass, density)
    sums = corners.sum(axis=1)
    com = volumes @ sums / (4.0 * volume)
    each = np.concatenate([corners, sums[:, None]], axis=1)
    second = np.einsum("n,nki,nkj->ij", volumes, each, each) / (20.0 * volume)
    second -= np.outer(com, com)
    moment = total * (np.trace(second) * np.eye(3) - second)
    return SpatialInertia(total, origin + com, 0.5 * (moment + moment.T))


def _check_closed(what: str, triangles: Triangles) -> None:
    """Raise InertiaError unless each edge belongs to two triangles, in opposite directions.

    Vertices at the same place count as one: files often have one for each triangle.
    """
    vertices, faces = triangles
    _, merged = np.unique(vertices, axis=0, return_inverse=True)
    corners = merged.reshape(-1)[faces]
    edges = np.concatenate([corners[:, [k, (k + 1) % 3]] for k in range(3)])
    edges = edges[edges[:, 0] != edges[:, 1]]  # of triangles without area
    keys = edges[:, 0] * len(vertices) + edges[:, 1]
    turned = edges[:, 1] * len(vertices) + edges[:, 0]
    once, counts = np.unique(keys, return_counts=True)
    back, turned_counts = np.unique(turned, return_counts=True)
    if not (np.array_equal(once, back) and np.array_equal(counts, turned_counts)):
        lost = len(np.setxor1d(once, back)) // 2
        raise InertiaError(
            f"{what}: the surface must be closed, and {lost or 'some'} of its edges belong to one "
            "triangle alone, or to two that are turned against each other; mend the mesh, or give "
            "the inertia of a mbkit.RigidBody."
        )
