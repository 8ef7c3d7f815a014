"""Values over time: a constant, a table, or a spline through it."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from mbkit.errors import ShapeError
from mbkit.forces.bases.fields import array_field, choice, fault
from mbkit.spatial.arrays import FloatArray, check_array, with_key

#: How values between the times of a table are found.
INTERPOLATIONS = ("linear", "cubic")


def times() -> Any:
    """Return a field that has the times of a table, none by default."""

    def check(force: Any, attribute: attrs.Attribute[Any], value: FloatArray) -> None:
        what = f"Force {force.name!r}: {attribute.name}"
        with_key(attribute.name, check_array, value, value.shape, what)

    return array_field(check, ())


def interpolation() -> Any:
    """Return a field for the interpolation between the times."""
    return choice(*INTERPOLATIONS)


def check_table(force: Any, key: str, width: int) -> None:
    """Raise unless the values (k, width) in the field `key` and the times of a force make a table.

    ForceError, ShapeError or GeometryError if shapes do not fit, or times do not increase.
    """
    values, at = getattr(force, key), force.times
    if values.dtype.kind == "f":
        _check_sizes(force, key, width)
    count = max(1, at.size)
    shape = (count, width) if width > 1 else (count,)
    with_key(key, check_array, values, shape, f"Force {force.name!r}: {key}")
    if at.ndim != 1 or at.size == 1:
        raise fault(
            force, "times", f"must be a list of two times or more, got {at.tolist()!r}; leave them "
            "out for a constant."
        )  # fmt: skip
    if (np.diff(at) <= 0.0).any():
        raise fault(force, "times", f"must increase, got {at.tolist()!r}.")


def _check_sizes(force: Any, key: str, width: int) -> None:
    """Raise ShapeError unless there are values of a width at each time, or one without times."""
    values, at = getattr(force, key), force.times
    if width > 1 and (values.ndim != 2 or values.shape[1] != width):
        given = values.shape[1:] if len(values) == 1 else values.shape
        text = (
            f"must be {width} numbers, moment and force, or rows of them, shape (k, {width}); got "
            f"shape {given}."
        )
        raise fault(force, key, text, ShapeError)
    if at.ndim == 1 and at.size == 0 and len(values) > 1:
        text = (
            f"must be {len(values)} times, those of the entries of {key}; got none. Give them, or "
            f"one entry for a constant."
        )
        raise fault(force, "times", text, ShapeError)
    if at.ndim == 1 and at.size > 1 and len(values) != at.size:
        text = f"must have an entry for each of the {at.size} times, got {len(values)}."
        raise fault(force, key, text, ShapeError)


def pieces(values: FloatArray, at: FloatArray, kind: str) -> FloatArray:
    """Return a table as `mbkit.kernels.forces.time_table` reads it.

    The values (k,) or (k, width) are at the times (k,), or (0,) for a constant. [s] Kinds are
    "linear", straight lines, and "cubic", the spline whose third derivative does not jump at the
    second time and the last but one ("not a knot"). Written are the number of pieces, the times,
    four coefficients by piece and entry.
    """
    columns = values.reshape(len(values), -1)
    if at.size == 0:
        at, columns = np.array([0.0, 1.0]), np.vstack([columns, columns])
        kind = "linear"
    count = at.size - 1
    coefficients = np.zeros((count, columns.shape[1], 4))
    if kind == "linear":
        coefficients[:, :, 0] = columns[:-1]
        coefficients[:, :, 1] = np.diff(columns, axis=0) / np.diff(at)[:, None]
    else:
        from scipy.interpolate import CubicSpline

        coefficients[:] = CubicSpline(at, columns).c[::-1].transpose(1, 2, 0)
    return np.concatenate([[count], at, coefficients.reshape(-1)])
