"""Forward and inverse dynamics of closed mechanisms on traced numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import MbkitError, UsageError
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_sizes
from mbkit.systems.rank import rank_of
from mbkit.tracing.least_squares import total

if TYPE_CHECKING:
    from mbkit.systems import System


def check_inertias(system: System, what: str) -> None:
    """UsageError, beginning with `what`, if the tree has a motion without inertia."""
    inertias = np.linalg.eigvalsh(system.mass_matrix(beside_reference(system)))
    if inertias[0] <= 1e-12 * inertias[-1]:
        raise UsageError(
            f"{what}: the tree of system '{system.name}' has a motion without inertia, which its "
            f"constraints alone would determine; give each body an inertia, or cut other joints."
        )


def beside_reference(system: System) -> FloatArray:
    """Return a configuration with closed loops beside the reference, where some are singular."""
    q = system.reference_configuration()
    aside = 0.05 * np.random.default_rng(7).normal(size=system.ndx)
    for start in (q, system.retract(q, aside)):
        with contextlib.suppress(MbkitError):  # where loops cannot be closed from there
            q = system.close_loops(start)
    return q


def independent_rows(system: System, what: str, free: Any) -> list[int]:
    """Return rows of constraints that are independent beside the reference configuration.

    Of the velocities `free` alone. UsageError, beginning with `what`, if more rows depend on others
    than without prescribed motions.
    """
    from scipy.linalg import qr

    q = beside_reference(system)
    A: FloatArray = system.constraint_jacobian(q) / velocity_sizes(system, q)
    rank = rank_of(A)
    if rank_of(A[:, free]) < rank:
        raise UsageError(
            f"{what}: more joints of system '{system.name}' are prescribed than the mechanism has "
            f"freedoms, so that their efforts are not unique; prescribe fewer."
        )
    order = qr(A[:, free].T, mode="r", pivoting=True)[1]
    return sorted(int(row) for row in order[:rank])


def check_driven(system: System, what: str, passive: Sequence[int]) -> FloatArray:
    """Return the displacements of bodies by velocities [m], which make these comparable.

    UsageError, beginning with `what`, if the mechanism can move while its actuators stand still.
    """
    q = beside_reference(system)
    sizes: FloatArray = velocity_sizes(system, q)
    if rank_of((system.constraint_jacobian(q) / sizes)[:, passive]) < len(passive):
        raise UsageError(
            f"{what}: system '{system.name}' can move while its actuators stand still, so that "
            f"they cannot give it every motion; name more joints, actuated=[...]."
        )
    return sizes


def constrained_acceleration(M: Any, A: Any, efforts: Any, bias: Any) -> tuple[Any, Any]:
    """Return vdot and multipliers with M vdot = efforts + A^T multipliers and A vdot + bias = 0.

    By the Schur complement A M^-1 A^T of independent rows A; factors without pivots, as both
    matrices are positive definite.
    """
    of_M = factorised(M)
    free = solved(of_M, efforts)
    spread = np.array([solved(of_M, row) for row in A], dtype=object).reshape(A.shape)
    multipliers = solved(factorised(A @ spread.T), -(bias + A @ free))
    return free + multipliers @ spread, multipliers


def minimum_norm(A: Any, rows: Sequence[int], multipliers: Any) -> Any:
    """Return the minimum-norm multipliers of all rows of A with the force of independent rows.

    A^T x = R^T multipliers with R these rows, and x = A R^T z in the range of A.
    """
    if len(rows) == len(A):
        return multipliers
    R = A[rows]
    spread = A @ R.T
    return spread @ solved(factorised(spread.T @ spread), R @ (R.T @ multipliers))


def minimum_norm_multipliers(A: Any, needed: Any) -> Any:
    """Return the minimum-norm multipliers with A^T multipliers = needed.

    A has independent columns.
    """
    return A @ solved(factorised(A.T @ A), needed)


def least_efforts(passive: Any, needed: Any, across: Any, left: Any) -> Any:
    """Return the multipliers of least efforts |left - across^T x|, passive^T x = needed.

    Of independent rows, (rows, passive velocities) and (rows, actuated ones). The matrix of the sum
    of squares is definite where the condition leaves freedom; squares of the condition, which are
    constant, make it so everywhere.
    """
    H = across @ across.T + passive @ passive.T
    return constrained_acceleration(H, passive.T, across @ left + passive @ needed, -needed)[0]


def factorised(B: Any) -> tuple[Any, Any]:
    """Return L and d of B = L diag(d) L^T, with ones on the diagonal of L."""
    n = len(B)
    L, d = np.zeros((n, n), dtype=object), np.zeros(n, dtype=object)
    for j in range(n):
        d[j] = B[j, j] - total(L[j, k] * L[j, k] * d[k] for k in range(j))
        for i in range(j + 1, n):
            L[i, j] = (B[i, j] - total(L[i, k] * L[j, k] * d[k] for k in range(j))) / d[j]
    return L, d


def solved(factors: tuple[Any, Any], b: Any) -> Any:
    """Return the x with L diag(d) L^T x = b."""
    L, d = factors
    n = len(d)
    x = np.array(b, dtype=object)
    for i in range(n):
        x[i] = x[i] - total(L[i, k] * x[k] for k in range(i))
    x = np.array([x[i] / d[i] for i in range(n)], dtype=object)
    for i in reversed(range(n)):
        x[i] = x[i] - total(L[k, i] * x[k] for k in range(i + 1, n))
    return x
