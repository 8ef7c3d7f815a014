"""Loops that are closed by least motion, linear about where they are closed already.

dq = -M^-1 A^T (A M^-1 A^T)^+ g and v -= M^-1 A^T (A M^-1 A^T)^+ (A v + g_t), as in
`mbkit.kernels.constraints.solve.projection`. At closed loops the factors do not change to first
order: with N = M^-1 A^T (A M^-1 A^T)^+, and dr what is left open,

    dq' = dq - N (A dq + g_p dp),    dv' = dv - N (A dv + D_q(A v + g_t) dq' + (A v + g_t)_p dp).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbkit.sensitivities.constraint_rows import (
    ConstraintRows,
    RowChange,
    free_entries,
    position_of_row,
    row_changes,
)
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["Closing"]


class Closing(NamedTuple):
    """Loops of N states that are closed.

    Attributes
    ----------
    A, rate_by_q : ndarray, shape (N, m, nv)
        Rows of constraints.
    N : ndarray, shape (N, nv, m)
        Least motion by rates of rows.
    with_g : ndarray, shape (m, 1)
        1 for rows of position level.
    changes : mapping of str to RowChange
        What parameters change, by name.
    """

    A: Floats
    rate_by_q: Floats
    N: Floats
    with_g: Floats
    changes: Mapping[str, RowChange]

    @classmethod
    def of(cls, system: System, names: Sequence[str], t: Floats, q: Floats, v: Floats) -> Closing:
        """Return those of states (N, ...), with what parameters change there."""
        rows = ConstraintRows.of(system, t, q, v)
        free = np.flatnonzero(free_entries(system))
        M = system.mass_matrix(q)[:, free[:, None], free]
        kept = system.solved(q, v, t=t)[2][..., None] != 0.0
        A = (rows.A * kept)[..., free]
        least = np.zeros((*np.swapaxes(rows.A, -1, -2).shape,))
        back = np.linalg.solve(M, np.swapaxes(A, -1, -2))
        least[:, free] = back @ np.linalg.pinv(A @ back, rcond=1e-12, hermitian=True)
        with_g = (position_of_row(system) >= 0.0)[:, None] * 1.0
        return cls(*rows, least, with_g, row_changes(system, names, t, q, v))

    def close(self, dq: Floats, dv: Floats, name: str = "") -> tuple[Floats, Floats]:
        """Return changes (N, nv, k) after loops are closed; by a parameter, where one is named."""
        change = self.changes.get(name, RowChange(0.0, 0.0, 0.0))
        dq = dq - self.N @ (self.with_g * (self.A @ dq) + change.g)
        return dq, dv - self.N @ (self.A @ dv + self.rate_by_q @ dq + change.rate)
