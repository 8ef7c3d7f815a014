"""Rows of plain arrays as typed values, one a body."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError, check_kind
from mbkit.representations import Representation
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.quantities import Acceleration, Twist, Wrench
from mbkit.spatial.quantity import check_rows


def typed_twists(
    vectors: ArrayLike, representation: Representation, names: Sequence[str], poses: FloatArray
) -> tuple[Twist, ...]:
    """Return twists as values.

    Parameters
    ----------
    vectors : array_like, shape (bodies, 6)
        Twists, one row a body.
    representation : Representation
        Of all of them.
    names : sequence of str
        Names of the bodies.
    poses : ndarray, shape (bodies, 4, 4)
        Of the bodies' frames in the world.

    Returns
    -------
    tuple of Twist
        In the same order.

    Raises
    ------
    ShapeError, GeometryError
        If the numbers of rows differ, or a row does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import mbkit as mb
    >>> typed_twists(np.ones((1, 6)), mb.Hybrid(), ["arm"], np.eye(4)[None])
    (Twist('arm', hybrid, angular=[1.0, 1.0, 1.0], linear=[1.0, 1.0, 1.0]),)
    """
    check_kind("typed_twists: names", names, Sequence, "names of bodies")
    rows = check_rows(vectors, len(names), "typed_twists: vectors")
    _check_poses(poses, len(names), "typed_twists")
    return tuple(
        Twist(row, representation, pose=pose, body=name)
        for row, pose, name in zip(rows, poses, names, strict=True)
    )


def typed_wrenches(
    vectors: ArrayLike, representation: Representation, names: Sequence[str], poses: FloatArray
) -> tuple[Wrench, ...]:
    """Return wrenches as values; arguments as of `typed_twists`."""
    check_kind("typed_wrenches: names", names, Sequence, "names of bodies")
    rows = check_rows(vectors, len(names), "typed_wrenches: vectors")
    _check_poses(poses, len(names), "typed_wrenches")
    return tuple(
        Wrench(row, representation, pose=pose, body=name)
        for row, pose, name in zip(rows, poses, names, strict=True)
    )


def typed_accelerations(vectors: ArrayLike, twists: Sequence[Twist]) -> tuple[Acceleration, ...]:
    """Return accelerations as values.

    Parameters
    ----------
    vectors : array_like, shape (bodies, 6)
        Component-wise rates of the twists, one row a body.
    twists : sequence of Twist
        As `typed_twists` returned them.

    Returns
    -------
    tuple of Acceleration
        In the same order.

    Raises
    ------
    ShapeError, GeometryError
        If the numbers of rows differ, or a row does not fit.
    """
    check_kind("typed_accelerations: twists", twists, Sequence, "a list of twists")
    rows = check_rows(vectors, len(twists), "typed_accelerations: vectors")
    return tuple(Acceleration(row, twist) for row, twist in zip(rows, twists, strict=True))


def _check_poses(poses: FloatArray, count: int, who: str) -> None:
    if np.shape(poses) != (count, 4, 4):
        raise ShapeError(
            f"{who}: poses must be an array of shape ({count}, 4, 4), got shape {np.shape(poses)}."
        )
