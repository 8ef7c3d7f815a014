"""First and second derivatives of the mass matrix and of its inverse by configuration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.given_values import is_whole
from mbkit.memory import check_memory
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import by_sample
from mbkit.systems.calls.evaluations import (
    INVERSE_DYNAMICS_SECOND_DERIVATIVES,
    MASS_MATRIX_DERIVATIVES,
)

if TYPE_CHECKING:
    from mbkit.systems.system import System


def mass_matrix_derivatives(
    system: System, q: ArrayLike, order: int = 1, *, on_error: str = "raise"
) -> Floats:
    """See `System.mass_matrix_derivatives`.

    The second are those of inverse dynamics at rest, of unit accelerations, without gravity.
    """
    _check(system, q, order)
    nv, ndx = system.nv, system.ndx
    compute = system.evaluator.compute
    if order == 1:
        flat = compute(MASS_MATRIX_DERIVATIVES, q, on_error=on_error)
        return flat.reshape((*flat.shape[:-1], nv, nv, ndx))
    positions = system.evaluator.arguments.with_leading_axes("q", q)[..., None, :]
    vdot = np.vstack([np.eye(nv), np.zeros((1, nv))])
    every = compute(
        INVERSE_DYNAMICS_SECOND_DERIVATIVES, positions, np.zeros(nv), vdot, on_error=on_error
    )
    by_q = every[..., : nv * ndx * ndx].reshape((*every.shape[:-1], nv, ndx, ndx))
    columns = by_q[..., :nv, :, :, :] - by_q[..., nv:, :, :, :]
    found: Floats = 0.5 * (columns + np.swapaxes(columns, -3, -4))  # the same but for rounding
    return found


def inverse_mass_matrix_derivatives(
    system: System, q: ArrayLike, order: int = 1, *, on_error: str = "raise"
) -> Floats:
    """See `System.inverse_mass_matrix_derivatives`."""
    _check(system, q, order)
    nv, ndx = system.nv, system.ndx
    first = mass_matrix_derivatives(system, q, on_error=on_error)
    leading = first.shape[:-3]
    positions = system.evaluator.arguments.with_leading_axes("q", q)
    second = mass_matrix_derivatives(system, q, 2, on_error=on_error) if order == 2 else None
    found = np.full((*leading, nv, nv, *[ndx] * order), np.nan)

    def compute(index: tuple[int, ...]) -> None:
        if not np.isfinite(first[index]).all():
            return
        N = system.mass_factor(positions[index]).inverse()
        D = np.moveaxis(first[index], -1, 0)
        if second is None:
            found[index] = np.moveaxis(-N @ D @ N, 0, -1)
            return
        left = N @ D  # (ndx, nv, nv)
        both = left[:, None] @ left[None, :]
        own = N @ np.moveaxis(second[index], (-2, -1), (0, 1))
        whole = (both + np.swapaxes(both, 0, 1) - own) @ N
        found[index] = np.moveaxis(whole, (0, 1), (-2, -1))

    by_sample(leading, on_error, compute)
    return found


def _check(system: System, q: ArrayLike, order: Any) -> None:
    """Raise unless the order is 1 or 2 and there is memory for the derivatives."""
    if not (is_whole(order) and order in (1, 2)):
        raise UsageError(f"System '{system.name}': order must be 1 or 2, got {order!r}.")
    samples = math.prod(system.evaluator.arguments.with_leading_axes("q", q).shape[:-1])
    nv, ndx = float(system.nv), float(system.ndx)
    check_memory(
        samples * nv * (nv * ndx if order == 1 else 4.0 * (nv + 1.0) * (ndx + nv) ** 2),
        f"Derivatives of order {order} of the mass matrix of {system.nv} velocities",
        "ask for fewer samples at once, or use mass_matrix_rate, along one velocity",
    )
