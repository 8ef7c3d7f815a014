"""Rows of constraints that can be dropped."""

from __future__ import annotations

from collections.abc import Sequence

from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import singular_values

__all__ = ["independent_rows"]


def independent_rows(jacobians: Sequence[FloatArray], rank: int) -> list[int]:
    """Return as many rows as the rank is that are independent in all configurations, in order.

    The Jacobians (rows, velocities), one for each configuration, are all of that rank. A QR
    factorisation with column pivots proposes rows in each configuration; the proposal that is
    farthest from singular in all configurations is returned. Source: Golub and Van Loan, Matrix
    Computations, 4th edition, section 5.4.2.

    Examples
    --------
    >>> import numpy as np
    >>> independent_rows([np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]])], 2)
    [1, 2]
    """
    from scipy.linalg import qr

    if rank == 0:
        return []
    choices = {tuple(sorted(qr(J.T, mode="r", pivoting=True)[1][:rank])) for J in jacobians}

    def worst(rows: tuple[int, ...]) -> float:
        sizes = [singular_values(J[list(rows)], compute_uv=False)[rank - 1] for J in jacobians]
        return float(min(sizes))

    return [int(row) for row in max(sorted(choices), key=worst)]
