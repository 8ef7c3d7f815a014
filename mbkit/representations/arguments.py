"""Arrays and representations as the public functions take them, and products that broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import GeometryError, ShapeError, UsageError
from mbkit.lie.arrays import MEMBERSHIP_TOLERANCE, FloatArray, as_floats, checked, index_of


def poses(C: ArrayLike, owner: str) -> FloatArray:
    """Return poses as float64; ShapeError, in the name of `owner`, unless (..., 4, 4)."""
    return checked(C, (4, 4), owner)


def rigid_poses(C: ArrayLike, what: str) -> FloatArray:
    """Return poses as float64; GeometryError, beginning with `what`, unless they are rigid."""
    given = checked(C, (4, 4), what)
    R = given[..., :3, :3]
    error = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-2, -1), initial=0.0)
    fits = error <= MEMBERSHIP_TOLERANCE  # false for NaN
    fits &= (given[..., 3, :] == [0.0, 0.0, 0.0, 1.0]).all(axis=-1)
    fits &= np.isfinite(given[..., :3, 3]).all(axis=-1)
    fits &= np.linalg.det(np.where(fits[..., None, None], R, np.eye(3))) > 0.0
    if not fits.all():
        row = int(np.argmin(fits))
        raise GeometryError(
            f"{what} takes poses [[R, r], [0, 1]] with R^T R = I to {MEMBERSHIP_TOLERANCE:g} and "
            f"det R = 1; got {given.reshape(-1, 4, 4)[row].tolist()}{index_of(row, fits.shape)}. "
            "Orthonormalise the rotation first, by mbkit.spatial.nearest_rotation."
        )
    return given


def vectors(V: ArrayLike, owner: str, representation: object = None) -> FloatArray:
    """Return twists, wrenches and the like as float64; ShapeError unless (..., 6).

    A typed value brings its representation along, which must be the one that is expected, if any.
    """
    its = getattr(V, "representation", None)
    if None not in (its, representation) and its != representation:
        raise UsageError(
            f"{owner}: the {type(V).__name__} is {getattr(its, 'name', its)}, where "
            f"{getattr(representation, 'name', representation)} was said; convert it by .to(...)."
        )
    return checked(V, (6,), owner)


def matrices(J: ArrayLike, owner: str) -> FloatArray:
    """Return Jacobians and the like as float64; ShapeError unless (..., 6, n)."""
    given = as_floats(J, owner)
    if given.ndim < 2 or given.shape[-2] != 6:
        raise ShapeError(f"{owner} takes an array of shape (..., 6, n); got shape {given.shape}.")
    return given


def check_broadcast(owner: str, *arrays: tuple[FloatArray, int]) -> None:
    """Raise ShapeError unless the leading axes, all but the last so many, broadcast."""
    try:
        np.broadcast_shapes(*(array.shape[: array.ndim - own] for array, own in arrays))
    except ValueError as error:
        shapes = " and ".join(str(array.shape) for array, _ in arrays)
        raise ShapeError(
            f"{owner} takes arrays whose leading axes broadcast; got shapes {shapes}."
        ) from error


def joined(C: ArrayLike, V: ArrayLike, owner: str) -> tuple[FloatArray, FloatArray]:
    """Return poses and vectors of six whose leading axes are known to broadcast."""
    found = poses(C, owner), vectors(V, owner)
    check_broadcast(owner, (found[0], 2), (found[1], 1))
    return found


def times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return matrix @ vector for vectors (..., 6), leading axes broadcast."""
    product: FloatArray = (matrix @ vector[..., None])[..., 0]
    return product


def transposed(matrix: FloatArray) -> FloatArray:
    """Return the matrices (..., m, n) transposed."""
    return np.swapaxes(matrix, -1, -2)


def blocks(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Return diag(upper, lower) of blocks (..., 3, 3)."""
    batch = np.broadcast_shapes(upper.shape[:-2], lower.shape[:-2])
    matrix = np.zeros((*batch, 6, 6))
    matrix[..., :3, :3] = upper
    matrix[..., 3:, 3:] = lower
    return matrix


def shown(value: Any) -> str:
    """Return the text for messages of an argument in the place of a representation."""
    return value.__name__ if isinstance(value, type) else repr(value)
