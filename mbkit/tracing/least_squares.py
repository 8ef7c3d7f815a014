"""Least squares on traced numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mbkit.autodiff.tape import apply

__all__ = ["least_squares", "total"]


def least_squares(A: Any, b: Any) -> Any:
    """Return the x of least |A x - b|, A of independent columns, by modified Gram-Schmidt.

    With b as a last column, which is stable: Bjoerck, BIT 7 (1967) 1-21.
    """
    Q, n = np.column_stack([A, b]).astype(object), A.shape[1]
    R = np.zeros((n, n + 1), dtype=object)
    for k in range(n):
        R[k, k] = apply("sqrt", Q[:, k] @ Q[:, k])
        Q[:, k] = Q[:, k] / R[k, k]
        for j in range(k + 1, n + 1):
            R[k, j] = Q[:, k] @ Q[:, j]
            Q[:, j] = Q[:, j] - R[k, j] * Q[:, k]
    x = np.zeros(n, dtype=object)
    for k in reversed(range(n)):
        x[k] = (R[k, n] - total(R[k, j] * x[j] for j in range(k + 1, n))) / R[k, k]
    return x


def total(terms: Iterable[Any]) -> Any:
    """Return the sum of numbers, one after the other."""
    found: Any = 0.0
    for term in terms:
        found = found + term
    return found
