"""Rows of constraints that depend on others: a warning, or an error where they contradict them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, RedundantConstraintsWarning
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.rank import LEFT

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["check_dependent", "warn_of_redundant"]

#: Terms below this are rounding. [m/s^2]
_SMALLEST = 1e-3


def check_dependent(system: System, q: ArrayLike, v: ArrayLike, vdot: Floats, t: ArrayLike) -> None:
    """Raise ConstraintError where the rows that depend on others contradict them."""
    if system.motions:
        q, v, _ = system.prescribed_rows(t, q, v)
    left = np.abs(system.constraint_acceleration(q, v, vdot, t))
    size = system.constraint_sizes(q, vdot, t) + np.abs(system.constraint_bias(q, v, t))
    # at rest under load constraints take gravity away: what is left of that is rounding, too
    fall = float(np.linalg.norm(system.arrays.bodies[0]["gravity"]))
    off = left > LEFT * np.maximum(size.max(axis=-1, keepdims=True), _SMALLEST + fall)
    if off.any():
        place = np.unravel_index(int(np.argmax(left * off)), left.shape)
        sample = f" in sample {tuple(map(int, place[:-1]))}" if place[:-1] else ""
        raise ConstraintError(
            f"System '{system.name}': its constraints contradict each other{sample}: no "
            f"acceleration satisfies '{system.constraint_names[place[-1]]}' beside the others, "
            f"{left[place]:.3g} m/s^2 are left. Drop one of them, or give a velocity that the "
            f"constraints allow: system.close_loops(q, v)."
        )


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
