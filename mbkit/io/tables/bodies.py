"""Bodies in a model file."""

from __future__ import annotations

import functools
from typing import Any

import attrs
import cattrs
import numpy as np

from mbkit.errors import InertiaError, MbkitError, ModelFileError, ShapeError, suggestion
from mbkit.io.tables.faults import Faults
from mbkit.io.tables.fields import Pose, Vector, converter
from mbkit.model import Body
from mbkit.spatial import FloatArray, SpatialInertia

__all__ = ["read_body"]


@attrs.frozen
class Box:
    """A box."""

    size: Vector
    pose: Pose | None = None


@attrs.frozen
class Cylinder:
    """A cylinder or a capsule."""

    radius: float
    length: float
    pose: Pose | None = None


@attrs.frozen
class Sphere:
    """A ball."""

    radius: float
    pose: Pose | None = None


@attrs.frozen
class Shape:
    """Any of them: the constructor of its inertia, its sizes, and where it stands."""

    make: Any
    sizes: dict[str, Any]
    pose: FloatArray | None


_SHAPES: dict[str, tuple[type[Any], Any]] = {
    "box": (Box, SpatialInertia.box),
    "cylinder": (Cylinder, SpatialInertia.cylinder),
    "sphere": (Sphere, SpatialInertia.sphere),
    "capsule": (Cylinder, SpatialInertia.capsule),
}


@attrs.frozen
class BodyTable:
    """A body: at most one description of its inertia, and its pose."""

    mass: float | None = None
    density: float | None = None
    com: Vector | None = None
    moment_about_com: FloatArray | None = None
    moment_about_origin: FloatArray | None = None
    unphysical: bool | None = None
    shape: Shape | None = None
    pose: Pose | None = None

    def inertia(self) -> SpatialInertia:
        """Return the inertia that the keys describe."""
        if self.shape is not None:
            return self._of_shape(self.shape)
        _refuse(self, ("density",), "goes with shape; give the shape, or a mass.")
        if self.mass is None:
            rest = ("com", "moment_about_com", "moment_about_origin", "unphysical")
            _refuse(self, rest, "goes with mass; give the mass.")
            return SpatialInertia.zero()
        about_com, about_origin = self.moment_about_com, self.moment_about_origin
        if (about_com is None) == (about_origin is None):
            found = "neither" if about_com is None else "both"
            raise ModelFileError(
                f"a body with mass takes one of moment_about_com, moment_about_origin and shape, "
                f"got {found}; a point mass has moment_about_com = [0, 0, 0]."
            )
        com = np.zeros(3) if self.com is None else self.com
        accepted = bool(self.unphysical)
        if about_com is not None:
            return SpatialInertia.from_com(self.mass, com, _moment(about_com), unphysical=accepted)
        assert about_origin is not None
        return SpatialInertia.from_origin(
            self.mass, com, _moment(about_origin), unphysical=accepted
        )

    def _of_shape(self, shape: Shape) -> SpatialInertia:
        _refuse(
            self, ("unphysical",), "goes with a moment, and a shape has a right one; leave it out."
        )
        rest = ("com", "moment_about_com", "moment_about_origin")
        _refuse(self, rest, "follows from shape; leave it out, or move the shape by shape.pose.")
        try:
            inertia: SpatialInertia = shape.make(self.mass, density=self.density, **shape.sizes)
        except MbkitError as error:
            if error.key in shape.sizes:
                error.key = f"shape.{error.key}"
            raise
        return inertia if shape.pose is None else inertia.transformed(shape.pose)


def _read_shape(value: Any, _: Any = None) -> Shape:
    if not isinstance(value, dict):
        raise ShapeError(f"must be a table, got {value!r}.")
    kind = value.get("type")
    if kind not in _SHAPES:
        found = "is missing" if kind is None else f"{kind!r} is no shape"
        raise ModelFileError(f"{found}; {suggestion(kind, _SHAPES)}").about("type")
    table_type, make = _SHAPES[kind]
    rest = {key: item for key, item in value.items() if key != "type"}
    sizes = attrs.asdict(_converter().structure(rest, table_type))
    return Shape(make, sizes, sizes.pop("pose"))


@functools.cache
def _converter() -> cattrs.Converter:
    made = converter()
    made.register_structure_hook(Shape, _read_shape)
    return made


def _moment(value: FloatArray) -> FloatArray:
    """Return a moment (3, 3), given as such or by its diagonal."""
    return np.diag(value) if value.shape == (3,) else value


def _refuse(table: BodyTable, keys: tuple[str, ...], why: str) -> None:
    for key in keys:
        if getattr(table, key) is not None:
            raise InertiaError(why).about(key)


def read_body(name: str, value: Any, faults: Faults) -> Body:
    """Return the body that the table `value` of the key `name` describes.

    All faults that can be seen are noted: one hides no other. A body without inertia stands in for
    one that is at fault.
    """
    path = ("bodies", name)
    if not isinstance(value, dict):
        faults.add(path, f"must be a table, got {value!r}.")
        return Body(name)
    known = [field.name for field in attrs.fields(BodyTable)]
    for key in sorted(value.keys() - set(known)):
        faults.add_unknown((*path, key), "unknown key", key, known)
    inertia, pose = SpatialInertia.zero(), np.eye(4)
    with faults.at(*path):
        fields = {key: item for key, item in value.items() if key in known}
        table: BodyTable = _converter().structure(fields, BodyTable)
        pose = pose if table.pose is None else table.pose
        inertia = _inertia(table, path, faults)
    return Body(name, inertia, pose)


def _inertia(table: BodyTable, path: tuple[str, ...], faults: Faults) -> SpatialInertia:
    """Return the inertia; a wrong mass is noted, and hides no other fault."""
    before = len(faults.found)
    if table.mass is not None:
        with faults.at(*path):
            SpatialInertia.from_com(table.mass, np.zeros(3))
    if len(faults.found) > before:
        table = attrs.evolve(table, mass=1.0)
    return table.inertia()
