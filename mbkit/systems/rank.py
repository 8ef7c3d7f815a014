"""The rank of constraints by the one rule (`mbkit.solvers.solver.RANK`), and solutions by it."""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Self, final

import attrs
import numpy as np

from mbkit.errors import NotFiniteError
from mbkit.solvers.solver import RANK
from mbkit.systems.calls.arguments import Floats

__all__ = ["LEFT", "RANK", "Ranked", "largest_row", "null_space", "rank_of", "singular_values"]

#: Largest residual of the constraints, in parts of the largest terms: rows that depend on others
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
    from scipy.linalg.lapack import dgeqp3  # `qr` takes ten times as long for small matrices

    if not A.size:
        return 0
    left = np.abs(np.diagonal(dgeqp3(A.T)[0]))
    return int((left > RANK * (left[0] if largest is None else largest)).sum())


def singular_values(B: Any, what: str = "A matrix", **options: Any) -> Any:
    """Return `numpy.linalg.svd`; NotFiniteError where there is none, as of NaN."""
    if np.isfinite(B).all():
        with contextlib.suppress(np.linalg.LinAlgError):
            return np.linalg.svd(B, **options)
    raise _not_finite(what)


def _not_finite(what: str) -> NotFiniteError:
    return NotFiniteError(
        f"{what} whose rank is asked for is not finite at this state; give positions and "
        f"velocities of ordinary size."
    )


@final
@attrs.frozen(eq=False, slots=False)
class Ranked:
    """A matrix B and its rank; of its singular values those beyond count as zero.

    They take three times as long as the rank, and are computed only where needed: a regular
    matrix has no null space, and x of B x = b from LU.
    """

    matrix: Floats
    rank: int

    @classmethod
    def of(cls, B: Floats, largest: float | None = None) -> Self:
        """Return a matrix (rows, columns), which may be empty, with its rank.

        Its rows are compared with `largest`, by default the norm of the largest row.
        NotFiniteError if it is not finite.
        """
        if not np.isfinite(B).all():
            raise _not_finite("A matrix")
        return cls(B, rank_of(B, largest))

    @functools.cached_property
    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """U, singular values and V^T."""
        return singular_values(self.matrix)  # type: ignore[no-any-return]

    @property
    def null(self) -> Floats:
        """An orthonormal basis of the null space of B, (columns, columns - rank)."""
        columns = self.matrix.shape[1]
        return np.empty((columns, 0)) if self.rank == columns else self._parts[2][self.rank :].T

    @property
    def left_null(self) -> Floats:
        """An orthonormal basis of the null space of its transpose, (rows, rows - rank)."""
        rows = len(self.matrix)
        return np.empty((rows, 0)) if self.rank == rows else self._parts[0][:, self.rank :]

    def solve(self, b: Any) -> Any:
        """Return the x of least norm of all for which B x is nearest to b."""
        if len(self.matrix) == self.rank == self.matrix.shape[1]:
            return np.linalg.solve(self.matrix, b)
        U, sizes, Vt = self._parts
        among = ((U[:, : self.rank].T @ b).T / sizes[: self.rank]).T
        return Vt[: self.rank].T @ among


def null_space(B: Floats) -> Floats:
    """Return an orthonormal basis of the null space, in columns."""
    return Ranked.of(B).null
