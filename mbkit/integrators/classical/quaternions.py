"""The quaternions among the positions of a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.integrators.classical.python_steps import StepFailed

if TYPE_CHECKING:
    from mbkit.integrators.integrator import Problem


class Quaternions:
    """Where quaternions stand in q, and operations on all of them at once.

    Parameters
    ----------
    first : sequence of int
        Where they begin.

    Attributes
    ----------
    entries : ndarray of int, shape (m, 4)
        Where they stand.

    Examples
    --------
    >>> q = np.zeros(5)
    >>> Quaternions([1]).normalised(np.array([7.0, 0.0, 2.0, 0.0, 0.0]), q)
    array([2.])
    >>> q
    array([7., 0., 1., 0., 0.])
    """

    def __init__(self, first: Sequence[int]) -> None:
        self.entries = np.array(first, dtype=np.intp)[:, None] + np.arange(4)

    def normalised(self, q: Any, out: Any) -> Any:
        """Write q with quaternions of length one to out, and return the lengths they had, (m,)."""
        out[:] = q
        Q = q[self.entries]
        lengths = np.sqrt(np.einsum("mi,mi->m", Q, Q))
        out[self.entries] = Q / lengths[:, None]
        return lengths

    def principal(self, problem: Problem, q: Any) -> None:
        """Write other positions as a step leaves them, in place: rotation vectors to half a turn.

        Their rates are singular at a whole turn, as those of angles are at gimbal lock. Raises
        `StepFailed` where q is refused.
        """
        moved = np.empty(q.size)
        status = problem.retract(q, np.zeros(problem.ndx), moved)
        if status != 0:
            raise StepFailed(status)
        moved[self.entries] = q[self.entries]
        q[:] = moved

    def scale(self, q: Any, lengths: Any) -> None:
        """Multiply the quaternions' entries, or their rates, in place."""
        q[self.entries] *= lengths[:, None]
