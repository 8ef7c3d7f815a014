"""Arrays that representations take."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError
from mbkit.lie.arrays import FloatArray, checked

__all__ = ["blocks", "joined", "poses", "times", "vectors"]


def poses(C: ArrayLike, owner: str) -> FloatArray:
    """Return poses as float64; ShapeError, in the name of `owner`, unless (..., 4, 4)."""
    return checked(C, (4, 4), owner)


def vectors(V: ArrayLike, owner: str) -> FloatArray:
    """Return twists, wrenches and the like as float64; ShapeError unless (..., 6)."""
    return checked(V, (6,), owner)


def joined(C: ArrayLike, V: ArrayLike, owner: str) -> tuple[FloatArray, FloatArray]:
    """Return poses and vectors of six whose leading axes are known to broadcast."""
    poses_, vectors_ = poses(C, owner), vectors(V, owner)
    try:
        np.broadcast_shapes(poses_.shape[:-2], vectors_.shape[:-1])
    except ValueError as error:
        raise ShapeError(
            f"{owner} takes arrays whose leading axes broadcast; got shapes {poses_.shape} and "
            f"{vectors_.shape}."
        ) from error
    return poses_, vectors_


def times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """Return matrix @ vector with all leading axes broadcast."""
    product: FloatArray = (matrix @ vector[..., None])[..., 0]
    return product


def blocks(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """Return diag(upper, lower) of blocks (..., 3, 3)."""
    batch = np.broadcast_shapes(upper.shape[:-2], lower.shape[:-2])
    matrix = np.zeros((*batch, 6, 6))
    matrix[..., :3, :3] = upper
    matrix[..., 3:, 3:] = lower
    return matrix
