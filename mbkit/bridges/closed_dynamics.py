"""Forward, hybrid and inverse dynamics of closed mechanisms on traced numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.bridges.closed_kinematics import constraint_bias, constraint_jacobian
from mbkit.bridges.constrained import (
    check_driven,
    check_inertias,
    constrained_acceleration,
    independent_rows,
    least_efforts,
    minimum_norm,
    minimum_norm_multipliers,
)
from mbkit.bridges.terms import (
    bias_less_forces,
    check_constraints,
    inverse_dynamics,
    mass_matrix,
)
from mbkit.closed_loops.actuation import Actuation
from mbkit.tracing.motions import following
from mbkit.tracing.trace import Trace


def solve_dynamics(trace: Trace, tau: Any) -> dict[str, Any]:
    """Return vdot, and the minimum-norm multipliers."""
    check_constraints(trace)
    mask = trace.system.known(None, None, trace.system.prescribed_joints)[2 * trace.system.nv :]
    with following(trace) as held:
        vdot, _, multipliers = hybrid_dynamics(trace, tau, held, mask)
    return {"vdot": vdot, "multipliers": multipliers}


def hybrid_dynamics(trace: Trace, tau: Any, vdot: Any, mask: Any) -> tuple[Any, Any, Any]:
    """Return vdot, tau and multipliers, vdot given where `mask` is not zero, else tau."""
    free, held = np.flatnonzero(mask == 0.0), np.flatnonzero(mask)
    check_inertias(trace.system, trace.what)
    rows = independent_rows(trace.system, trace.what, free)
    M, every = mass_matrix(trace), constraint_jacobian(trace)
    A = every[rows]
    bias, rest = constraint_bias(trace)[rows], bias_less_forces(trace)
    acceleration, efforts = np.array(vdot, dtype=object), np.array(tau, dtype=object)
    of_held = acceleration[held]
    moving, multipliers = constrained_acceleration(
        M[np.ix_(free, free)], A[:, free],
        efforts[free] - rest[free] - M[np.ix_(free, held)] @ of_held, bias + A[:, held] @ of_held,
    )  # fmt: skip
    acceleration[free] = moving
    efforts[held] = M[held] @ acceleration + rest[held] - multipliers @ A[:, held]
    return acceleration, efforts, minimum_norm(every, rows, multipliers)


def inverse_dynamics_of_actuators(
    trace: Trace, vdot: Any, tau: Any, actuated: Sequence[str], minimise: Any = "effort"
) -> dict[str, Any]:
    """Return efforts and multipliers; see `mbkit.closed_loops.actuation`."""
    check_constraints(trace)
    system = trace.system
    actuation = Actuation.of(system, actuated, minimise)
    driven, passive = actuation.actuated, actuation.passive
    sizes = check_driven(system, trace.what, passive)[passive]
    A, needed = constraint_jacobian(trace), inverse_dynamics(trace, vdot) - tau
    if actuation.roots is None:
        multipliers = minimum_norm_multipliers(A[:, passive] / sizes, needed[passive] / sizes)
    else:
        rows = independent_rows(system, trace.what, range(system.nv))
        roots, R = actuation.roots / actuation.roots.max(initial=0.0), A[rows]
        found = least_efforts(
            R[:, passive] / sizes, needed[passive] / sizes, R[:, driven] * roots,
            needed[driven] * roots,
        )  # fmt: skip
        multipliers = minimum_norm(A, rows, found)
    efforts = np.zeros(system.nv, dtype=object)
    efforts[driven] = needed[driven] - multipliers @ A[:, driven]
    return {"efforts": efforts, "multipliers": multipliers}
