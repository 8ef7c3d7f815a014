"""Shapes given by a few lengths."""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import GeometryError
from mbkit.given_values import as_number
from mbkit.shapes import triangles
from mbkit.shapes.shape import Shape
from mbkit.shapes.triangles import Triangles
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown, with_key
from mbkit.spatial.arrays import stored_vector as _stored_vector


def _check_lengths(instance: object, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    _stored_vector(instance, attribute, value)
    for entry in value.tolist():
        with_key(attribute.name, _check, instance, f"each {attribute.name}", entry)


def _check_length(instance: object, attribute: attrs.Attribute[Any], value: float) -> None:
    or_zero = bool(attribute.metadata.get("or_zero"))
    with_key(attribute.name, _check, instance, attribute.name, value, or_zero=or_zero)


def _check(instance: object, what: str, value: Any, *, or_zero: bool = False) -> None:
    fits = (
        type(value) is float and np.isfinite(value) and (value > 0.0 or (or_zero and value == 0.0))
    )
    if not fits:
        rule = "zero or positive" if or_zero else "positive"
        raise GeometryError(
            f"{type(instance).__name__}: {what} must be {rule} and finite, got {value!r}; give a "
            "length in metres."
        )


_LENGTH: dict[str, Any] = {"converter": as_number, "validator": _check_length}
_LENGTHS: dict[str, Any] = {
    "validator": _check_lengths, "eq": EQUAL, "hash": False, "repr": shown,
}  # fmt: skip


@final
@attrs.frozen
class BoxShape(Shape):
    """A box about the origin of its frame.

    Attributes
    ----------
    size : ndarray, shape (3,)
        Length of the edges along x, y, z. [m]
    pose, color
        As for any `Shape`; so are the errors.

    Examples
    --------
    >>> import mbkit as mb
    >>> vertices, faces = mb.BoxShape((1.0, 2.0, 3.0)).mesh()
    >>> vertices.max(axis=0), faces.shape
    (array([0.5, 1. , 1.5]), (12, 3))
    """

    size: FloatArray = attrs.field(converter=frozen_array, **_LENGTHS)

    def mesh(self) -> Triangles:
        """Return the surface as triangles; see `Shape.mesh`."""
        return triangles.box(self.size)

    def _inertia(self, mass: float | None, density: float | None) -> SpatialInertia:
        return SpatialInertia.box(mass, density=density, size=self.size)


@final
@attrs.frozen
class CylinderShape(Shape):
    """A cylinder about the origin of its frame, its axis along z.

    Attributes
    ----------
    radius, length : float
        [m]
    pose, color
        As for any `Shape`; so are the errors.

    Examples
    --------
    >>> import mbkit as mb
    >>> vertices, faces = mb.CylinderShape(0.1, 2.0).mesh()
    >>> float(vertices[:, 2].max())
    1.0
    """

    radius: float = attrs.field(**_LENGTH)
    length: float = attrs.field(**_LENGTH)

    def mesh(self) -> Triangles:
        """Return the surface as triangles; see `Shape.mesh`."""
        return triangles.cylinder(self.radius, self.length)

    def _inertia(self, mass: float | None, density: float | None) -> SpatialInertia:
        return SpatialInertia.cylinder(
            mass, density=density, radius=self.radius, length=self.length
        )


@final
@attrs.frozen
class CapsuleShape(Shape):
    """A cylinder about the origin of its frame, its axis along z, with half balls at its ends.

    Attributes
    ----------
    radius : float
        Of the cylinder and of the half balls. [m]
    length : float
        Of the cylinder alone, zero for a ball. [m]
    pose, color
        As for any `Shape`; so are the errors.

    Examples
    --------
    >>> import mbkit as mb
    >>> vertices, faces = mb.CapsuleShape(0.5, 2.0).mesh()
    >>> float(vertices[:, 2].max())
    1.5
    """

    radius: float = attrs.field(**_LENGTH)
    length: float = attrs.field(**_LENGTH, metadata={"or_zero": True})

    def mesh(self) -> Triangles:
        """Return the surface as triangles; see `Shape.mesh`."""
        return triangles.capsule(self.radius, self.length)

    def _inertia(self, mass: float | None, density: float | None) -> SpatialInertia:
        return SpatialInertia.capsule(mass, density=density, radius=self.radius, length=self.length)


@final
@attrs.frozen
class SphereShape(Shape):
    """A ball about the origin of its frame.

    Attributes
    ----------
    radius : float
        [m]
    pose, color
        As for any `Shape`; so are the errors.

    Examples
    --------
    >>> import mbkit as mb
    >>> vertices, faces = mb.SphereShape(0.5).mesh()
    >>> bool(np.allclose(np.linalg.norm(vertices, axis=1), 0.5))
    True
    """

    radius: float = attrs.field(**_LENGTH)

    def mesh(self) -> Triangles:
        """Return the surface as triangles; see `Shape.mesh`."""
        return triangles.capsule(self.radius, 0.0)

    def _inertia(self, mass: float | None, density: float | None) -> SpatialInertia:
        return SpatialInertia.sphere(mass, density=density, radius=self.radius)


@final
@attrs.frozen
class EllipsoidShape(Shape):
    """An ellipsoid about the origin of its frame.

    Attributes
    ----------
    radii : ndarray, shape (3,)
        Half axes along x, y, z. [m]
    pose, color
        As for any `Shape`; so are the errors.

    Examples
    --------
    >>> import mbkit as mb
    >>> vertices, faces = mb.EllipsoidShape((1.0, 2.0, 3.0)).mesh()
    >>> vertices.max(axis=0)
    array([1., 2., 3.])
    """

    radii: FloatArray = attrs.field(converter=frozen_array, **_LENGTHS)

    def mesh(self) -> Triangles:
        """Return the surface as triangles; see `Shape.mesh`."""
        vertices, faces = triangles.capsule(1.0, 0.0)
        return vertices * self.radii, faces

    def _inertia(self, mass: float | None, density: float | None) -> SpatialInertia:
        return SpatialInertia.ellipsoid(mass, density=density, radii=self.radii)
