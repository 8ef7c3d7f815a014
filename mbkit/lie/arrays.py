"""Arrays in and out of the groups: shapes, leading axes, readable refusals."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mbkit.autodiff.marks import traced_as, unchanged
from mbkit.errors import ShapeError

FloatArray = npt.NDArray[np.float64]

# Bounds of |R R^T - I| and | |q|^2 - 1 | of a rotation: numbers that went through single
# precision pass, numbers typed with four digits do not.
MEMBERSHIP_TOLERANCE = 1e-6


@traced_as(unchanged)
def as_floats(value: npt.ArrayLike, owner: str) -> FloatArray:
    """Return `value` as a float64 array; `owner` is the subject of the caller's error."""
    if isinstance(value, np.ma.MaskedArray):
        raise ShapeError(f"{owner} takes no masked array; fill or leave out what is masked.")
    try:
        array = np.asarray(value)
    except Exception as error:  # rows of unequal length; whatever its own __array__ raises
        raise ShapeError(
            f"{owner} takes an array of real numbers; got rows that do not fit together ({error})."
        ) from error
    if array.dtype.kind not in "fiub":
        raise ShapeError(
            f"{owner} takes an array of real numbers; got dtype {array.dtype}. Pass float64 values."
        )
    return np.asarray(array, dtype=np.float64)


def array_described(value: Any) -> str:
    """Return the description of an array in a message: numbers, shape, order, access.

    A value that is no array is shown itself.
    """
    if not isinstance(value, np.ndarray):
        return repr(value)
    order = "contiguous" if value.flags.c_contiguous else "not contiguous"
    access = "writeable" if value.flags.writeable else "read-only"
    return f"{value.dtype}, shape {value.shape}, {order}, {access}"


@traced_as(unchanged)
def checked(value: npt.ArrayLike, shape: tuple[int, ...], owner: str) -> FloatArray:
    """Return `value` as a float64 array whose last axes are `shape`."""
    array = as_floats(value, owner)
    if array.shape[max(array.ndim - len(shape), 0) :] != shape:
        wanted = ", ".join(str(length) for length in shape)
        raise ShapeError(
            f"{owner} takes an array of shape (..., {wanted}); got shape {array.shape}."
        )
    return array


def checked_axes(shape: Any, owner: str) -> tuple[int, ...]:
    """Return a shape; ShapeError if it is none."""
    try:
        axes = tuple(map(operator.index, shape))
    except TypeError:
        axes = (-1,)
    if any(length < 0 for length in axes):
        raise ShapeError(f"{owner} must be a tuple of whole numbers from 0 on, got {shape!r}.")
    return axes


def batch_of(array: FloatArray, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the leading axes of `array`, those before `shape`."""
    return array.shape[: array.ndim - len(shape)]


def rows_of(array: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return `array` with its leading axes made one, contiguous and writeable for kernels."""
    count = 1
    for length in batch_of(array, shape):
        count *= length
    return np.require(array.reshape((count, *shape)), requirements=["C", "W", "A"])


def broadcast(
    first: FloatArray, second: FloatArray, shape: tuple[int, ...], owner: str
) -> tuple[FloatArray, FloatArray]:
    """Return both arrays with equal leading axes."""
    try:
        batch = np.broadcast_shapes(batch_of(first, shape), batch_of(second, shape))
    except ValueError as error:
        raise ShapeError(
            f"{owner} takes two arrays whose leading axes broadcast; got shapes {first.shape} "
            f"and {second.shape}."
        ) from error
    return np.broadcast_to(first, (*batch, *shape)), np.broadcast_to(second, (*batch, *shape))


def run(
    kernel: Callable[..., Any],
    array: FloatArray,
    shape: tuple[int, ...],
    out_shape: tuple[int, ...],
) -> FloatArray:
    """Return the results of `kernel` for each `shape`-shaped part of `array`."""
    rows = rows_of(array, shape)
    out = np.empty((rows.shape[0], *out_shape))
    kernel(rows, out)
    return out.reshape(batch_of(array, shape) + out_shape)


def index_of(row: int, batch: tuple[int, ...]) -> str:
    """Return where row number `row` stands in the leading axes, as text for a message."""
    if not batch:
        return ""
    indices = ", ".join(str(int(index)) for index in np.unravel_index(row, batch))
    return f" at index [{indices}]"


def hat(x: FloatArray) -> FloatArray:
    """Return x~, the matrix of u -> x cross u; (..., 3) to (..., 3, 3)."""
    matrix = np.zeros((*x.shape, 3))
    matrix[..., 2, 1] = x[..., 0]
    matrix[..., 0, 2] = x[..., 1]
    matrix[..., 1, 0] = x[..., 2]
    matrix[..., 1, 2] = -x[..., 0]
    matrix[..., 2, 0] = -x[..., 1]
    matrix[..., 0, 1] = -x[..., 2]
    return matrix


def vee(rates: FloatArray) -> FloatArray:
    """Return the twists (..., 6) of matrices C^-1 dC or dC C^-1, (..., 4, 4).

    Their angular parts are skew but for rounding: of both sides of the diagonal half is taken.
    """
    skew = 0.5 * (rates[..., :3, :3] - np.swapaxes(rates[..., :3, :3], -1, -2))
    angular = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
    return np.concatenate([angular, rates[..., :3, 3]], axis=-1)


def blocks(upper: FloatArray, lower_left: FloatArray, lower: FloatArray) -> FloatArray:
    """Return [[upper, 0], [lower_left, lower]] of 3x3 blocks, whose leading axes broadcast."""
    batch = np.broadcast_shapes(upper.shape, lower_left.shape, lower.shape)[:-2]
    matrix = np.zeros((*batch, 6, 6))
    matrix[..., :3, :3] = upper
    matrix[..., 3:, :3] = lower_left
    matrix[..., 3:, 3:] = lower
    return matrix


def pose(rotation: FloatArray, translation: FloatArray) -> FloatArray:
    """Return [[R, r], [0, 1]]."""
    matrix = np.zeros((*rotation.shape[:-2], 4, 4))
    matrix[..., :3, :3] = rotation
    matrix[..., :3, 3] = translation
    matrix[..., 3, 3] = 1.0
    return matrix
