"""Twists, wrenches and accelerations as values with frames and representation."""

from __future__ import annotations

from typing import Any, Self, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import QuantityError
from mbkit.representations import (
    Representation,
    convert_acceleration,
    convert_twist,
    convert_wrench,
)
from mbkit.spatial.arrays import EQUAL, FloatArray, frozen_array, shown
from mbkit.spatial.quantity import (
    PlacedQuantity,
    Quantity,
    check_vector,
    is_number,
)


@final
@attrs.frozen(repr=False)
class Twist(PlacedQuantity):
    """The velocity of a body at its frame, in a representation.

    Twists add to twists of the same body, frame and representation, and may be scaled; anything
    else raises QuantityError. ``np.asarray(twist)`` is the vector.

    Attributes
    ----------
    vector : ndarray, shape (6,)
        Angular, then linear velocity. [rad/s], [m/s]
    representation : Representation
        The meaning of the two parts, and their axes.
    pose : ndarray, shape (4, 4)
        Pose of the body's frame in the world.
    body : str
        Name of the body.

    Raises
    ------
    ShapeError, GeometryError, UsageError, ModelError
        If a field is of another shape, not finite, no pose, no representation, or no name.

    Examples
    --------
    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> V = mb.Twist([0, 0, 1, 0, 0, 0], mb.Spatial(), pose=C, body="arm")
    >>> V.to(mb.Hybrid())
    Twist('arm', hybrid, angular=[0.0, 0.0, 1.0], linear=[0.0, 2.0, 0.0])
    >>> V + V.to(mb.Hybrid())
    Traceback (most recent call last):
    mbkit.errors.QuantityError: Twist of 'arm' (spatial) + Twist of 'arm' (hybrid): their \
representations differ, spatial and hybrid; convert one of them, by .to(mb.Spatial()).
    """

    @property
    def angular(self) -> FloatArray:
        """Angular velocity, [rad/s], shape (3,)."""
        return self.vector[:3]

    @property
    def linear(self) -> FloatArray:
        """Linear part, [m/s], shape (3,)."""
        return self.vector[3:]

    def to(
        self,
        representation: Representation | None = None,
        *,
        body_frame: ArrayLike | None = None,
        world_frame: ArrayLike | None = None,
    ) -> Twist:
        """Return the same motion in another representation or at other frames.

        Parameters
        ----------
        representation : Representation, optional
            Where it is left out, the representation stays.
        body_frame, world_frame : array_like, shape (4, 4), optional
            As for `mbkit.convert_twist`: another frame on the body, seen from the present one, and
            another world frame, seen from the world.

        Returns
        -------
        Twist
            Its `pose` is that of the new frame in the new world.

        Raises
        ------
        ShapeError, GeometryError, UsageError
            As `mbkit.convert_twist`.
        """
        return self._converted(convert_twist, representation, body_frame, world_frame)

    def power(self, wrench: Wrench) -> float:
        """Return the power of a wrench on the same body, at the same frame, in watts.

        Parameters
        ----------
        wrench : Wrench
            In the same representation.

        Returns
        -------
        float
            W . V.

        Raises
        ------
        QuantityError
            If it is no wrench, or one of another body, frame or representation.

        Examples
        --------
        >>> import mbkit as mb
        >>> where = {"pose": np.eye(4), "body": "arm"}
        >>> V = mb.Twist([0, 0, 2, 0, 0, 0], mb.Hybrid(), **where)
        >>> V.power(mb.Wrench([0, 0, 5, 1, 0, 0], mb.Hybrid(), **where))
        10.0
        """
        if not isinstance(wrench, Wrench):
            self._refuse("@", wrench, "power is that of a wrench; give an mb.Wrench.")
        self._check_frame("@", wrench)
        return float(self.vector @ wrench.vector)

    def __matmul__(self, other: Any) -> float:
        return self.power(other)

    def __repr__(self) -> str:
        return _text(self, "angular", "linear")


@final
@attrs.frozen(repr=False)
class Wrench(PlacedQuantity):
    """A moment and a force on a body, at its frame, in a representation.

    The dual of a `Twist` of the same body, frame and representation: ``wrench @ twist`` is power.

    Attributes
    ----------
    vector : ndarray, shape (6,)
        Moment, then force. [N m], [N]
    representation : Representation
        About which point the moment is, and in which axes both are.
    pose : ndarray, shape (4, 4)
        Pose of the body's frame in the world.
    body : str
        Name of the body.

    Raises
    ------
    ShapeError, GeometryError, UsageError, ModelError
        If a field is of another shape, not finite, no pose, no representation, or no name.

    Examples
    --------
    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> W = mb.Wrench([0, 0, 0, 0, 10, 0], mb.Hybrid(), pose=C, body="arm")
    >>> W.to(mb.Spatial())
    Wrench('arm', spatial, moment=[0.0, 0.0, 20.0], force=[0.0, 10.0, 0.0])
    """

    @property
    def moment(self) -> FloatArray:
        """Moment, [N m], shape (3,)."""
        return self.vector[:3]

    @property
    def force(self) -> FloatArray:
        """Force, [N], shape (3,)."""
        return self.vector[3:]

    def to(
        self,
        representation: Representation | None = None,
        *,
        body_frame: ArrayLike | None = None,
        world_frame: ArrayLike | None = None,
    ) -> Wrench:
        """Return the same wrench in another representation or at other frames; see `Twist.to`."""
        return self._converted(convert_wrench, representation, body_frame, world_frame)

    def power(self, twist: Twist) -> float:
        """Return the power on a twist of the same body, W . V [W]; see `Twist.power`."""
        if not isinstance(twist, Twist):
            self._refuse("@", twist, "power is that on a twist; give an mb.Twist.")
        self._check_frame("@", twist)
        return float(self.vector @ twist.vector)

    def __matmul__(self, other: Any) -> float:
        return self.power(other)

    def __repr__(self) -> str:
        return _text(self, "moment", "force")


def _stored_twist(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, Twist):
        raise QuantityError(
            f"Acceleration: twist must be an mb.Twist, got {type(value).__name__}; what an "
            "acceleration is in another representation depends on it."
        )


@final
@attrs.frozen(repr=False)
class Acceleration(Quantity):
    """The component-wise rate of a `Twist`.

    It carries the twist, because conversions need it: they move with the body. For the same reason
    accelerations are no vectors as long as there is motion. The difference of two accelerations at
    the same twist is one (at zero twist, where it may be scaled), and may be added to another;
    other sums would count the terms of velocity twice, and raise QuantityError.

    Attributes
    ----------
    vector : ndarray, shape (6,)
        Rate of angular, then of linear velocity. [rad/s^2], [m/s^2]
    twist : Twist
        Of which it is the rate; body, frame and representation are those of it.

    Raises
    ------
    ShapeError, GeometryError, QuantityError
        If `vector` is of another shape or not finite, or `twist` is no Twist.

    Examples
    --------
    On a circle of radius two at 3 rad/s, from the spatial to the hybrid representation:

    >>> import mbkit as mb
    >>> C = mb.spatial.translation((2.0, 0.0, 0.0))
    >>> V = mb.Twist([0, 0, 3, 0, 0, 0], mb.Spatial(), pose=C, body="arm")
    >>> mb.Acceleration(np.zeros(6), V).to(mb.Hybrid())
    Acceleration('arm', hybrid, angular=[0.0, 0.0, 0.0], linear=[-18.0, 0.0, 0.0])
    """

    vector: FloatArray = attrs.field(
        converter=frozen_array, validator=check_vector, eq=EQUAL, hash=False
    )
    twist: Twist = attrs.field(validator=_stored_twist)

    @property
    def representation(self) -> Representation:
        """That of the twist."""
        return self.twist.representation

    @property
    def pose(self) -> FloatArray:
        """Pose of the body's frame in the world, shape (4, 4)."""
        return self.twist.pose

    @property
    def body(self) -> str:
        """Name of the body."""
        return self.twist.body

    @property
    def angular(self) -> FloatArray:
        """Rate of the angular part, [rad/s^2], shape (3,)."""
        return self.vector[:3]

    @property
    def linear(self) -> FloatArray:
        """Rate of the linear part, [m/s^2], shape (3,)."""
        return self.vector[3:]

    @property
    def _frame(self) -> tuple[Representation, str, FloatArray]:
        return self.twist._frame

    def to(
        self,
        representation: Representation | None = None,
        *,
        body_frame: ArrayLike | None = None,
        world_frame: ArrayLike | None = None,
    ) -> Acceleration:
        """Return the same motion in another representation or at other frames; see `Twist.to`."""
        target = self.representation if representation is None else representation
        frames = {"body_frame": body_frame, "world_frame": world_frame}
        vector = convert_acceleration(
            self.vector, self.twist.vector, self.pose, self.representation, target, **frames
        )
        return Acceleration(vector, self.twist.to(target, **frames))

    def __add__(self, other: Any) -> Self:
        self._check_like("+", other)
        mine, its = self.twist.vector, other.twist.vector
        if mine.any() and its.any():
            self._refuse(
                "+", other, "both have terms of velocity, which the sum would hold twice; add a "
                "difference of accelerations, or one at zero twist."
            )  # fmt: skip
        twist = self.twist if mine.any() else other.twist
        return attrs.evolve(self, vector=self.vector + other.vector, twist=twist)

    def __sub__(self, other: Any) -> Self:
        self._check_like("-", other)
        mine, its = self.twist.vector, other.twist.vector
        if not its.any():
            return attrs.evolve(self, vector=self.vector - other.vector)
        if not np.allclose(mine, its, rtol=1e-9, atol=1e-9 * float(np.abs(its).max())):
            self._refuse(
                "-", other, f"they are at different twists, {shown(mine)} and {shown(its)}; "
                "subtract accelerations at the same twist."
            )  # fmt: skip
        twist = attrs.evolve(self.twist, vector=np.zeros(6))
        return attrs.evolve(self, vector=self.vector - other.vector, twist=twist)

    def __mul__(self, factor: Any) -> Self:
        if not is_number(factor):
            self._refuse("*", factor, "only numbers scale.")
        if self.twist.vector.any():
            self._refuse(
                "*", factor, "it has terms of velocity, which do not scale; scale a difference of "
                "accelerations, or one at zero twist."
            )  # fmt: skip
        return attrs.evolve(self, vector=self.vector * float(factor))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return _text(self, "angular", "linear")


def _text(value: Twist | Wrench | Acceleration, *parts: str) -> str:
    shown_parts = ", ".join(f"{part}={shown(getattr(value, part))}" for part in parts)
    return f"{type(value).__name__}({value.body!r}, {value.representation.name}, {shown_parts})"
