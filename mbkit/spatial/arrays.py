"""Arrays that objects keep: copied, read-only, and checked with messages that name their owner."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbkit.autodiff.marks import traced_as, unchanged, without
from mbkit.errors import GeometryError, MbkitError, ShapeError

__all__ = [
    "EQUAL",
    "FINITE_REMEDY",
    "ORIGIN",
    "Z_AXIS",
    "FloatArray",
    "check_array",
    "check_direction",
    "frozen_array",
    "owner",
    "shown",
    "stored_vector",
    "with_key",
]

FloatArray = NDArray[np.float64]

#: For `attrs.field(eq=...)`: arrays are equal if all their entries are.
EQUAL = attrs.cmp_using(eq=np.array_equal)

#: The remedy for NaN and infinity, as the end of a message.
FINITE_REMEDY = "give an ordinary number, neither NaN nor infinite."


def frozen_array(value: ArrayLike) -> FloatArray:
    """Return a read-only float64 copy.

    Values that are no array of numbers are returned as an array of objects: the check that follows
    has the owner's name for its message (see `check_array`).

    Examples
    --------
    >>> frozen_array((1, 2, 3))
    array([1., 2., 3.])
    """
    if type(value) is np.ndarray and value.dtype == np.float64:
        array = value.copy()
    else:
        try:
            given = np.array(None if isinstance(value, np.ma.MaskedArray) else value)
        except Exception:  # rows of different lengths; whatever its own __array__ raises
            given = np.array(None)
        array = np.array(given, dtype=np.float64 if given.dtype.kind in "iuf" else object)
    if array.dtype == np.float64:
        array += 0.0  # no signed zeros: they compare equal and would be written differently
    array.flags.writeable = False
    return array


def returned_array(value: Any) -> Any:
    """Return what a function of a user returned as an array; one of None if it cannot be."""
    try:
        return np.asarray(value)
    except Exception:  # rows of several lengths; whatever its own __array__ raises
        return np.asarray(None)


traced_as(unchanged)(frozen_array)  # no decorator: mypy takes none at a converter of attrs


def shown(value: Any) -> str:
    """Return numbers as one line of text, as they would be typed."""
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


#: Defaults of fields.
ORIGIN = frozen_array((0.0, 0.0, 0.0))
Z_AXIS = frozen_array((0.0, 0.0, 1.0))


@traced_as(without)
def check_array(
    value: FloatArray,
    shape: tuple[int, ...],
    what: str,
    *,
    error: type[MbkitError] = GeometryError,
) -> None:
    """Raise ShapeError unless `value`, of `frozen_array`, is a float64 array of the given shape.

    GeometryError, or `error`, if an entry is NaN or infinite. Messages begin with `what`, such as
    "Joint 'elbow': axis".

    Examples
    --------
    >>> check_array(frozen_array([1.0, 2.0]), (3,), "Body 'rod': com")
    Traceback (most recent call last):
    mbkit.errors.ShapeError: Body 'rod': com must be an array of shape (3,), got shape (2,).
    >>> check_array(frozen_array([1.0, np.nan, 2.0]), (3,), "Body 'rod': com")
    Traceback (most recent call last):
    mbkit.errors.GeometryError: Body 'rod': com must be finite, got nan at [1]; \
give an ordinary number, neither NaN nor infinite.
    """
    if value.dtype.kind != "f":
        raise ShapeError(
            f"{what} must be real numbers in an array of shape {shape}, got {shown(value)}."
        )
    if value.shape != shape:
        raise ShapeError(f"{what} must be an array of shape {shape}, got shape {value.shape}.")
    finite = np.isfinite(value)
    if not finite.all():
        bad = np.argwhere(~finite)
        entry = float(value[tuple(bad[0])])
        where = f" at {bad[0].tolist()}" if shape else ""
        more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
        raise error(f"{what} must be finite, got {entry!r}{where}{more}; {FINITE_REMEDY}")


def owner(instance: object) -> str:
    """Return how messages call an object: its kind and name."""
    kind = next(
        (kind for kind in ("Joint", "Body", "Mechanism", "Constraint") if _is_a(instance, kind)),
        type(instance).__name__,
    )
    name = getattr(instance, "name", None)
    return kind if name is None else f"{kind} {name!r}"


def _is_a(instance: object, kind: str) -> bool:
    return any(base.__name__ == kind for base in type(instance).__mro__)


def stored_vector(instance: object, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    """Check a field that is a vector of three (a validator of attrs)."""
    with_key(attribute.name, check_array, value, (3,), f"{owner(instance)}: {attribute.name}")


@traced_as(without)
def check_direction(instance: object, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
    """Check a field that is a direction, a vector of any length but zero (a validator of attrs)."""
    stored_vector(instance, attribute, value)
    if not value.any():
        raise GeometryError(
            f"{owner(instance)}: {attribute.name} must have a direction, got {shown(value)}; "
            "give a vector that is not zero."
        ).about(attribute.name)


def with_key(key: str, function: Any, *arguments: Any, **options: Any) -> Any:
    """Return the result of a function; note in its errors which argument was at fault."""
    try:
        return function(*arguments, **options)
    except MbkitError as error:
        error.key = key
        raise
