"""Meshes of MJCF: surfaces of triangles, written into the file itself."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from mbkit.errors import MbkitError
from mbkit.shapes import Shape

#: Fewer vertices MuJoCo refuses.
_LEAST = 4

#: Faces of a smaller area than this part of the mesh's size squared are none. MuJoCo's meshes are
#: of single precision, in which such faces have no normal.
_NO_AREA = 1e-12


class MeshAssets:
    """The elements <mesh> of a file: equal surfaces are one."""

    def __init__(self) -> None:
        self.element = ET.Element("asset")
        self._names: dict[tuple[str, str], str] = {}

    def name_of(self, shape: Shape) -> str | None:
        """Return the name of the mesh of a shape; None where MuJoCo would refuse it.

        So are surfaces of fewer than four vertices, and files that cannot be read.
        """
        try:
            vertices, faces = shape.mesh()
        except MbkitError:
            return None
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        faces = faces[area > _NO_AREA * np.ptp(vertices, axis=0).max() ** 2]
        if len(vertices) < _LEAST or not len(faces):
            return None
        # nine digits give each number of single precision back
        key = (
            " ".join(f"{value:.9g}" for value in vertices.ravel()),
            " ".join(str(row) for row in faces.ravel()),
        )
        if key not in self._names:
            self._names[key] = f"mesh {len(self._names) + 1}"
            about = {"name": self._names[key], "vertex": key[0], "face": key[1]}
            # of its surface: that of a volume is refused for open or flat meshes
            ET.SubElement(self.element, "mesh", about | {"inertia": "shell"})
        return self._names[key]
