"""Motions that grow without bounds, as those of explicit methods do in steps that are too large."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import MbkitError, NotFiniteError
from mbkit.integrators import BLieDF
from mbkit.simulation.stepping.failure_messages import SMALLER, what_helps
from mbkit.systems import EquationsOfMotion
from mbkit.systems.rank import singular_values

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared

__all__ = ["MOST", "fastest_rate", "grown_without_bounds"]

#: Radians, or metres, in one step beyond which nothing is a motion any more.
GROWN = 1e3

#: Velocities up to which the fastest rate is looked for: eigenvalues take their third power.
MOST = 500

#: Explicit methods follow a rate r for h r up to some 2 to 3, by the method.
EXPLICIT = 2.5


def grown_without_bounds(run: Prepared, t: float, taken: int) -> NotFiniteError | None:
    """Return the error of a run that has grown without bounds before it failed; None if not so.

    Then whatever failed is a consequence: a mass matrix that is singular in its digits, a loop that
    does not close. t [s] and the number `taken` are of the last complete step.
    """
    problem = run.problem
    speeds = np.abs(np.stack([problem.v, problem.v_stage]))
    speeds[~np.isfinite(speeds)] = 0.0
    speed = speeds.max(axis=0)
    if not problem.h * speed.max(initial=0.0) > GROWN:
        return None
    name = run.system.velocity_names[int(np.argmax(speed))]
    said = (
        f"The simulation stopped at t = {t:.9g} s, in step {taken + 1}: the motion grows without "
        f"bounds, the velocity of '{name}' to {speed.max():.1e}. Steps of h = {problem.h:.9g} s "
        f"are too large for {type(run.integrator).__name__}, or the forces supply energy."
    )
    return NotFiniteError(said + _what_explicit_methods_need(run))


def _what_explicit_methods_need(run: Prepared) -> str:
    """Say which h an explicit method needs, or the explicit start of one that is not."""
    from mbkit.kernels.time_loops.starting import MOST_PARTS

    h, rate = run.problem.h, _rate_at_start(run)
    implicit = run.problem.newton is not None
    advice = f" {what_helps(run)}" if implicit else ""
    if rate is None:
        return advice
    fastest = (
        f" At the start the fastest part of the system, a stiff spring or a damper say, moves at a "
        f"rate of {rate:.4g} 1/s; "
    )
    if not implicit and h * rate > EXPLICIT:
        return (
            f"{fastest}explicit methods need h below about {EXPLICIT:g} over it, "
            f"{min(EXPLICIT / rate, 0.5 * h):.2g} s, however slow the rest is. "
            f"mbkit.GeneralizedAlpha() and mbkit.BLieDF() do not."
        )
    if not implicit:  # methods of low order follow less, and rates grow with the motion
        return f"{fastest}h times it is {h * rate:.2g}. {SMALLER}"
    starts = isinstance(run.integrator, BLieDF) and run.integrator.steps > 1
    if starts and h * rate > MOST_PARTS:
        return (
            f"{fastest}the first steps of BLieDF are those of an explicit method, in {MOST_PARTS} "
            f"parts at most, and need h below about {MOST_PARTS / rate:.2g} s. "
            f"mbkit.GeneralizedAlpha() and mbkit.BLieDF(1) do not."
        )
    return advice


def _rate_at_start(run: Prepared) -> float | None:
    if run.start is None or run.system.nv > MOST:
        return None
    try:
        return fastest_rate(run.system, run.problem.t0, *run.start)
    except (MbkitError, np.linalg.LinAlgError):
        return None  # the message does without it


def fastest_rate(
    system: EquationsOfMotion, t: float, q: Any, v: Any, tau: Callable[..., Any] | None = None
) -> float:
    """Return the largest rate of small motions about a state, the modulus of an eigenvalue [1/s].

    Of the equations of motion with the forces of the system, where there are constraints of the
    motions that these allow. Efforts ``tau(t, q, v)`` (nv,) of a run are differentiated by
    differences.

    Examples
    --------
    A mass of 1 kg on a spring of 400 N/m swings with 20 rad/s.

    >>> import mbkit as mb
    >>> mech = mb.Mechanism("on a spring")
    >>> ball = mech.add_body(mb.Body("ball", mb.SpatialInertia.sphere(1.0, radius=0.1)))
    >>> joint = mech.add_joint(mb.PrismaticJoint("rail"), mech.world, ball)
    >>> spring = mech.add_force(mb.JointSpring("spring", "rail", stiffness=400.0))
    >>> round(fastest_rate(mech.assemble(), 0.0, np.zeros(1), np.zeros(1)), 9)
    20.0
    """
    vdot = np.zeros(system.nv)
    A = system.constraint_jacobian(q, t)
    _, sizes, rows = singular_values(A) if A.size else (None, np.zeros(0), np.eye(system.nv))
    N = rows[int((sizes > 1e-9 * sizes.max(initial=1.0)).sum()) :].T  # motions allowed
    K, C = system.inverse_dynamics_derivatives(q, v, vdot, t=t)
    if tau is not None:
        by_q, by_v = _changes(system, tau, t, q, v)
        K, C = K - by_q, C - by_v
    steps = np.column_stack([system.rates(q, each) for each in N.T])
    M = N.T @ system.mass_matrix(q) @ N
    stiffness = np.linalg.solve(M, N.T @ K @ steps)
    damping = np.linalg.solve(M, N.T @ C @ N)
    n = len(M)
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [-stiffness, -damping]])
    return float(np.abs(np.linalg.eigvals(matrix)).max(initial=0.0))


def _changes(
    system: EquationsOfMotion, tau: Callable[..., Any], t: float, q: Any, v: Any
) -> tuple[Any, Any]:
    """Return the derivatives of efforts by steps of q (nv, ndx) and by v (nv, nv), to 1e-7."""
    here, eps = np.array(tau(t, q, v)), 1e-7
    moved = (system.retract(q, eps * step) for step in np.eye(system.ndx))
    by_q = [(np.array(tau(t, each, v)) - here) / eps for each in moved]
    by_v = [(np.array(tau(t, q, v + eps * step)) - here) / eps for step in np.eye(system.nv)]
    return np.reshape(by_q, (-1, here.size)).T, np.reshape(by_v, (-1, here.size)).T
