"""Kinds of coordinates that the steps of joints are, seen from their differential."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from mbkit.integrators.integrator import Problem

__all__ = ["angular_entries", "other_charts"]

#: Rounding of a differential, with steps of size one.
TOLERANCE = 1e-9


def other_charts(problem: Problem) -> Any:
    """Return 1 for tangent entries of joints whose `retract` is no exponential, else 0.

    A retraction is the exponential where q exp(t x) moves with constant rates: where
    ``dexp_inv(x, x) = x`` for all x. Where coordinates add, they are their exponential. Those of
    planar joints are not (decision 0013).
    """
    other = np.zeros(problem.ndx)
    for entries in _groups(problem):
        straight = (_dexp_inv(problem, x, x) - x for x in _probes(problem.ndx)[:2])
        if max(np.abs(missed[entries]).max() for missed in straight) > TOLERANCE:
            other[entries] = 1.0
    return other


def angular_entries(problem: Problem) -> Any:
    """Return 1 for tangent entries that turn a joint on a group, whose steps end at 2 pi, else 0.

    The bracket of such an entry with the others has an eigenvalue that is not zero.
    """
    angular = np.zeros(problem.ndx)
    for entries in _groups(problem):
        for k in entries:
            bracket = _bracket(problem, k, entries)
            angular[k] = np.abs(np.linalg.eigvals(bracket)).max() > 1e-3
    return angular


def _groups(problem: Problem) -> list[Any]:
    """Return the numbers of the entries of each joint's step, where coordinates do not add."""
    from mbkit.kernels.calls.integration_steps import rows_of_steps

    rows = np.zeros(problem.ndx, dtype=np.int64)
    rows_of_steps(problem.space, rows)
    x, _, w = _probes(problem.ndx)
    bent = np.abs(_dexp_inv(problem, x, w) - w) > TOLERANCE
    return [np.flatnonzero(rows == row) for row in np.unique(rows[bent])]


@functools.cache  # 15 us
def _probes(ndx: int) -> Any:
    """Return three steps, which nobody writes to."""
    return np.random.default_rng(0).uniform(-0.7, 0.7, (3, ndx))


def _dexp_inv(problem: Problem, x: Any, w: Any) -> Any:
    out = np.zeros_like(x)
    problem.dexp_inv(x, w.copy(), out)
    return out


def _bracket(problem: Problem, k: int, entries: Any) -> Any:
    """Return the matrix of [e_k, .] among the entries of one joint: the odd part of dexp_inv."""
    e = np.eye(problem.ndx)
    columns = [_dexp_inv(problem, e[k], e[j]) - _dexp_inv(problem, -e[k], e[j]) for j in entries]
    return np.array(columns).T[entries]
