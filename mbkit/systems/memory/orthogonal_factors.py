"""Memory for orthogonal factors of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["memory_of_factors"]


def memory_of_factors(shape: tuple[int, int], ranks: Any) -> tuple[Any, Any]:
    """Return `Orthogonal` and `OrthogonalMemory` for matrices of one shape.

    `ranks` (N,) are the largest ranks that the N matrices may have.
    """
    from mbkit.kernels.linear_algebra.orthogonal_factors import Orthogonal, OrthogonalMemory

    rows, columns = shape
    most, count = min(shape), len(ranks)
    factors: Any = Orthogonal(
        np.empty((count, most, rows)), np.empty((count, most, columns)),
        np.empty((count, most, most)), np.minimum(ranks, most),
    )  # fmt: skip
    memory: Any = OrthogonalMemory(
        np.empty((most, columns)), np.empty((columns, most)), np.empty((2, columns)),
        np.empty((1, most)),
    )  # fmt: skip
    return factors, memory
