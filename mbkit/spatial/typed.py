"""Rows of plain arrays as typed values, one a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ShapeError, check_kind
from mbkit.representations import Representation
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.quantities import Acceleration, Twist, Wrench
from mbkit.spatial.quantity import check_rows

_Kind = TypeVar("_Kind", Twist, Wrench)


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
    return _typed(Twist, "typed_twists", vectors, representation, names, poses)


def typed_wrenches(
    vectors: ArrayLike, representation: Representation, names: Sequence[str], poses: FloatArray
) -> tuple[Wrench, ...]:
    """Return wrenches as values; arguments as of `typed_twists`."""
    return _typed(Wrench, "typed_wrenches", vectors, representation, names, poses)


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


def _typed(
    kind: type[_Kind],
    who: str,
    vectors: ArrayLike,
    representation: Representation,
    names: Sequence[str],
    poses: FloatArray,
) -> tuple[_Kind, ...]:
    check_kind(f"{who}: names", names, Sequence, "names of bodies")
    rows = check_rows(vectors, len(names), f"{who}: vectors")
    shape = (len(names), 4, 4)
    if np.shape(poses) != shape:
        raise ShapeError(
            f"{who}: poses must be an array of shape {shape}, got shape {np.shape(poses)}."
        )
    return tuple(
        kind(row, representation, pose=pose, body=name)
        for row, pose, name in zip(rows, poses, names, strict=True)
    )
