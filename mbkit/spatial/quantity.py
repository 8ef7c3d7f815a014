"""Base of typed twists, wrenches and accelerations: frames, and sums of like with like."""

from __future__ import annotations

import abc
import numbers
from typing import Any, ClassVar, NoReturn, Self

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import QuantityError, ShapeError
from mbkit.given_values import check_name
from mbkit.lie.arrays import as_floats
from mbkit.representations import Representation
from mbkit.representations.conversions import check_representation
from mbkit.spatial.arrays import EQUAL, FloatArray, check_array, frozen_array, shown
from mbkit.spatial.frames import inverse, stored_pose

__all__ = ["PlacedQuantity", "Quantity"]

#: Poses and twists are taken for the same if they differ by so much of their size (or of 1 m): the
#: rounding of a conversion there and back.
SAME = 1e-9


def check_vector(instance: Quantity, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    """Check six finite numbers (a validator of attrs)."""
    check_array(value, (6,), f"{type(instance).__name__}: {attribute.name}")


class Quantity(abc.ABC):
    """A vector of six, with its representation, its body, and the pose of the body's frame.

    Subclasses are frozen; they add only to their like. ``np.asarray`` gives the vector.
    """

    vector: FloatArray
    #: numpy leaves `array * twist` to this class.
    __array_ufunc__: ClassVar[None] = None

    @property
    @abc.abstractmethod
    def _frame(self) -> tuple[Representation, str, FloatArray]:
        """Representation, name of the body, and pose of its frame."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.vector, dtype=dtype, copy=copy)

    def __str__(self) -> str:
        representation, body, _ = self._frame
        return f"{type(self).__name__} of {body!r} ({representation.name})"

    def _refuse(self, sign: str, other: Any, reason: str) -> NoReturn:
        what = str(other) if isinstance(other, Quantity) else f"{type(other).__name__}"
        raise QuantityError(f"{self} {sign} {what}: {reason}")

    def _check_frame(self, sign: str, other: Quantity) -> None:
        """Raise unless `other` is of the same body, frame and representation."""
        (mine, body, pose), (its, other_body, other_pose) = self._frame, other._frame
        if body != other_body:
            self._refuse(
                sign, other, "they belong to different bodies, so that they do not combine; "
                "take the vectors, np.asarray(...), if that is meant."
            )  # fmt: skip
        if mine != its:
            self._refuse(
                sign, other, f"their representations differ, {mine.name} and {its.name}; convert "
                f"one of them, by .to(mb.{type(mine).__name__}())."
            )  # fmt: skip
        if not _same(pose, other_pose):
            self._refuse(
                sign, other, f"the body's frame stands at {shown(pose)} and at {shown(other_pose)};"
                " move one of them to the frame of the other, by .to(body_frame=...)."
            )  # fmt: skip

    def _check_like(self, sign: str, other: Any) -> None:
        """Raise unless `other` is of the same kind, body, frame and representation."""
        if type(other) is not type(self):
            self._refuse(sign, other, self._remedy(other))
        self._check_frame(sign, other)

    def _remedy(self, other: Any) -> str:
        name = type(self).__name__
        if not isinstance(other, Quantity):
            return f"a {name} adds to its like alone; make it a {name}, or take np.asarray(...)."
        names = {name, type(other).__name__}
        product = "; twist.power(wrench) is power" if names == {"Twist", "Wrench"} else ""
        return f"they are different quantities and do not add{product}."


def _same(a: FloatArray, b: FloatArray) -> bool:
    return bool(np.abs(a - b).max() <= SAME * max(1.0, float(np.abs(a).max())))


def is_number(value: Any) -> bool:
    """Say whether a value scales a vector: a real number that is no truth value."""
    value = value[()] if isinstance(value, np.ndarray) and value.shape == () else value
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def check_body(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check the name of a body (a validator of attrs)."""
    check_name("Body", value)


def stored_representation(instance: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check a field that is a representation (a validator of attrs)."""
    check_representation(value, f"{type(instance).__name__}: {attribute.name}")


@attrs.frozen(repr=False)
class PlacedQuantity(Quantity):
    """A quantity that is linear: it may be scaled, and added to its like."""

    vector: FloatArray = attrs.field(
        converter=frozen_array, validator=check_vector, eq=EQUAL, hash=False
    )
    representation: Representation = attrs.field(validator=stored_representation)
    pose: FloatArray = attrs.field(
        converter=frozen_array, validator=stored_pose, eq=EQUAL, hash=False, kw_only=True
    )
    body: str = attrs.field(validator=check_body, kw_only=True)

    @property
    def _frame(self) -> tuple[Representation, str, FloatArray]:
        return self.representation, self.body, self.pose

    def __add__(self, other: Any) -> Self:
        self._check_like("+", other)
        return attrs.evolve(self, vector=self.vector + other.vector)

    def __radd__(self, other: Any) -> Self:
        if is_number(other) and other == 0:  # where sum() starts
            return self
        return self._refuse("+", other, self._remedy(other))

    def __sub__(self, other: Any) -> Self:
        self._check_like("-", other)
        return attrs.evolve(self, vector=self.vector - other.vector)

    def __neg__(self) -> Self:
        return attrs.evolve(self, vector=-self.vector)

    def __mul__(self, factor: Any) -> Self:
        if not is_number(factor):
            self._refuse("*", factor, "only numbers scale; power is twist.power(wrench).")
        return attrs.evolve(self, vector=self.vector * float(factor))

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Self:
        if not is_number(divisor):
            self._refuse("/", divisor, "only numbers divide.")
        return attrs.evolve(self, vector=self.vector / float(divisor))

    def _converted(
        self,
        convert: Any,
        representation: Representation | None,
        body_frame: ArrayLike | None,
        world_frame: ArrayLike | None,
    ) -> Self:
        target = self.representation if representation is None else representation
        frames = {"body_frame": body_frame, "world_frame": world_frame}
        vector = convert(self.vector, self.pose, self.representation, target, **frames)
        pose = moved_pose(self.pose, body_frame, world_frame)
        return attrs.evolve(self, vector=vector, representation=target, pose=pose)


def moved_pose(
    C: FloatArray, body_frame: ArrayLike | None, world_frame: ArrayLike | None
) -> FloatArray:
    """Return U^-1 C S, where the new body frame stands in the new world."""
    if body_frame is not None:
        C = C @ np.asarray(body_frame, dtype=np.float64)
    return C if world_frame is None else inverse(world_frame) @ C


def check_rows(vectors: ArrayLike, count: int, what: str) -> FloatArray:
    """Return vectors of six as rows; ShapeError unless there are `count` of them."""
    rows = as_floats(vectors, what)
    if rows.shape != (count, 6):
        raise ShapeError(
            f"{what} must be an array of shape ({count}, 6), one row a body, got shape "
            f"{rows.shape}."
        )
    return rows
