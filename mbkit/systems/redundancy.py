"""Redundant constraint rows: a warning, or an error if they contradict others."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, RedundantConstraintsWarning
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import velocity_sizes
from mbkit.systems.rank import LEFT, Ranked, largest_row

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["check_dependent", "free_rows", "warn_of_redundant"]

#: Terms below this are rounding. [m/s^2]
_SMALLEST = 1e-3


def check_dependent(system: System, q: ArrayLike, v: ArrayLike, vdot: Floats, t: ArrayLike) -> None:
    """Raise ConstraintError if dependent rows are not satisfied.

    The message says whether rows contradict each other, or the solver has lost a row.
    """
    if system.motions:
        q, v, _ = system.prescribed_rows(t, q, v)
    signed = system.constraint_acceleration(q, v, vdot, t)
    left = np.abs(signed)
    size = system.constraint_sizes(q, vdot, t) + np.abs(system.constraint_bias(q, v, t))
    # at rest under load constraints take gravity away: what is left of that is rounding, too
    fall = float(np.linalg.norm(system.arrays.bodies[0]["gravity"]))
    limit = LEFT * np.maximum(size.max(axis=-1, keepdims=True), _SMALLEST + fall)
    off = left > limit
    if not off.any():
        return
    place = np.unravel_index(int(np.argmax(left * off)), left.shape)
    index = tuple(map(int, place[:-1]))
    sample = f" in sample {index}" if index else ""
    name = system.constraint_names[place[-1]]
    leading = left.shape[:-1]
    q = np.broadcast_to(q, (*leading, system.nq))[index]
    time = np.broadcast_to(t, leading)[index]
    if _solvable(system, q, signed[index], time, float(limit[index][0])):
        raise ConstraintError(
            f"System '{system.name}': its constraint solver{sample} leaves {left[place]:.3g} m/s^2 "
            f"in '{name}', though there are accelerations that satisfy all constraints: rows "
            f"depend nearly on each other, and one was taken for redundant. Solve with a smaller "
            f"tolerance: mb.NullSpace(tolerance=1e-8)."
        )
    raise ConstraintError(
        f"System '{system.name}': its constraints contradict each other{sample}: no "
        f"acceleration satisfies '{name}' beside the others, "
        f"{left[place]:.3g} m/s^2 are left. Drop one of them, or give a velocity that the "
        f"constraints allow: system.close_loops(q, v)."
    )


def free_rows(system: System, q: Any, t: Any) -> tuple[Floats, Any, Floats]:
    """Return A in metres of free velocities, which these are (nv,), and all of A, of one sample."""
    free = np.ones(system.nv, dtype=bool)
    for name in system.prescribed_joints:
        free[system.velocity_slice(name)] = False
    A = system.constraint_jacobian(q, t) / velocity_sizes(system, q)
    return A[:, free], free, A


def _solvable(system: System, q: Any, left: Floats, t: Any, limit: float) -> bool:
    """Return whether some accelerations satisfy all constraints, whatever the masses."""
    A, _, every = free_rows(system, q, t)
    change = Ranked.of(A, largest_row(every)).solve(-left)
    return float(np.abs(A @ change + left).max()) <= limit


def warn_of_redundant(system: System, kept: Floats) -> None:
    """Warn, once for the same rows, of those that are not among the kept ones in a sample."""
    lost = np.flatnonzero((kept.reshape(-1, kept.shape[-1]) == 0.0).any(axis=0))
    key = tuple(lost.tolist())
    if not key or key in system.evaluator.warned:
        return
    system.evaluator.warned.add(key)
    labels = system.constraint_names
    names = ", ".join(f"'{labels[row]}'" for row in lost[:12])
    more = f" and {len(lost) - 12} more" if len(lost) > 12 else ""
    warnings.warn(
        f"System '{system.name}' has {len(lost)} redundant constraints: {names}{more}. Motion "
        f"and what is unique among the reactions do not depend on it; multipliers are those of "
        f"least norm. See System.diagnose.",
        RedundantConstraintsWarning,
        stacklevel=4,  # of what called System.solve_dynamics, which calls the function of its name
    )
