"""Checks that a motion satisfies the constraints."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import broadcast, by_sample
from mbkit.systems.derivatives import Derivatives
from mbkit.systems.rank import LEFT

__all__ = ["HOLDS", "ConstrainedMotion", "largest_terms"]

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


@attrs.frozen(eq=False, slots=False, repr=False)
class ConstrainedMotion(Derivatives):
    """Checks of motions; see `System`."""

    def check_motion(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        on_error: str = "raise",
    ) -> Any:
        """Raise unless a motion satisfies the constraints.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        vdot : array_like, shape (..., nv), optional
            Acceleration; not looked at if left out.
        t : array_like, shape (...), default 0
            Time. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or is False in the result.

        Returns
        -------
        ndarray of bool, shape (...)
            Which samples do: velocities and accelerations to 4e-6 of the largest term, positions to
            1e-6 of the system's length.

        Raises
        ------
        ConstraintError
            If one does not; it names the constraint that is off most.
        """
        given = broadcast(self, t, q=q, v=v, vdot=v if vdot is None else vdot)
        leading = given[-1].shape
        good = np.ones(leading, dtype=bool)
        if not self.num_velocity_constraints:
            return good
        checks = self._motion_checks(*given, on_error=on_error)[: 2 if vdot is None else 3]

        def compute(index: tuple[int, ...]) -> None:
            for level, found, size, unit, remedy in checks:
                here = np.abs(found[index])
                limit = HOLDS * np.broadcast_to(size, leading)[index]
                good[index] &= bool((here <= limit).all())
                if not good[index]:
                    worst = int(np.argmax(here))
                    raise ConstraintError(
                        f"System '{self.name}': the motion does not satisfy the constraints: at "
                        f"{level} level '{self._row_name(level, worst)}' is off by "
                        f"{here[worst]:.3g} {unit}. Make it fit by System.{remedy}."
                    )

        by_sample(leading, on_error, compute)
        return good

    def _motion_checks(
        self, q: Floats, v: Floats, vdot: Floats, t: Floats, *, on_error: str
    ) -> list[tuple[str, Floats, Any, str, str]]:
        """Return by level: its name, what is left of the rows, of what size terms, unit, remedy."""
        A = self.constraint_jacobian(q, t, on_error=on_error)
        zero, length = np.zeros(self.nv), self.arrays.closure.length
        drift = np.abs(self.constraint_velocity(q, zero, t, on_error=on_error))
        speed = largest_terms(A, v) + drift.max(axis=-1)
        bias = np.abs(self.constraint_bias(q, v, t, on_error=on_error)).max(axis=-1)
        gain = largest_terms(A, vdot) + bias + speed**2 / length
        left = (
            self.constraint_residual(q, t, on_error=on_error),
            self.constraint_velocity(q, v, t, on_error=on_error),
            self.constraint_acceleration(q, v, vdot, t, on_error=on_error),
        )
        return [
            ("position", left[0], length, "m", "close_loops"),
            ("velocity", left[1], speed, "m/s", "dependent_velocity"),
            ("acceleration", left[2], gain, "m/s^2", "dependent_acceleration"),
        ]

    def _row_name(self, level: str, row: int) -> str:
        closure = self.arrays.closure
        return (closure.position_row_names if level == "position" else closure.row_names)[row]
