"""Least-squares solutions of matrices whose rank is in question, and what they leave open."""

from __future__ import annotations

from typing import Any, Self, final

import attrs
import numpy as np

from mbkit.systems.kinematics import Floats

__all__ = ["RANK", "Ranked"]

#: Singular values below this part of the largest are none: the root of what the factorisation of
#: the constraints takes for a pivot, which is of the square. Redundant rows leave 1e-15 and less.
RANK = 1e-6


@final
@attrs.frozen(eq=False)
class Ranked:
    """A matrix B by its singular values, without those that are none.

    Attributes
    ----------
    rank : int
        How many are left.
    null : ndarray, shape (columns, columns - rank)
        Orthonormal: what B makes zero.
    left_null : ndarray, shape (rows, rows - rank)
        The same of its transpose.
    """

    rank: int
    null: Floats
    left_null: Floats
    _U: Floats
    _sizes: Floats
    _V: Floats

    @classmethod
    def of(cls, B: Floats, largest: float | None = None) -> Self:
        """Return a matrix by its singular values.

        Parameters
        ----------
        B : ndarray, shape (rows, columns)
            Any, empty as well.
        largest : float, optional
            What they are compared with; its own largest if left out.

        Returns
        -------
        Ranked
            Its parts.
        """
        U, sizes, Vt = np.linalg.svd(B)
        bound = RANK * (sizes.max(initial=0.0) if largest is None else largest)
        rank = int((sizes > bound).sum())
        return cls(rank, Vt[rank:].T, U[:, rank:], U[:, :rank], sizes[:rank], Vt[:rank].T)

    def solve(self, b: Any) -> Any:
        """Return the x of least norm of all for which B x is nearest to b."""
        return self._V @ ((self._U.T @ b).T / self._sizes).T
