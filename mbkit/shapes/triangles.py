"""Surfaces as triangles: vertices (n, 3), and faces (m, 3) counter-clockwise from outside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbkit.spatial.arrays import FloatArray

IntArray = NDArray[np.int64]
Triangles = tuple[FloatArray, IntArray]

#: Corners of the polygons that stand for circles.
SEGMENTS = 32


def box(size: FloatArray) -> Triangles:
    """Return the surface of a box about the origin."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    # corner 4 x + 2 y + z; the sides -x, +x, -y, +y, -z, +z
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in sides for face in ((a, b, c), (a, c, d))]
    return 0.5 * corners * size, np.array(faces, dtype=np.int64)


def revolved(radii: FloatArray, heights: FloatArray, segments: int = SEGMENTS) -> Triangles:
    """Return the surface that a line from pole to pole sweeps about the z axis.

    Parameters
    ----------
    radii, heights : ndarray, shape (n,)
        Distances from the axis, and z, of the line between its poles, upwards. The poles are on the
        axis at the first and the last height. [m]
    segments : int
        Corners of each circle; they are on it.

    Returns
    -------
    tuple of ndarray
        Vertices, first the two poles, then circle by circle, and faces.
    """
    angles = 2.0 * np.pi / segments * np.arange(segments)
    x, y = np.multiply.outer(radii, np.cos(angles)), np.multiply.outer(radii, np.sin(angles))
    circles = np.stack([x, y, np.broadcast_to(heights[:, None], x.shape)], axis=-1)
    poles = np.array([(0.0, 0.0, heights[0]), (0.0, 0.0, heights[-1])])
    now = np.arange(segments)
    after = np.roll(now, -1)
    first, last = 2, 2 + (len(radii) - 1) * segments
    faces = [np.stack([np.zeros_like(now), first + after, first + now], axis=1)]
    for low in range(first, last, segments):
        a, b, c, d = low + now, low + after, low + segments + after, low + segments + now
        faces += [np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]
    faces.append(np.stack([np.ones_like(now), last + now, last + after], axis=1))
    return np.vstack([poles, circles.reshape(-1, 3)]), np.concatenate(faces)


def capsule(radius: float, length: float, segments: int = SEGMENTS) -> Triangles:
    """Return the surface of a cylinder of this length along z with half balls at its ends."""
    rings = segments // 4
    down = np.pi / 2 * np.arange(-rings + 1, 1) / rings  # latitudes, from a pole to the cylinder
    r, z = radius * np.cos(down), radius * np.sin(down) - 0.5 * length
    if length == 0.0:  # one circle at the equator, not two
        r, z = np.append(r, r[-2::-1]), np.append(z, -z[-2::-1])
    else:
        r, z = np.append(r, r[::-1]), np.append(z, -z[::-1])
    vertices, faces = revolved(r, z, segments)
    vertices[:2, 2] = -radius - 0.5 * length, radius + 0.5 * length
    return vertices, faces


def cylinder(radius: float, length: float, segments: int = SEGMENTS) -> Triangles:
    """Return the surface of a cylinder about the origin, its axis along z."""
    ends = 0.5 * length * np.array([-1.0, 1.0])
    return revolved(np.full(2, radius), ends, segments)
