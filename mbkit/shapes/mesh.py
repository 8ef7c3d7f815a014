"""Shapes of triangles, given as arrays or by a file."""

from __future__ import annotations

import functools
import os
import pathlib
import re
from typing import Any, Self, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import GeometryError, ModelFileError, ShapeError, UsageError, printable
from mbkit.extras import extra_package
from mbkit.shapes.shape import Shape
from mbkit.shapes.triangles import IntArray, Triangles
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown

#: The unit of length of a COLLADA file; trimesh ignores it.
_UNIT = re.compile(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)")

#: More vertices than a mesh has.
_MOST = 2.0**31

_ONES = frozen_array((1.0, 1.0, 1.0))


def _vertices(value: Any) -> FloatArray | None:
    return None if value is None else frozen_array(value)


def _faces(value: Any) -> Any:
    if value is None:
        return None
    given = np.asarray(frozen_array(value))
    if given.dtype.kind != "f" or not (np.abs(given) < _MOST).all():
        return given
    if not np.array_equal(given, given.round()):
        return given
    faces = given.astype(np.int64)
    faces.flags.writeable = False
    return faces


def _path(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _count(value: Any) -> str:
    return "None" if value is None else f"<{len(value)} rows>"


_ROWS: dict[str, Any] = {"eq": EQUAL, "hash": False, "repr": _count}


@final
@attrs.frozen
class MeshShape(Shape):
    """A surface of triangles, given as arrays, or by a file that is read by `mesh`.

    Attributes
    ----------
    vertices : ndarray of float, shape (n, 3)
        In the frame of the shape. [m] None where a file has them.
    faces : ndarray of int, shape (m, 3)
        Rows of `vertices`, from zero, counter-clockwise as seen from outside. None where a file has
        them.
    file : str, keyword only
        A file that trimesh can read, such as STL, OBJ, PLY or DAE; empty for arrays.
    scale : ndarray, shape (3,), default ones, keyword only
        Factors along x, y, z, by which vertices are multiplied.
    pose, color
        As for any `Shape`.

    Raises
    ------
    ShapeError, GeometryError
        If `vertices` or `faces` are no rows of three, or a face has a vertex that is not there.
    UsageError
        If there are both arrays and a file, or neither.

    Examples
    --------
    >>> import mbkit as mb
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> wedge = mb.MeshShape(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    >>> wedge.inertia(density=6.0).com
    array([0.25, 0.25, 0.25])
    """

    vertices: FloatArray | None = attrs.field(default=None, converter=_vertices, **_ROWS)
    faces: IntArray | None = attrs.field(default=None, converter=_faces, **_ROWS)
    file: str = attrs.field(default="", converter=_path, kw_only=True)
    scale: FloatArray = attrs.field(
        default=_ONES, converter=frozen_array, eq=EQUAL, hash=False, repr=shown, kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.file, str) or "\0" in self.file:
            raise UsageError(f"MeshShape: file must be a path, got {self.file!r}.").about("file")
        arrays = [each for each in (self.vertices, self.faces) if each is not None]
        if len(arrays) != (0 if self.file else 2):
            raise UsageError(
                "MeshShape: give both vertices and faces, or a file by "
                f"MeshShape.from_file(path), got {len(arrays)} of the arrays and file "
                f"{self.file!r}."
            )
        scale = self.scale
        if scale.dtype.kind != "f" or scale.shape != (3,):
            raise ShapeError(f"MeshShape: scale must be three factors, got {shown(scale)}.")
        if not np.isfinite(scale).all() or not scale.all():
            raise GeometryError(
                f"MeshShape: scale must be finite and not zero, got {shown(scale)}."
            )
        if self.vertices is not None:
            assert self.faces is not None
            _check(self.vertices, self.faces)

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], scale: ArrayLike = 1.0, **options: Any
    ) -> Self:
        """Return the shape of a file, which is read when `mesh` is called.

        Parameters
        ----------
        path : path
            A file that trimesh can read; trimesh comes with ``pip install 'mbkit[meshes]'``.
        scale : float or array_like, shape (3,)
            Factor, or factors along x, y, z: 0.001 for a file in millimetres.
        **options
            `pose` and `color`.

        Returns
        -------
        MeshShape
            The shape; the file is not looked at.

        Examples
        --------
        >>> MeshShape.from_file("hand.stl", scale=0.001).scale
        array([0.001, 0.001, 0.001])
        """
        factors = frozen_array(scale)
        if factors.shape == ():
            factors = np.repeat(factors, 3)
        return cls(file=_path(path), scale=factors, **options)

    def mesh(self) -> Triangles:
        """Return the surface as triangles; see `Shape.mesh`.

        Raises
        ------
        ModelFileError
            If the file is not there, or trimesh cannot read it.
        UsageError
            If it is to be read and trimesh is not installed.
        """
        if self.vertices is None or self.faces is None:
            vertices, faces = _read(self.file)
        else:
            vertices, faces = self.vertices, self.faces
        if np.prod(self.scale) < 0.0:  # a mirror turns the faces round
            faces = faces[:, ::-1]
        return vertices * self.scale, faces


def _check(vertices: FloatArray, faces: IntArray) -> None:
    for what, rows in (("vertices", vertices), ("faces", faces)):
        if rows.dtype.kind not in "fi" or rows.ndim != 2 or rows.shape[1] != 3 or not len(rows):
            raise ShapeError(
                f"MeshShape: {what} must be rows of three numbers, got shape {rows.shape}."
            ).about(what)
    if not np.isfinite(vertices).all():
        raise GeometryError("MeshShape: vertices must be finite.").about("vertices")
    if faces.dtype.kind != "i" or faces.min() < 0 or faces.max() >= len(vertices):
        raise GeometryError(
            f"MeshShape: faces must be whole numbers from 0 to {len(vertices) - 1}, which are rows "
            f"of vertices, got {faces.min():g} to {faces.max():g}."
        ).about("faces")


def _read(file: str) -> Triangles:
    """Return the triangles of a file, in metres if the file has a unit."""
    path = pathlib.Path(file)
    try:
        changed = path.stat().st_mtime_ns
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"MeshShape: file '{printable(file)}' cannot be read: "
            f"{getattr(error, 'strerror', None) or error}; name a file that is there."
        ) from error
    return _loaded(str(path.resolve()), changed)


@functools.lru_cache(maxsize=256)
def _loaded(file: str, _changed: int) -> Triangles:
    trimesh = extra_package("trimesh", "MeshShape: reading a file needs trimesh", "meshes")
    try:
        found: Any = trimesh.load(file, force="mesh")
        vertices = frozen_array(_unit(file) * np.asarray(found.vertices))
        faces = _faces(found.faces)
        _check(vertices, faces)
    except Exception as error:  # of any kind: trimesh calls several readers
        raise ModelFileError(
            f"MeshShape: file '{printable(file)}' cannot be read as a mesh: "
            f"{printable(' '.join(str(error).split()))[:200]}; give STL, OBJ, PLY or DAE."
        ) from error
    return vertices, faces


def _unit(file: str) -> float:
    """Return the length of one unit of a file in metres: that of a COLLADA file, else one."""
    path = pathlib.Path(file)
    said = _UNIT.search(path.read_bytes()) if path.suffix.lower() == ".dae" else None
    return 1.0 if said is None else float(said[1])
