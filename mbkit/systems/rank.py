"""The rank of constraints by the one rule (`mbkit.solvers.RANK`), and solutions by it."""

from __future__ import annotations

import contextlib
from typing import Any, Self, final

import attrs
import numpy as np

from mbkit.errors import NotFiniteError
from mbkit.solvers.solver import RANK
from mbkit.systems.calls.arguments import Floats

__all__ = ["LEFT", "RANK", "Ranked", "largest_row", "null_space", "rank_of", "singular_values"]

#: What may be left of the constraints, in parts of the largest terms: rows that depend on others
#: but for `RANK` leave as much, of several velocities a few times that.
LEFT = 4.0 * RANK


def largest_row(A: Floats) -> float:
    """Return the norm of the largest row."""
    return float(np.linalg.norm(A, axis=-1).max(initial=0.0))


def rank_of(A: Floats, largest: float | None = None) -> int:
    """Return the number of independent rows, by pivots on the largest remainder.

    The rule is that of `mbkit.kernels.constraints.solve.rank`, so that kinematics and dynamics
    agree. Rows are in parts of the length, along velocities in radians, or lengths where joints
    slide; they are compared with `largest`, by default the norm of the largest row.
    """
    from scipy.linalg import qr

    if not A.size:
        return 0
    left = np.abs(np.diagonal(qr(A.T, mode="r", pivoting=True, check_finite=False)[0]))
    return int((left > RANK * (left[0] if largest is None else largest)).sum())


def singular_values(B: Any, what: str = "A matrix", **options: Any) -> Any:
    """Return `numpy.linalg.svd`; NotFiniteError where there is none, as of NaN."""
    if np.isfinite(B).all():
        with contextlib.suppress(np.linalg.LinAlgError):
            return np.linalg.svd(B, **options)
    raise NotFiniteError(
        f"{what} whose rank is asked for is not finite at this state; give positions and "
        f"velocities of ordinary size."
    )


@final
@attrs.frozen(eq=False)
class Ranked:
    """A matrix B by its singular values, without those that count as zero."""

    rank: int  # number of singular values
    null: Floats  # (columns, columns - rank): orthonormal basis of the null space of B
    left_null: Floats  # (rows, rows - rank): orthonormal basis of the null space of its transpose
    _U: Floats
    _sizes: Floats
    _V: Floats

    @classmethod
    def of(cls, B: Floats, largest: float | None = None) -> Self:
        """Return a matrix (rows, columns), which may be empty, by its singular values.

        They are compared with `largest`, by default the norm of the largest row.
        """
        U, sizes, Vt = singular_values(B)
        rank = rank_of(B, largest)
        return cls(rank, Vt[rank:].T, U[:, rank:], U[:, :rank], sizes[:rank], Vt[:rank].T)

    def solve(self, b: Any) -> Any:
        """Return the x of least norm of all for which B x is nearest to b."""
        return self._V @ ((self._U.T @ b).T / self._sizes).T


def null_space(B: Floats) -> Floats:
    """Return an orthonormal basis of the null space, in columns.

    Of independent columns there is none. Singular values, which take three times as long as the
    rank, are computed for other matrices alone.
    """
    columns = B.shape[1]
    return np.empty((columns, 0)) if rank_of(B) == columns else Ranked.of(B).null
