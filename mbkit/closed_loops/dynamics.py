"""Inverse dynamics of closed mechanisms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.actuation import Actuation
from mbkit.systems.calls.entries import broadcast, by_sample, vector_of, velocity_sizes
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.forces import ActuatorEfforts

if TYPE_CHECKING:
    from mbkit.systems.system import System


def closed_inverse_dynamics(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    *,
    actuated: Sequence[str],
    tau: ArrayLike | Mapping[str, ArrayLike] | None = None,
    wrenches: Wrenches | None = None,
    minimise: str | Mapping[str, float] = "effort",
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> ActuatorEfforts:
    """See `System.closed_inverse_dynamics`."""
    actuation = Actuation.of(system, actuated, minimise)
    needed = system.inverse_dynamics(q, v, vdot, wrenches, t=t, on_error=on_error)
    at, moving, gaining, needed, applied, time = broadcast(
        system, t, q=q, v=v, vdot=vdot, x=needed, tau=_applied(system, tau)
    )
    good = system.check_motion(at, moving, gaining, time, on_error)
    A = system.constraint_jacobian(at, time, on_error=on_error)
    sizes = velocity_sizes(system, at)
    leading = time.shape
    efforts = np.full((*leading, system.nv), np.nan)
    multipliers = np.full((*leading, system.num_velocity_constraints), np.nan)
    redundancy = np.full(leading, -1)

    def compute(index: tuple[int, ...]) -> None:
        if not good[index]:
            return
        found = actuation.solve(A[index], needed[index] - applied[index], sizes[index])
        efforts[index], multipliers[index], redundancy[index] = found

    by_sample(leading, on_error, compute)
    return ActuatorEfforts(efforts, multipliers, redundancy)


def _applied(system: System, tau: ArrayLike | Mapping[str, ArrayLike] | None) -> ArrayLike:
    """Return generalized forces, given by name or as an array, as an array."""
    if tau is None:
        return system.evaluator.zero
    if not isinstance(tau, Mapping):
        return tau
    entries, values = vector_of(system, tau, "tau")
    applied = np.zeros((*values.shape[:-1], system.nv))
    applied[..., entries] = values
    return applied
