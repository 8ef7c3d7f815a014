"""Mechanisms that cannot move, and velocities that they cannot have."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.diagnosis.cycles import cycles
from mbkit.errors import ConstraintError, MbkitError, listed
from mbkit.systems import System
from mbkit.systems.calls.entries import velocity_sizes
from mbkit.systems.rank import largest_row, rank_of

#: How much of the largest velocity may be taken from a given one that satisfies the constraints but
#: for the errors that a run accepts.
_TAKEN = 1e-3
#: Times at which constraints are looked at that may be functions of it; names that are listed; the
#: most entries of A that are looked at for them.
_TIMES, _NAMES, _MOST = 17, 8, 1_000_000


def check_velocity_kept(system: System, q: Any, given: Any, v: Any, t: float) -> None:
    """Raise ConstraintError where closing the loops has taken a velocity away, v being left."""
    if system.motions:
        given = system.prescribed_state(t, q, given)[1]
    if not loses_velocity(system, q, v, given):
        return
    worst = int(np.argmax(np.abs(v - given) * velocity_sizes(system, q)))
    rate = np.abs(system.constraint_velocity(q, given, t))
    row = system.constraint_names[int(np.argmax(rate))]
    raise ConstraintError(
        f"The initial v cannot be: '{system.velocity_names[worst]}' is given {given[worst]:.9g}, "
        f"and the constraints leave {v[worst]:.9g} of it. '{row}' opens at no more than "
        f"{rate.max():.3g} m/s with the given v, but is independent of the others: axes or points "
        f"miss by little what would let the mechanism move. Place them exactly, or give a v that "
        f"it can have: system.consistent_velocity; print(system.diagnose(q)) says what moves."
    )


def loses_velocity(system: System, q: Any, v: Any, given: Any) -> Any:
    """Return of which states (...) a part of the given velocity is gone, v being left."""
    sizes = velocity_sizes(system, q)
    change = np.abs(v - given) * sizes
    taken = _TAKEN * np.abs(given * sizes).max(axis=-1, initial=0.0)
    return change.max(axis=-1, initial=0.0) > taken


def locked(system: System, t_span: tuple[float, float], q: Any, kept: Any) -> str:
    """Return that a mechanism cannot move, and the joints that hold it, as text; "" where it can.

    It is closed at q (nq,), where a run starts; `kept` marks the rows that count there, as the
    dynamics have found.
    """
    if system.prescribed_joints or not system.nv or kept.sum() < system.nv:
        return ""
    if system.nv * kept.size > _MOST:
        return _text(system, "")
    A = system.constraint_jacobian(q, t_span[0]) / velocity_sizes(system, q)
    if rank_of(A) < system.nv or _is_driven(system, t_span, q):
        return ""
    return _text(system, f" It is held by {holders(system, A)}.")


def _text(system: System, held: str) -> str:
    return (
        f"System '{system.name}': the mechanism cannot move. At the start its constraints have "
        f"rank {system.nv}, as many as it has velocities: its mobility is 0, and it stays at rest "
        f"whatever acts on it.{held} If it shall move, look for axes that miss a common direction "
        f"or point, or take joints that leave more free; print(system.diagnose(q)) says more."
    )


def _is_driven(system: System, t_span: tuple[float, float], q: Any) -> bool:
    """Whether a constraint moves with time."""
    if not system.arrays.closure.objects:
        return False
    try:
        times = np.linspace(*t_span, _TIMES)
        rest = np.zeros((_TIMES, system.nv))
        there = np.broadcast_to(q, (_TIMES, system.nq))
        g = system.constraint_residual(there, times)
        rate = system.constraint_velocity(there, rest, times)
    except MbkitError:  # such as a table that ends; the run will raise it
        return True
    return bool(np.ptp(g, axis=0).any() or np.any(rate))


def holders(system: System, A: Any) -> str:
    """Return in words which constraints it would move without; all where it has more than enough.

    A has the rows at the start, along velocities that are made comparable.
    """
    closure = system.arrays.closure
    names, holding, largest = closure.names, [], largest_row(A)
    for name, each in zip(names, closure.constraints, strict=True):
        first = int(each["first_row"])
        others = np.delete(A, np.s_[first : first + int(each["num_rows"])], axis=0)
        if rank_of(others, largest) < system.nv:
            holding.append(name)
    told = holding or list(names)
    loops = [joints for joints in cycles(system) if not set(joints).isdisjoint(told)]
    alone = [name for name in told if not any(name in joints for joints in loops)]
    parts = [f"the loop of {listed(joints)}" for joints in loops] + list(map(repr, alone))
    more = f" and {len(parts) - _NAMES} more" if len(parts) > _NAMES else ""
    twice = "" if holding else ", by more than it takes"
    return f"{', '.join(parts[:_NAMES])}{more}{twice}"
