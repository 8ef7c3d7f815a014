"""Checks that a motion satisfies the constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import broadcast, by_sample
from mbkit.systems.rank import LEFT

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["HOLDS", "check_motion", "largest_terms"]

#: What may be left of a constraint, in parts of the largest term of all.
HOLDS = LEFT

#: How much of the largest velocity or acceleration counts as a term, wherever it is: parts of a
#: mechanism that stand still are left with its rounding.
ELSEWHERE = 1e-4


def largest_terms(A: Floats, x: Floats) -> Floats:
    """Return the size of the largest terms of ``A x``, and of what rounding leaves of them, (...).

    Parameters
    ----------
    A, x : ndarray, shape (..., m, nv), (..., nv)
        Rows, and velocities or accelerations.
    """
    A, x = np.abs(A), np.abs(x)
    sums = (A @ x[..., None]).max(axis=(-2, -1), initial=0.0)
    elsewhere = A.max(axis=(-2, -1), initial=0.0) * x.max(axis=-1, initial=0.0)
    found: Floats = sums + ELSEWHERE * elsewhere
    return found


def check_motion(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike | None = None,
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> Any:
    """See `System.check_motion`."""
    given = broadcast(system, t, q=q, v=v, vdot=v if vdot is None else vdot)
    leading = given[-1].shape
    good = np.ones(leading, dtype=bool)
    if not system.num_velocity_constraints:
        return good
    checks = _motion_checks(system, *given, on_error=on_error)[: 2 if vdot is None else 3]

    def compute(index: tuple[int, ...]) -> None:
        for level, found, size, unit, remedy in checks:
            here = np.abs(found[index])
            limit = HOLDS * np.broadcast_to(size, leading)[index]
            good[index] &= bool((here <= limit).all())
            if not good[index]:
                worst = int(np.argmax(here))
                raise ConstraintError(
                    f"System '{system.name}': the motion does not satisfy the constraints: at "
                    f"{level} level '{_row_name(system, level, worst)}' is off by "
                    f"{here[worst]:.3g} {unit}. Make it fit by System.{remedy}."
                )

    by_sample(leading, on_error, compute)
    return good


def _motion_checks(
    system: System, q: Floats, v: Floats, vdot: Floats, t: Floats, *, on_error: str
) -> list[tuple[str, Floats, Any, str, str]]:
    """Return by level: its name, what is left of the rows, of what size terms, unit, remedy."""
    A = system.constraint_jacobian(q, t, on_error=on_error)
    zero, length = np.zeros(system.nv), system.arrays.closure.length
    drift = np.abs(system.constraint_velocity(q, zero, t, on_error=on_error))
    speed = largest_terms(A, v) + drift.max(axis=-1)
    bias = np.abs(system.constraint_bias(q, v, t, on_error=on_error)).max(axis=-1)
    gain = largest_terms(A, vdot) + bias + speed**2 / length
    left = (
        system.constraint_residual(q, t, on_error=on_error),
        system.constraint_velocity(q, v, t, on_error=on_error),
        system.constraint_acceleration(q, v, vdot, t, on_error=on_error),
    )
    return [
        ("position", left[0], length, "m", "close_loops"),
        ("velocity", left[1], speed, "m/s", "dependent_velocity"),
        ("acceleration", left[2], gain, "m/s^2", "dependent_acceleration"),
    ]


def _row_name(system: System, level: str, row: int) -> str:
    closure = system.arrays.closure
    return (closure.position_row_names if level == "position" else closure.row_names)[row]
