"""Bodies in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from mbkit.errors import InertiaError, ModelFileError
from mbkit.io.toml.faults import Faults
from mbkit.io.toml.fields import Pose, Shapes, Vector, converter
from mbkit.io.toml.joints import drop_unknown, known_class
from mbkit.model import Body, RigidBody
from mbkit.parts.frames import Frames
from mbkit.plugins import registry
from mbkit.shapes import Shape
from mbkit.shapes.color import checked_color
from mbkit.spatial import FloatArray, SpatialInertia
from mbkit.spatial.arrays import with_key

__all__ = ["read_body"]


@attrs.frozen
class BodyTable:
    """A body: at most one description of its inertia, its pose, and frames on it."""

    mass: float | None = None
    density: float | None = None
    com: Vector | None = None
    moment_about_com: FloatArray | None = None
    moment_about_origin: FloatArray | None = None
    unphysical: bool | None = None
    shape: Shape | None = None
    pose: Pose | None = None
    frames: dict[str, Pose] | None = None
    shapes: Shapes | None = None
    color: Any = None

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
        return shape.inertia(self.mass, density=self.density)


def _moment(value: FloatArray) -> FloatArray:
    """Return a moment (3, 3), given as such or by its diagonal."""
    return np.diag(value) if value.shape == (3,) else value


def _refuse(table: BodyTable, keys: tuple[str, ...], why: str) -> None:
    for key in keys:
        if getattr(table, key) is not None:
            raise InertiaError(why).about(key)


def read_body(name: str, value: Any, types: Mapping[str, type[Body]], faults: Faults) -> Body:
    """Return the body that the table `value` of the key `name` describes.

    All faults that can be seen are noted: one hides no other. A body without inertia stands in for
    one that is at fault.
    """
    path = ("bodies", name)
    if not isinstance(value, dict):
        faults.add(path, f"must be a table, got {value!r}.")
        return RigidBody(name)
    kind: type[Body] | None = RigidBody
    if "type" in value:
        if not isinstance(value["type"], str):
            faults.add((*path, "type"), f"must be a string, got {value['type']!r}.")
            return RigidBody(name)
        kind = known_class(value["type"], types, Body, "body", path, faults)
        value = {key: item for key, item in value.items() if key != "type"}
    if kind is RigidBody:
        return _rigid_body(name, value, faults)
    made: Body | None = None
    if kind is not None:
        with faults.of_plugin(registry().owner("body", kind)), faults.at(*path):
            if drop_unknown(kind, "body", value, [], path, faults):
                made = converter().structure({**value, "name": name}, kind)
    return RigidBody(name) if made is None else made


def _rigid_body(name: str, value: dict[str, Any], faults: Faults) -> Body:
    path = ("bodies", name)
    known = [field.name for field in attrs.fields(BodyTable)]
    for key in sorted(value.keys() - set(known)):
        faults.add_unknown((*path, key), "unknown key", key, known)
    inertia, pose, frames = SpatialInertia.zero(), np.eye(4), Frames({})
    shapes: tuple[Shape, ...] = ()
    color = None
    with faults.at(*path):
        fields = {key: item for key, item in value.items() if key in known}
        table: BodyTable = converter().structure(fields, BodyTable)
        pose = pose if table.pose is None else table.pose
        inertia = _inertia(table, path, faults)
        with faults.at(*path, "frames"):
            frames = Frames(table.frames or {})
        shapes = () if table.shape is None else (table.shape,)
        shapes = shapes if table.shapes is None else table.shapes
        color = with_key("color", checked_color, table.color, f"Body {name!r}: color")
    return RigidBody(name, inertia, pose, frames=frames, shapes=shapes, color=color)


def _inertia(table: BodyTable, path: tuple[str, ...], faults: Faults) -> SpatialInertia:
    """Return the inertia; a wrong mass is noted, and hides no other fault."""
    before = len(faults.found)
    if table.mass is not None:
        with faults.at(*path):
            SpatialInertia.from_com(table.mass, np.zeros(3))
    if len(faults.found) > before:
        table = attrs.evolve(table, mass=1.0)
    return table.inertia()
