"""Bodies that compute their inertia and shape from their dimensions."""

from __future__ import annotations

import abc
import functools
from typing import Any, final

import attrs
import numpy as np

from mbkit.errors import MbkitError, UsageError
from mbkit.given_values import as_number
from mbkit.lie.arrays import pose
from mbkit.parts.body import Body
from mbkit.shapes import BoxShape, CylinderShape, MeshShape, Shape, SphereShape
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import (
    EQUAL,
    ORIGIN,
    FloatArray,
    check_direction,
    frozen_array,
    shown,
    stored_vector,
)
from mbkit.spatial.frames import stored_pose

_X_AXIS = frozen_array((1.0, 0.0, 0.0))

_VECTOR: dict[str, Any] = {"eq": EQUAL, "hash": False, "repr": shown}


def _check_mesh(instance: Body, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, MeshShape):
        raise UsageError(
            f"Body {instance.name!r}: mesh must be an mbkit.MeshShape, got {value!r}; make one by "
            "mbkit.MeshShape.from_file(path)."
        ).about("mesh")


def _refuse_the_impossible(body: Body) -> None:
    """Call a function that refuses impossible dimensions; errors name the body."""
    try:
        body.inertia, body.shapes  # noqa: B018 - see above
    except MbkitError as error:
        raise type(error)(f"Body {body.name!r}: {error}").about(error.key) from error


@attrs.frozen
class Solid(Body, abc.ABC):
    """A homogeneous body of one shape, by its mass or its density."""

    mass: float | None = attrs.field(default=None, converter=as_number, kw_only=True)
    density: float | None = attrs.field(default=None, converter=as_number, kw_only=True)

    def __attrs_post_init__(self) -> None:
        _refuse_the_impossible(self)

    @property
    @abc.abstractmethod
    def shape(self) -> Shape:
        """The shape, at its place in the body's frame."""

    @functools.cached_property
    def inertia(self) -> SpatialInertia:
        """Mass, centre of mass and moment of inertia, in the body's frame."""
        return self.computed_inertia()

    def computed_inertia(self) -> SpatialInertia:
        """Return `inertia`, computed anew."""
        return self.shape.inertia(self.mass, density=self.density)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shape alone."""
        return (self.shape,)


@attrs.frozen
class PlacedSolid(Solid):
    """A solid whose shape may stand anywhere on the body."""

    shape_pose: FloatArray = attrs.field(
        default=frozen_array(np.eye(4)),
        validator=stored_pose,
        kw_only=True,
        converter=frozen_array,
        **_VECTOR,
    )


@final
@attrs.frozen
class Rod(Solid):
    """A round bar from one point of the body's frame along an axis.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    length, radius : float
        [m]
    axis : array_like, shape (3,), default x, keyword only
        Direction from its start to its end, of any length.
    start : array_like, shape (3,), default the origin, keyword only
        Centre of the face at which it begins, in the body's frame. [m]
    mass, density : float, keyword only
        One of them. [kg], [kg/m^3] The other is None; see ``inertia.mass``.
    pose, frames, color
        As for `Body`.

    Raises
    ------
    InertiaError
        If both or neither of mass and density are given, or one is impossible.
    GeometryError, ShapeError
        If a length is not positive, or the axis has no direction.

    Examples
    --------
    >>> import mbkit as mb
    >>> rod = mb.Rod("rod", length=0.4, radius=0.01, density=2700.0)
    >>> rod.inertia.com
    array([0.2, 0. , 0. ])
    >>> round(rod.inertia.mass, 4)
    0.3393
    """

    length: float = attrs.field(converter=as_number)
    radius: float = attrs.field(converter=as_number)
    axis: FloatArray = attrs.field(
        default=_X_AXIS, validator=check_direction, kw_only=True, converter=frozen_array, **_VECTOR
    )
    start: FloatArray = attrs.field(
        default=ORIGIN, validator=stored_vector, kw_only=True, converter=frozen_array, **_VECTOR
    )

    @property
    def shape(self) -> Shape:
        """The cylinder, its axis z along the rod."""
        z = self.axis / np.linalg.norm(self.axis)
        x = np.eye(3)[np.abs(z).argmin()]
        x = x - (x @ z) * z
        x /= np.linalg.norm(x)
        # the length is checked by the shape
        shape = CylinderShape(self.radius, self.length)
        middle = self.start + 0.5 * shape.length * z
        return attrs.evolve(shape, pose=pose(np.stack([x, np.cross(z, x), z], axis=1), middle))


@final
@attrs.frozen
class Box(PlacedSolid):
    """A box about the origin of the body's frame.

    Attributes
    ----------
    size : array_like, shape (3,)
        Length of the edges along x, y, z. [m]
    shape_pose : array_like, shape (4, 4), default the identity, keyword only
        Pose of the shape in the body's frame.
    name, mass, density, pose, frames, color
        As for `Rod`; so are the errors.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.Box("brick", size=(1, 2, 3), mass=12.0).inertia.moment_about_com.diagonal()
    array([13., 10.,  5.])
    """

    size: FloatArray = attrs.field(converter=frozen_array, **_VECTOR)

    @property
    def shape(self) -> Shape:
        """The box."""
        return BoxShape(self.size, pose=self.shape_pose)


@final
@attrs.frozen
class Cylinder(PlacedSolid):
    """A cylinder about the origin of the body's frame, its axis along z.

    Attributes
    ----------
    radius, length : float
        [m]
    name, shape_pose, mass, density, pose, frames, color
        As for `Box`; so are the errors.

    Examples
    --------
    >>> import mbkit as mb
    >>> wheel = mb.Cylinder("wheel", radius=1.0, length=3.0, mass=12.0)
    >>> wheel.inertia.moment_about_com.diagonal()
    array([12., 12.,  6.])
    """

    radius: float = attrs.field(converter=as_number)
    length: float = attrs.field(converter=as_number)

    @property
    def shape(self) -> Shape:
        """The cylinder."""
        return CylinderShape(self.radius, self.length, pose=self.shape_pose)


@final
@attrs.frozen
class Sphere(PlacedSolid):
    """A ball about the origin of the body's frame.

    Attributes
    ----------
    radius : float
        [m]
    name, shape_pose, mass, density, pose, frames, color
        As for `Box`; so are the errors.

    Examples
    --------
    >>> import mbkit as mb
    >>> ball = mb.Sphere("ball", radius=1.0, mass=2.5)
    >>> float(ball.inertia.moment_about_com[0, 0])
    1.0
    """

    radius: float = attrs.field(converter=as_number)

    @property
    def shape(self) -> Shape:
        """The ball."""
        return SphereShape(self.radius, pose=self.shape_pose)


@final
@attrs.frozen
class PointMass(Body):
    """A mass without extent, shown as a small ball.

    Attributes
    ----------
    mass : float
        [kg]
    position : array_like, shape (3,), default the origin, keyword only
        In the body's frame. [m]
    shown_radius : float, default 0.02, keyword only
        Of the ball in pictures alone. [m]
    name, pose, frames, color
        As for `Body`.

    Raises
    ------
    InertiaError, GeometryError, ShapeError
        If the mass is negative, the position no vector or the radius not positive.

    Examples
    --------
    >>> import mbkit as mb
    >>> mb.PointMass("bob", 2.0, position=(0, 0, -1)).inertia.moment_about_origin.diagonal()
    array([2., 2., 0.])
    """

    mass: float = attrs.field(converter=as_number)
    position: FloatArray = attrs.field(
        default=ORIGIN, validator=stored_vector, kw_only=True, converter=frozen_array, **_VECTOR
    )
    shown_radius: float = attrs.field(default=0.02, converter=as_number, kw_only=True)

    def __attrs_post_init__(self) -> None:
        _refuse_the_impossible(self)

    @property
    def inertia(self) -> SpatialInertia:
        """Mass and centre of mass, in the body's frame."""
        return SpatialInertia.from_com(self.mass, self.position)

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The small ball."""
        C = np.eye(4)
        C[:3, 3] = self.position
        return (SphereShape(self.shown_radius, pose=C),)


@final
@attrs.frozen
class MeshBody(PlacedSolid):
    """A homogeneous body whose surface is a closed mesh of triangles.

    Attributes
    ----------
    mesh : MeshShape
        Its surface, counter-clockwise as seen from outside; a file is read at once.
    shape_pose : array_like, shape (4, 4), default the identity, keyword only
        Pose of the mesh in the body's frame, before which stands that of `mesh` itself.
    name, mass, density, pose, frames, color
        As for `Rod`; so are the errors.

    Raises
    ------
    InertiaError
        Further, if the surface is not closed, or its triangles are turned inwards.
    ModelFileError, UsageError
        If a file cannot be read, or trimesh, which reads it, is not installed.

    Examples
    --------
    >>> import mbkit as mb
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> wedge = mb.MeshShape(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    >>> body = mb.MeshBody("wedge", wedge, density=6.0)
    >>> round(body.inertia.mass, 12), body.inertia.com
    (1.0, array([0.25, 0.25, 0.25]))
    """

    mesh: MeshShape = attrs.field(validator=_check_mesh)

    @property
    def shape(self) -> Shape:
        """The mesh, where it stands on the body."""
        return attrs.evolve(self.mesh, pose=self.shape_pose @ self.mesh.pose)
