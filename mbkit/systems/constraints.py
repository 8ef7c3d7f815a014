"""Constraints of a system: residual, Jacobian, bias, and accelerations with their multipliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import check_kind
from mbkit.solvers import ConstraintSolver
from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.evaluations import (
    CONSTRAINT_JACOBIAN,
    CONSTRAINT_SIZES,
    CONSTRAINT_STATE,
    SOLVED_DYNAMICS,
    STORED_DYNAMICS,
    Evaluation,
)
from mbkit.systems.calls.wrenches import Wrenches, computed
from mbkit.systems.constraint_checks import check_certain, check_dependent, warn_of_redundant
from mbkit.systems.forces import applied, tell_of_missing_time

if TYPE_CHECKING:
    from mbkit.systems.system import System


def with_constraint_solver(system: System, solver: ConstraintSolver | None) -> System:
    """See `System.with_constraint_solver`."""
    kinds, words = (ConstraintSolver, type(None)), "an mbkit.ConstraintSolver"
    check_kind("A constraint solver", solver, kinds, words, "for example mbkit.MinimumNorm()")
    return system._with_solver(solver)


def constraint_jacobian(
    system: System, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.constraint_jacobian`."""
    if not system.arrays.closure:
        leading = system.evaluator.arguments.leading(t, on_error, q=q)
        return np.zeros((*leading, 0, system.nv))
    times = times_of(t, on_error)[..., None]
    return system.evaluator.compute(
        CONSTRAINT_JACOBIAN, q, system.evaluator.zero, times, on_error=on_error
    )


def constraint_sizes(system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> Floats:
    """See `System.constraint_sizes`."""
    if not system.arrays.closure:
        return np.zeros((*system.evaluator.arguments.leading(t, q=q, v=v), 0))
    times = times_of(t)[..., None]
    return system.evaluator.compute(CONSTRAINT_SIZES, q, v, times)


def constraint_parts(
    system: System,
    q: ArrayLike,
    v: ArrayLike | None,
    vdot: ArrayLike | None,
    t: ArrayLike,
    *,
    on_error: str,
    what: Evaluation = CONSTRAINT_STATE,
) -> tuple[Floats, Floats, Floats]:
    """Return g, A v, A vdot + dA/dt v."""
    zero = system.evaluator.zero
    v, vdot = zero if v is None else v, zero if vdot is None else vdot
    if not system.arrays.closure:
        axes = system.evaluator.arguments.leading(t, on_error, q=q, v=v, vdot=vdot)
        nothing = np.zeros((*axes, 0))
        return nothing, nothing, nothing
    given = q, v, system.evaluator.arguments.timed("vdot", vdot, t, on_error)
    found = system.evaluator.compute(what, *given, on_error=on_error)
    g, rate, bias = np.split(
        found, np.cumsum([system.num_position_constraints, system.num_velocity_constraints]), -1
    )
    return g.copy(), rate.copy(), bias.copy()


def constraint_residual(
    system: System, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.constraint_residual`."""
    return constraint_parts(system, q, None, None, t, on_error=on_error)[0]


def constraint_velocity(
    system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.constraint_velocity`."""
    return constraint_parts(system, q, v, None, t, on_error=on_error)[1]


def constraint_acceleration(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    t: ArrayLike = 0.0,
    *,
    on_error: str = "raise",
) -> Floats:
    """See `System.constraint_acceleration`."""
    return constraint_parts(system, q, v, vdot, t, on_error=on_error)[2]


def constraint_bias(
    system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.constraint_bias`."""
    return constraint_parts(system, q, v, None, t, on_error=on_error)[2]


def solve_dynamics(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike = 0.0,
    solver: ConstraintSolver | None = None,
    on_error: str = "raise",
) -> tuple[Floats, Floats]:
    """See `System.solve_dynamics`."""
    tell_of_missing_time(system, q, t)
    chosen = system if solver is None else system.with_constraint_solver(solver)
    vdot, multipliers, kept = chosen.solved(q, v, tau, wrenches, t=t, on_error=on_error)
    if on_error == "raise" and system.arrays.closure:
        check_certain(system, q, vdot, multipliers, t)
    if (kept == 0.0).any():
        if on_error == "raise":
            check_dependent(system, q, v, vdot, t)
        warn_of_redundant(system, q, kept)
    return vdot, multipliers


def solved(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    *,
    t: ArrayLike = 0.0,
    pull: tuple[float, float] = (0.0, 0.0),
    on_error: str = "raise",
) -> tuple[Floats, Floats, Floats]:
    """See `System.solved`."""
    given = q, v, tau, wrenches
    return solved_by(system, SOLVED_DYNAMICS, given, t=t, pull=pull, on_error=on_error)


def solved_by(
    system: System,
    what: Evaluation,
    given: tuple[ArrayLike, ArrayLike, ArrayLike | None, Wrenches | None],
    *,
    t: ArrayLike,
    pull: tuple[float, float],
    on_error: str,
) -> tuple[Floats, Floats, Floats]:
    """Return the results of `solved` for q, v, tau and wrenches, in lanes or one by one."""
    q, v, tau, wrenches = given
    if not system.arrays.closure:
        vdot = system.forward_dynamics(q, v, tau, wrenches, t=t, on_error=on_error)
        nothing = np.zeros((*vdot.shape[:-1], 0))
        return vdot, nothing, nothing
    if system.motions:
        return _solve_driven(system, q, v, tau, wrenches, t=t, pull=pull, on_error=on_error)
    x: Any = applied(system, q, v, tau, t, on_error)
    x = system.evaluator.arguments.timed("tau", x, t, on_error)
    pulled: Any = pull if x.ndim == 1 else np.broadcast_to(pull, (*x.shape[:-1], 2))
    x = np.concatenate([x, pulled], axis=-1)
    found = computed(system, what, q, v, x, wrenches=wrenches, on_error=on_error)
    nv, end = system.nv, system.nv + system.num_velocity_constraints
    return found[..., :nv].copy(), found[..., nv:end].copy(), found[..., end:]


def kept_rows(system: System, q: Floats, v: Floats, t: Floats) -> Floats:
    """Return 1.0 for each independent row of constraints, (N, m), with which forces have no part.

    Of states (N, nq), (N, nv) at times (N,).
    """
    still = np.zeros((len(q), system.nv))
    if system.motions:
        q, v, _ = system.prescribed_rows(t, q, v)
        known = system.known(still, still, system.prescribed_joints)
        return system.solve_hybrid(q, v, known, None, t=t, on_error="raise")[3]
    given = np.concatenate([still, t[:, None], np.zeros((len(q), 2))], axis=-1)
    found = computed(system, STORED_DYNAMICS, q, v, given, wrenches=None, on_error="raise")
    return found[:, system.nv + system.num_velocity_constraints :]


def _solve_driven(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    wrenches: Wrenches | None,
    *,
    t: ArrayLike,
    pull: tuple[float, float],
    on_error: str,
) -> tuple[Floats, Floats, Floats]:
    """Do the same where joints are prescribed."""
    q, v, vdot = system.prescribed_rows(t, q, v, on_error)
    tau = applied(system, q, v, tau, t, on_error)
    known = system.known(tau, vdot, system.prescribed_joints)
    vdot, _, multipliers, kept = system.solve_hybrid(
        q, v, known, wrenches, t=t, on_error=on_error, pull=pull
    )
    return vdot, multipliers, kept
