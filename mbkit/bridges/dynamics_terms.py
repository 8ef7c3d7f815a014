"""Dynamics of trees on traced numbers: efforts and their rates, momenta, Coriolis matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbkit.autodiff.rules import differentiate
from mbkit.bridges import closed_dynamics as closed
from mbkit.bridges.constrained import factorised, solved
from mbkit.bridges.terms import (
    applied_efforts,
    applied_forces,
    inverse_dynamics,
    mass_matrix,
    own_kernel,
    position_directions,
    rates_of,
)
from mbkit.errors import UsageError
from mbkit.tracing.branches import substituted
from mbkit.tracing.motions import following
from mbkit.tracing.trace import Trace


def forward_dynamics(trace: Trace, tau: Any) -> Any:
    """Return vdot; of closed mechanisms by the rows of constraints that are independent."""
    system = trace.system
    with following(trace) as vdot:
        if system.motions or system.arrays.closure:
            return hybrid_dynamics(trace, tau, vdot, system.prescribed_joints)["hybrid_vdot"]
        total = tau + applied_efforts(trace)
        return trace.call(own_kernel(trace, "forward_dynamics"), system.nv, trace.v, total)


def hybrid_dynamics(trace: Trace, tau: Any, vdot: Any, prescribed: Sequence[str]) -> dict[str, Any]:
    """Return all of vdot and tau, where vdot is given of prescribed joints and tau of others."""
    system, nv = trace.system, trace.system.nv
    mask = system.known(None, None, prescribed)[2 * nv :]
    if system.arrays.closure:
        found = closed.hybrid_dynamics(trace, tau, vdot, mask)
        return {"hybrid_vdot": found[0], "hybrid_tau": found[1]}
    f = applied_efforts(trace)
    known = np.concatenate([np.where(mask == 0.0, tau + f, 0.0), np.where(mask, vdot, 0.0), mask])
    both = trace.call(own_kernel(trace, "hybrid_dynamics"), 2 * nv, trace.v, known)
    return {"hybrid_vdot": both[nv:], "hybrid_tau": both[:nv] - f}


def _check_motions(trace: Trace) -> None:
    """Raise UsageError unless the system has prescribed joints."""
    if not trace.system.motions:
        raise UsageError(
            f"{trace.what}: system '{trace.system.name}' has no prescribed joint; see "
            f"Joint.prescribe."
        )


def prescribed_state(trace: Trace) -> dict[str, Any]:
    """Return the state with prescribed joints at their motions, and their accelerations."""
    _check_motions(trace)
    with following(trace) as vdot:
        return {"prescribed_q": trace.q, "prescribed_v": trace.v, "prescribed_vdot": vdot}


def driving_efforts(trace: Trace, tau: Any) -> Any:
    """Return the efforts, besides tau, that keep prescribed joints on their motions."""
    _check_motions(trace)
    system = trace.system
    driven = system.known(None, None, system.prescribed_joints)[2 * system.nv :] != 0.0
    with following(trace) as vdot:
        both = hybrid_dynamics(trace, tau, vdot, system.prescribed_joints)
    return np.where(driven, both["hybrid_tau"] - tau, 0.0)


def inverse_dynamics_rate(trace: Trace, vdot: Any, *higher: Any) -> Any:
    """Return the rate of `inverse_dynamics` of the order that the rates of vdot lead to."""
    if trace.system.arrays.closure:
        raise UsageError(
            f"{trace.what}: system '{trace.system.name}' has loops: rates of inverse dynamics are "
            f"of trees, and those of constraint forces are not in them. Differentiate "
            f"'closed_inverse_dynamics' along a motion: its jacobian() has what is needed."
        )
    every = [trace.v, vdot, *higher]
    return rates_of(trace, inverse_dynamics(trace, vdot), every, len(higher))


def mass_action(trace: Trace, x: Any) -> Any:
    """Return M x, (nv,)."""
    from mbkit.kernels.recursions.mass_action import mass_action

    return trace.call(mass_action, trace.system.nv, x)


def inverse_mass_matrix(trace: Trace) -> Any:
    """Return M^-1, (nv, nv)."""
    factors = factorised(mass_matrix(trace))
    return np.array([solved(factors, unit) for unit in np.eye(trace.system.nv)], dtype=object)


def canonical_forward_dynamics(trace: Trace, p: Any, tau: Any) -> dict[str, Any]:
    """Return v and the rates of momenta; see `MomentumForm.canonical_forward_dynamics`."""
    from mbkit.kernels.momentum.canonical import canonical_forward_dynamics

    _let_subspaces_move(trace)
    nv = trace.system.nv
    found = trace.call(canonical_forward_dynamics, 2 * nv, p, tau)
    start, trace.v = trace.v, found[:nv]  # of which forces may depend
    try:
        f = applied_forces(trace)
    finally:
        trace.v = start
    return {"v": found[:nv], "pdot": found[nv:] + f}


def velocities(trace: Trace, p: Any) -> Any:
    """Return v = M^-1 p, (nv,)."""
    from mbkit.kernels.momentum.canonical import canonical_forward_dynamics

    nv = trace.system.nv
    _let_subspaces_move(trace)
    return trace.call(canonical_forward_dynamics, 2 * nv, p)[:nv]


def coriolis_matrix(trace: Trace) -> Any:
    """Return C with M-dot - 2 C skew, (nv, nv)."""
    from mbkit.kernels.derivatives.coriolis_matrix import coriolis_matrix

    _let_subspaces_move(trace)
    nv = trace.system.nv
    return trace.call(coriolis_matrix, nv * nv, trace.v).reshape(nv, nv)


def _let_subspaces_move(trace: Trace) -> None:
    """Let kernels that need S-dot have it by the derivative of S on the tape."""
    from mbkit.kernels.derivatives.joints import joint_changes

    directions = position_directions(trace)

    def along_motion(joint: Any, change: Any) -> int:
        row, body, _, v = joint[:4]
        own = slice(int(row.first_velocity), int(row.first_velocity + row.num_velocities))
        columns = body.S[: row.num_velocities]
        seeds = dict(zip(trace.q, directions[:, own] @ v[own], strict=True))
        rates = np.array(differentiate([*columns.ravel()], seeds), dtype=object)
        change.S[: row.num_velocities] = rates.reshape(columns.shape)
        return 0

    trace.copies.replace(joint_changes.along_motion, along_motion)


def mass_matrix_rate(trace: Trace) -> Any:
    """Return M-dot = C + C^T, (nv, nv)."""
    C = coriolis_matrix(trace)
    return C + C.T


def christoffel(trace: Trace) -> Any:
    """Return G with C_ij = G_ijk v_k, (nv, nv, nv)."""
    C, nv = coriolis_matrix(trace), trace.system.nv
    columns = [differentiate([*C.ravel()], {x: 1.0}) for x in trace.v]
    rest = dict.fromkeys(trace.v, 0.0)  # C is linear in v
    every = substituted([each for column in columns for each in column], rest)
    return np.moveaxis(np.array(every, dtype=object).reshape(nv, nv, nv), 0, -1)


def inertial_regressor(trace: Trace, vdot: Any) -> Any:
    """Return Y with M vdot + b = Y pi, (nv, 10 bodies)."""
    from mbkit.kernels.derivatives.inertial_regressor import inertial_regressor

    size = trace.system.nv, 10 * (len(trace.system.body_names) - 1)
    return trace.call(inertial_regressor, size[0] * size[1], trace.v, vdot).reshape(size)


def energies(trace: Trace, v: Any = None) -> dict[str, Any]:
    """Return T, and U with the potentials of the forces."""
    from mbkit.kernels.recursions.energy import energies

    found = trace.call(energies, 2, v)
    return {"kinetic": found[:1], "potential": found[1:] + sum(force_potentials(trace), 0.0)}


def force_potentials(trace: Trace) -> Any:
    """Return the potential energy of each force, (forces,)."""
    from mbkit.kernels.forces.force_pass import force_potentials

    time = np.array([trace.t], dtype=object)
    count = len(trace.system.forces)
    return trace.call(force_potentials, count, x=time) if count else np.zeros(0, dtype=object)


def force_powers(trace: Trace) -> Any:
    """Return the dissipated and supplied power of each force, (forces, 2)."""
    from mbkit.kernels.forces.force_pass import force_powers

    time = np.array([trace.t], dtype=object)
    count = len(trace.system.forces)
    made = trace.call(force_powers, 2 * count, trace.v, time) if count else np.zeros(0, object)
    return made.reshape(count, 2)
