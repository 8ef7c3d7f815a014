"""Arrays of screws: checks of their fields, and arithmetic of vectors of three."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import GeometryError, ShapeError, UsageError
from mbkit.representations import Mixed
from mbkit.representations.arguments import vectors
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array, shown
from mbkit.spatial.quantities import Acceleration, Twist, Wrench

#: Fields of a screw; the first two are vectors of three.
FIELDS = ("direction", "point", "pitch", "magnitude")

#: A vector that is not longer has no direction: its digits leave off.
NOTHING = 1e-150


def checked_fields(*fields: FloatArray) -> tuple[FloatArray, ...]:
    """Return direction, point, pitch and magnitude with equal leading axes; errors name a field."""
    leading = []
    for name, value in zip(FIELDS, fields, strict=True):
        own = (3,) if name in FIELDS[:2] else ()
        if value.dtype.kind != "f" or value.shape[value.ndim - len(own) :] != own:
            wanted = "(..., 3)" if own else "(...)"
            got = f"shape {value.shape}" if value.dtype.kind == "f" else shown(value)
            raise ShapeError(f"Screw: {name} must be numbers of shape {wanted}, got {got}.")
        finite = np.where(value == np.inf, 0.0, value) if name == "pitch" else value
        check_array(frozen_array(finite), value.shape, f"Screw: {name}")
        leading.append(value.shape[: value.ndim - len(own)])
    try:
        batch = np.broadcast_shapes(*leading)
    except ValueError as error:
        listed = ", ".join(map(str, leading))
        raise ShapeError(
            f"Screw: direction, point, pitch and magnitude must have leading axes that broadcast, "
            f"got {listed}."
        ) from error
    e, p = (np.broadcast_to(value, (*batch, 3)) for value in fields[:2])
    h, m = (np.broadcast_to(value, batch) for value in fields[2:])
    lost = (length(e) <= NOTHING) & (m != 0.0)
    if lost.any():
        where = f" at {np.argwhere(lost)[0].tolist()}" if batch else ""
        raise GeometryError(
            f"Screw: direction must not be zero where the magnitude is {float(m[lost][0])!r}{where}"
            "; give a vector that is not zero."
        )
    return e, p, h, m


def screw_vectors(value: Any, who: str, kind: type[Twist | Wrench]) -> FloatArray:
    """Return vectors (..., 6), also of a typed quantity of one kind in one frame."""
    word = kind.__name__.lower()
    if isinstance(value, Twist | Wrench | Acceleration):
        if not isinstance(value, kind):
            raise UsageError(
                f"{who} must be a {word}, got {value}; the screw of a wrench is "
                f"mb.Screw.from_wrench(W), that of a twist mb.Screw.from_twist(V)."
            )
        if isinstance(value.representation, Mixed):
            raise UsageError(
                f"{who}: a mixed {word} is in the axes of two frames and is no screw; convert it, "
                f"by .to(mb.Spatial())."
            )
    X = vectors(value, who)
    check_array(frozen_array(X), X.shape, who)
    return X


def checked_rounding(value: Any, who: str) -> float:
    """Return the bound of rounding; UsageError in the name of `who` unless it is a number."""
    number = frozen_array(value)
    if number.shape != () or number.dtype.kind != "f" or not 0.0 <= float(number) < np.inf:
        raise UsageError(f"{who}: rounding must be a finite number from 0 on, got {value!r}.")
    return float(number)


def length(x: FloatArray) -> FloatArray:
    """Return the lengths of vectors (..., 3), also of numbers whose squares are beyond range."""
    return np.asarray(np.hypot(np.hypot(x[..., 0], x[..., 1]), x[..., 2]))


def dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a . b of vectors (..., 3)."""
    return np.asarray((a * b).sum(axis=-1))


def divided(x: FloatArray, size: FloatArray) -> FloatArray:
    """Return x (..., 3) by its size (...); zero where that is nothing."""
    nothing = (size <= NOTHING)[..., None]
    found: FloatArray = np.where(nothing, 0.0, x / np.where(nothing, 1.0, size[..., None]))
    return found
