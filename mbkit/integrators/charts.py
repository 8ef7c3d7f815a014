"""What kind of coordinates the steps of a system's joints are, seen from their differential."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from mbkit.integrators.integrator import Problem

__all__ = ["Charts"]

#: Rounding of a differential, with steps of size one.
TOLERANCE = 1e-9


@attrs.frozen(eq=False)
class Charts:
    """The coordinates in which the joints of a system take their steps.

    Attributes
    ----------
    other : ndarray, shape (num_steps,)
        1 for entries of joints whose `retract` is no exponential, such as those of planar joints
        (decision 0013), else 0. Where coordinates add, they are their exponential.
    angular : ndarray, shape (num_steps,)
        1 for entries that turn a joint on a group, whose coordinates end at 2 pi, else 0.
    """

    other: Any
    angular: Any

    @classmethod
    def of(cls, problem: Problem) -> Charts:
        """Return the charts of a problem's joints.

        A retraction is the exponential where q exp(t x) moves with constant rates: where
        ``dexp_inv(x, x) = x`` for all x. An entry turns where its bracket with the others has an
        eigenvalue that is not zero.
        """
        found = cls(np.zeros(problem.num_steps), np.zeros(problem.num_steps))
        rng = np.random.default_rng(0)
        probes = [rng.uniform(-0.7, 0.7, problem.num_steps) for _ in range(3)]
        straight = [_dexp_inv(problem, x, x) - x for x in probes[:2]]
        bent = _dexp_inv(problem, probes[0], probes[2]) - probes[2]
        for entries in _joints(problem):
            if np.abs(bent[entries]).max() <= TOLERANCE:
                continue  # coordinates add
            if max(np.abs(missed[entries]).max() for missed in straight) > TOLERANCE:
                found.other[entries] = 1.0
            for k in entries:
                bracket = _bracket(problem, k, entries)
                found.angular[k] = np.abs(np.linalg.eigvals(bracket)).max() > 1e-3
        return found


def _joints(problem: Problem) -> Iterator[Any]:
    """Yield the numbers of the entries of each joint's step."""
    from mbkit.kernels.explicit.charts import rows_of_steps

    rows = np.zeros(problem.num_steps, dtype=np.int64)
    rows_of_steps(problem.space, rows)
    return (np.flatnonzero(rows == row) for row in np.unique(rows))


def _dexp_inv(problem: Problem, x: Any, w: Any) -> Any:
    out = np.zeros_like(x)
    problem.dexp_inv(x, w.copy(), out)
    return out


def _bracket(problem: Problem, k: int, entries: Any) -> Any:
    """Return the matrix of [e_k, .] among the entries of one joint: the odd part of dexp_inv."""
    e = np.eye(problem.num_steps)
    columns = [_dexp_inv(problem, e[k], e[j]) - _dexp_inv(problem, -e[k], e[j]) for j in entries]
    return np.array(columns).T[entries]
