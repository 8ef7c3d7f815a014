"""Inverse dynamics of closed mechanisms.

Source: Kim 2012, section 3; the formulas are in `mbkit.kernels.constraints.actuated_equations`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.actuated_states import ActuatedStates, ForceSides
from mbkit.closed_loops.actuation import Actuation
from mbkit.systems.calls.entries import broadcast, vector_of, velocity_sizes
from mbkit.systems.calls.wrenches import Wrenches
from mbkit.systems.forces import ActuatorEfforts

if TYPE_CHECKING:
    from mbkit.systems.system import System

#: States whose factors are in memory at once.
_TOGETHER = 256


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
    forces = (needed - applied).reshape((time.size, system.nv))
    A = A.reshape((time.size, *A.shape[-2:]))
    sizes = velocity_sizes(system, np.zeros(system.nq))
    efforts, multipliers = np.full(forces.shape, np.nan), np.full(A.shape[:2], np.nan)
    redundancy = np.full(len(forces), -1)
    kept = good.reshape(-1).nonzero()[0]
    for first in range(0, len(kept), _TOGETHER):
        part = kept[first : first + _TOGETHER]
        states = ActuatedStates.of(actuation, A[part], sizes)
        found = states.solve(ForceSides(forces[part, :, None]))
        efforts[part], multipliers[part] = (x[..., 0] for x in found)
        redundancy[part] = states.redundancy
    missing = forces - efforts - np.einsum("nmv,nm->nv", A, multipliers)
    missing[:, actuation.actuated] = 0.0
    failed = good.reshape(-1) & ~actuation.enough(missing / sizes, forces / sizes)
    for n in failed.nonzero()[0]:
        if on_error == "raise":
            error = actuation.refusal(missing[n, actuation.passive])
            if time.shape:
                error.add_note(
                    f"That is sample {[int(k) for k in np.unravel_index(n, time.shape)]}."
                )
            raise error
        efforts[n], multipliers[n], redundancy[n] = np.nan, np.nan, -1
    shape = time.shape
    return ActuatorEfforts(
        efforts.reshape((*shape, system.nv)), multipliers.reshape((*shape, A.shape[1])),
        redundancy.reshape(shape),
    )  # fmt: skip


def _applied(system: System, tau: ArrayLike | Mapping[str, ArrayLike] | None) -> ArrayLike:
    """Return generalized forces, given by name or as an array, as an array."""
    if tau is None:
        return system.evaluator.zero
    if not isinstance(tau, Mapping):
        return tau
    return vector_of(system, tau, "tau")[1]
