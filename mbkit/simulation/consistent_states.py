"""Consistent states of closed mechanisms, at the start and after an event."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.closed_loops.consistent_velocity import velocity_near
from mbkit.closed_loops.loop_equations import checked_fixed, closing_advice
from mbkit.errors import ConstraintError, UsageError
from mbkit.integrators import Integrator
from mbkit.systems import System
from mbkit.systems.rank import LEFT

__all__ = ["check_constraints", "check_joints", "closed_again", "is_closed", "stays_closed"]

#: How far from closed an initial state may be, relative to the length of the system; smaller errors
#: are removed before the first step.
_TOLERANCE = 1e-6


def check_joints(system: System, integrator: Integrator) -> None:
    """Raise where an integrator is given joints that it does not take."""
    if integrator.takes_nonholonomic_joints or system.ndx == system.nv:
        return
    rolling = [
        name
        for name in system.joint_names
        if system.tangent_slice(name) != system.velocity_slice(name)
    ]
    raise UsageError(
        f"{type(integrator).__name__} does not take joints with fewer velocities than directions, "
        f"and system '{system.name}' has {rolling[0]!r}; use mbkit.RungeKuttaMuntheKaas(), or "
        f"model the rolling as a constraint, such as mbkit.RollingDisc."
    )


def check_constraints(system: System, integrator: Integrator, t: float, q: Any, v: Any) -> None:
    """Raise where an initial state does not satisfy the constraints, or nobody would keep them."""
    closure = system.arrays.closure
    if not closure:
        return
    if not integrator.takes_constraints:
        raise UsageError(
            f"{type(integrator).__name__} does not take closed mechanisms, and system "
            f"'{system.name}' has constraints by {', '.join(map(repr, closure.names))}; use for "
            f"example mbkit.RungeKuttaMuntheKaas(), or let it ask Problem.close at the end of its "
            f"steps, and say takes_constraints = True."
        )
    at = f", t={t!r}" if t or system.motions else ""
    if not is_closed(system, t, q):
        g = np.abs(system.constraint_residual(q, t))
        name = closure.position_row_names[int(np.argmax(g))]
        raise ConstraintError(
            f"The initial q leaves loops open: '{name}' by {g.max():.3g} m, where "
            f"angles count by {closure.length:.3g} m. {closing_advice(system, q, t, at)}; or give "
            f"joints by name, q={{'joint': value}}, and the others follow{_or_of_joints(system)}."
        )
    if not stays_closed(system, t, q, v):
        rate = np.abs(system.constraint_velocity(q, v, t))
        row = int(np.argmax(rate))
        remedy = (
            f"system.close_loops(q, numpy.zeros(system.nv){at})[1]"
            if system.motions
            else f"system.consistent_velocity({{'joint': rate}}, q{at})"
        )
        raise ConstraintError(
            f"The initial v opens loops: '{closure.row_names[row]}' at {rate[row]:.3g} m/s, "
            f"where angles count by {closure.length:.3g} m. Give velocities that go together: "
            f"v = {remedy}{_or_of_joints(system)}."
        )


def is_closed(system: System, t: float, q: Any) -> bool:
    """Whether the loops are as closed at q (..., nq) as `check_constraints` requires."""
    if not system.arrays.closure:
        return True
    g = np.abs(system.constraint_residual(q, t, on_error="nan"))
    return bool(g.max(initial=0.0) <= _TOLERANCE * system.arrays.closure.length)


def stays_closed(system: System, t: float, q: Any, v: Any) -> bool:
    """Whether v (..., nv) opens the loops no faster than `check_constraints` allows."""
    if not system.arrays.closure:
        return True
    rate = np.abs(system.constraint_velocity(q, v, t))
    speed = system.constraint_sizes(q, v, t)
    largest = speed.max(axis=-1, initial=system.arrays.closure.length, keepdims=True)
    return bool((rate <= LEFT * largest).all())


def _or_of_joints(system: System) -> str:
    """Return a further remedy: in absolute coordinates loops are open if joints are not given."""
    if not system.free_joints:
        return ""
    return (
        ", or begin with a state by the joints: q, v = system.state_of(relative, q, v), with the "
        "mechanism in mbkit.RelativeCoordinates() and its q and v"
    )


def closed_again(system: System, t: float, before: Any, q: Any, v: Any, event: str) -> Any:
    """Return q and v after the reset of an event, such that v opens no loop.

    It differs least from the given one, by kinetic energy; prescribed joints have their own.
    Raises ConstraintError where q opens loops that were closed before.
    """
    closure = system.arrays.closure
    if not closure:
        return q, v
    q, v, _ = system.prescribed_state(t, q, v)
    g = np.abs(system.constraint_residual(q, t))
    opened = g - np.abs(system.constraint_residual(before, t))  # a run may let loops drift
    if opened.size and not opened.max() <= _TOLERANCE * closure.length:
        row = int(np.argmax(opened))
        raise ConstraintError(
            f"Event '{event}': its reset at t = {t:.9g} s opens loops, "
            f"'{closure.position_row_names[row]}' by {g[row]:.3g} m, where angles "
            f"count by {closure.length:.3g} m. Let it close them: q = system.close_loops(q, t=t)."
        )
    who = f"Event '{event}': after its reset at t = {t:.9g} s"
    return q, velocity_near(system, q, v, checked_fixed(system, (), who), t, who)
