"""The contract of a body, and bodies with a given inertia."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError, UsageError, several, suggestion
from mbkit.given_values import check_name
from mbkit.parts.frames import Frames
from mbkit.shapes.color import Color, as_color, check_color
from mbkit.shapes.shape import Shape
from mbkit.spatial import SpatialInertia
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown
from mbkit.spatial.frames import stored_pose


def _check_name(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    check_name("Body", value)


def _check_frames(instance: Body, attribute: attrs.Attribute[Any], value: Any) -> None:
    if instance.name in value:
        raise UsageError(
            f"Body {instance.name!r}: a frame has the name of the body, which means the body's own "
            f"frame; choose another."
        )


def _shapes(value: Any) -> Any:
    return tuple(value) if several(value) else value


def _check_shapes(instance: Body, attribute: Any, value: Any) -> None:
    if not (isinstance(value, tuple) and all(isinstance(each, Shape) for each in value)):
        raise UsageError(
            f"Body {instance.name!r}: shapes must be several mbkit.Shape, such as "
            f"[mbkit.BoxShape((1.0, 0.1, 0.1))], got {value!r}."
        )


def _check_inertia(instance: Body, attribute: Any, value: Any) -> None:
    if not isinstance(value, SpatialInertia):
        raise ShapeError(
            f"Body {instance.name!r}: inertia must be an mbkit.SpatialInertia, got {value!r}; "
            "make one by SpatialInertia.from_com(mass=..., com=..., moment_about_com=...)."
        )


_IDENTITY = frozen_array(np.eye(4))

_POSE: dict[str, Any] = {
    "validator": stored_pose,
    "eq": EQUAL, "hash": False, "repr": shown,
}  # fmt: skip


@attrs.frozen(init=False)
class Body:
    """A rigid body with a frame of its own: an inertia, shapes, named frames, a colour.

    ``Body("rod", inertia)`` makes a `RigidBody`, whose inertia is given. Bodies that compute it
    from their dimensions are `Rod`, `Box`, `Cylinder`, `Sphere`, `PointMass` and `MeshBody`. Derive
    from this class to have a body of your own, as a frozen attrs class with its dimensions: it must
    have the property `inertia`, and may have `shapes`. Its numbers are parameters of the system,
    such as ``bodies.flywheel.radius``.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    inertia : SpatialInertia
        In the body's frame.
    shapes : tuple of Shape
        Shapes in pictures; the equations of motion do not depend on them.
    pose : ndarray, shape (4, 4), default the identity
        Pose of the body's frame in the world, at the reference configuration. Joints that are
        described in the world start from it, no other thing does.
    frames : mapping of str to array_like (4, 4), keyword only
        Poses of frames in the body's frame, such as the tip of a tool, a sensor or a marker, by
        names that are unique among the frames and bodies of the mechanism. Functions of kinematics
        take the name of a frame in place of that of a body: ``system.pose("tip", q)``.
    color : tuple of float, default None, keyword only
        Red, green, blue and, if not one, opacity, from 0 to 1, or text such as ``"#3366cc"``: that
        of the shapes that have none of their own. None leaves the choice to the picture.

    Raises
    ------
    ModelError
        If the name does not fit.
    ShapeError, GeometryError, UsageError
        If `pose` or one of `frames` is not a pose, `inertia` not a SpatialInertia, a
        shape not a Shape, or `color` no colour.

    Examples
    --------
    >>> import attrs
    >>> import mbkit as mb
    >>> rod = mb.Body("rod", inertia=mb.SpatialInertia.cylinder(2.0, radius=0.01, length=1.0))
    >>> rod.inertia.mass
    2.0

    A body of one's own:

    >>> @attrs.frozen
    ... class Flywheel(mb.Body):
    ...     radius: float
    ...     width: float = 0.02
    ...     density: float = 7850.0
    ...
    ...     @property
    ...     def inertia(self):
    ...         return self.shapes[0].inertia(density=self.density)
    ...
    ...     @property
    ...     def shapes(self):
    ...         return (mb.CylinderShape(self.radius, self.width),)
    >>> round(Flywheel("wheel", radius=0.2, color="#808080").inertia.mass, 2)
    19.73
    """

    name: str = attrs.field(validator=_check_name)
    pose: FloatArray = attrs.field(default=_IDENTITY, converter=frozen_array, kw_only=True, **_POSE)
    frames: Mapping[str, FloatArray] = attrs.field(
        factory=lambda: Frames({}),
        converter=Frames,
        validator=_check_frames,
        kw_only=True,
        hash=False,
    )
    color: Color | None = attrs.field(
        default=None, converter=as_color, validator=check_color, kw_only=True
    )

    def __new__(
        cls,
        name: str = "",
        inertia: SpatialInertia | None = None,
        pose: ArrayLike | None = None,
        /,
        *_: Any,
        **options: Any,
    ) -> Self:
        """Return a new body, a `RigidBody` unless called on a subclass."""
        unknown = sorted(set(options) - set(_FIELDS)) if cls is Body else ()
        if unknown:
            remedy = suggestion(unknown[0], _FIELDS)
            if unknown[0] in ("mass", "com", "moment_about_com"):
                remedy = (
                    f"it is a part of the inertia, mbkit.Body({name!r}, mbkit.SpatialInertia.box("
                    f"mass=..., size=...)), or follows from dimensions, mbkit.Box({name!r}, ...)."
                )
            raise UsageError(f"Body {name!r} has no argument {unknown[0]!r}; {remedy}")
        return object.__new__(RigidBody if cls is Body else cls)  # type: ignore[return-value]

    @property
    def inertia(self) -> SpatialInertia:
        """Mass, centre of mass and moment of inertia, in the body's frame."""
        kind = type(self).__name__
        raise UsageError(
            f"Body {self.name!r}: {kind} must have the property inertia, an mbkit.SpatialInertia; "
            f"define it in {kind}."
        )

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Shapes of the body in pictures."""
        return ()


@final
@attrs.frozen
class RigidBody(Body):
    """A body with a given inertia; ``Body(name, inertia, ...)`` makes the same.

    Attributes
    ----------
    name : str
        Unique in the mechanism.
    inertia : SpatialInertia, default zero
        In the body's frame.
    pose : array_like, shape (4, 4), default the identity
        As for `Body`; so are the errors.
    shapes : iterable of Shape, default none, keyword only
        Shapes in pictures.
    frames, color
        As for `Body`.

    Examples
    --------
    >>> import mbkit as mb
    >>> box = mb.BoxShape((0.5, 0.1, 0.1))
    >>> arm = mb.RigidBody("arm", box.inertia(mass=3.0), shapes=[box])
    >>> arm == mb.Body("arm", box.inertia(mass=3.0), shapes=[box])
    True
    """

    inertia: SpatialInertia = attrs.field(factory=SpatialInertia.zero, validator=_check_inertia)
    pose: FloatArray = attrs.field(default=_IDENTITY, converter=frozen_array, **_POSE)
    shapes: tuple[Shape, ...] = attrs.field(
        default=(), converter=_shapes, validator=_check_shapes, kw_only=True
    )


_FIELDS = tuple(field.name for field in attrs.fields(RigidBody))

#: Fields that every body has; the others of a class are its dimensions.
BODY_FIELDS = tuple(field.name for field in attrs.fields(Body))


def check_body(body: Body) -> None:
    """Raise unless the inertia and the shapes of a body are some, which a class may compute."""
    if not attrs.has(type(body)) or not hasattr(body, "color"):
        raise UsageError(
            f"A body must be of an attrs class, got one of {type(body).__name__}; decorate it by "
            "attrs.frozen."
        )
    _check_inertia(body, None, body.inertia)
    _check_shapes(body, None, body.shapes)


def with_inertia(body: Body, inertia: SpatialInertia) -> Body:
    """Return a body with another inertia, which no longer follows from dimensions."""
    made = object.__new__(RigidBody)  # all else was checked where the body was made
    for field in attrs.fields(RigidBody):
        value = inertia if field.name == "inertia" else getattr(body, field.name)
        object.__setattr__(made, field.name, value)
    return made
