"""Coefficients as they stand in papers: fractions, and only what is not zero."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["lower", "numbers"]


def numbers(*entries: float | Fraction) -> list[float]:
    """Return fractions as the nearest numbers."""
    return [float(entry) for entry in entries]


def lower(rows: Sequence[Sequence[float | Fraction]]) -> Any:
    """Return the square matrix with these beginnings of rows, and zeros after them.

    Examples
    --------
    >>> lower([[], [Fraction(1, 2)]])
    array([[0. , 0. ], [0.5, 0. ]])
    """
    A = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        A[i, : len(row)] = numbers(*row)
    return A
