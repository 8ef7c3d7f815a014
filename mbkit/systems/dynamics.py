"""Dynamics of a system: forces from accelerations, and accelerations from forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.evaluations import INVERSE_DYNAMICS
from mbkit.systems.calls.wrenches import Wrenches, computed

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["forward_dynamics", "inverse_dynamics"]


def inverse_dynamics(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.inverse_dynamics`."""
    if wrenches is None:
        return system._inverse_dynamics(q, v, vdot, out, on_error)
    return computed(
        system, INVERSE_DYNAMICS, q, v, vdot, wrenches=wrenches, out=out, on_error=on_error
    )


def forward_dynamics(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike = 0.0,
    out: Floats | None = None,
    on_error: str = "raise",
) -> Floats:
    """See `System.forward_dynamics`."""
    if t.__class__ is not float:
        t = times_of(t, on_error)
    timed = system.num_velocity_constraints > 0 and (np.shape(t) != () or np.any(t))
    if system.motions or timed:
        vdot = _timed_acceleration(system, q, v, tau, wrenches, t=t, on_error=on_error)
        if out is None:
            return vdot
        system.evaluator.arguments.output("vdot", vdot.shape[:-1], out)[...] = vdot
        return out
    if tau is None:
        tau = system.evaluator.zero
    if wrenches is None:
        return system._forward_dynamics(q, v, tau, out, on_error)
    return computed(
        system, system.equations, q, v, tau, wrenches=wrenches, out=out, on_error=on_error
    )


def _timed_acceleration(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    wrenches: Wrenches | None,
    *,
    t: ArrayLike,
    on_error: str,
) -> Floats:
    """Return the acceleration where joints or constraints depend on time."""
    if system.arrays.closure:
        return system.solved(q, v, tau, wrenches, t=t, on_error=on_error)[0]
    q, v, vdot = system.prescribed_rows(t, q, v, on_error)
    return system.hybrid_dynamics(
        q, v, tau=tau, vdot=vdot, prescribed=system.prescribed_joints, wrenches=wrenches, t=t,
        on_error=on_error,
    )[0]  # fmt: skip
