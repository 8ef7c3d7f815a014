"""Motions that a Jacobian lacks, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.errors import UsageError
from mbkit.given_values import as_number
from mbkit.kinematics.targets import ROWS
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import singular_values

__all__ = ["axis_text", "singular_directions", "rank_of", "reduced", "vector_text"]

#: Part of the largest singular value below which one counts as zero.
RANK_TOLERANCE = 1e-6


def rank_of(sizes: Any, tolerance: float = RANK_TOLERANCE) -> int:
    """Return how many singular values are not zero."""
    return int((sizes > tolerance * sizes.max(initial=0.0)).sum())


def checked_rank_tolerance(tolerance: Any, who: str) -> float:
    """Return a tolerance of a rank, in parts of the largest singular value, or raise UsageError."""
    number = as_number(tolerance)
    if not (isinstance(number, float) and 0.0 <= number < 1.0):
        raise UsageError(
            f"{who}: tolerance must be a number from 0 to below 1, such as 1e-9, got {tolerance!r}."
        )
    return number


def singular_directions(
    J: FloatArray, rows: str, tolerance: float = RANK_TOLERANCE, *, back: FloatArray | None = None
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the twists (k, 6) that no velocity makes, independent, and the same in words.

    J is the Jacobian (6, nv) or (3, nv) of a frame at its origin, in the axes of the world, of all,
    angular or linear rows. Singular values below the part `tolerance` of the largest count as zero.
    `back`, (rows of J, 6) or (rows of J, 3), takes a combination of J's rows, from the right, to a
    twist, where they are scaled or others than those of `rows`. Twists are orthogonal to all J v,
    with as many zeros as may be.
    """
    U, sizes, _ = singular_values(J)
    basis = U[:, rank_of(sizes, tolerance) :].T
    return twists_of(basis, rows, back)


def twists_of(
    basis: FloatArray, rows: str, back: FloatArray | None = None
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return independent twists (k, 6) of a space of rows, and the same in words.

    `back` is that of `singular_directions`.
    """
    found = reduced(basis if back is None else basis @ back)
    twists = np.zeros((len(found), 6))
    twists[:, ROWS[rows]] = found
    return twists, tuple(_words(twist) for twist in twists)


def reduced(basis: FloatArray) -> FloatArray:
    """Return a basis (k, m) of the same space in reduced form: each row alone in its pivot."""
    rows = basis.copy()
    done: list[int] = []
    for i in range(len(rows)):
        pivot = int(np.argmax(np.abs(rows[i])))
        rows[i] /= rows[i, pivot]
        for j in range(len(rows)):
            if j != i:
                rows[j] -= rows[j, pivot] * rows[i]
        done.append(pivot)
    rows[np.abs(rows) < 1e-9] = 0.0
    order = np.argsort(done)
    return rows[order]


def _words(twist: FloatArray) -> str:
    """Return a twist in words; axes in the world."""
    angular, linear = twist[:3], twist[3:]
    if not angular.any():
        return f"translation along {axis_text(linear)}"
    if not linear.any():
        return f"rotation about {axis_text(angular)}"
    scale = np.linalg.norm(angular)
    return (
        f"rotation about {axis_text(angular)} with translation {vector_text(linear / scale)} m/rad"
    )


def axis_text(vector: FloatArray) -> str:
    """Return the direction of a vector."""
    return vector_text(vector / np.linalg.norm(vector))


def vector_text(vector: FloatArray) -> str:
    """Return a vector with three digits."""
    return "(" + ", ".join(f"{number + 0.0:.3g}" for number in np.round(vector, 4) + 0.0) + ")"
