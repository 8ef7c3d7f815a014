"""Convergence of Newton's iteration in the last step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np


@attrs.frozen(eq=False)
class Iterations:
    """How Newton's method went in a step that failed: `mbkit.ConvergenceError.iterations`."""

    # (k,): of each iteration, the size of the change of the step, relative to the tolerance; none
    # where the first matrix was singular already
    corrections: Any
    residuals: Any  # (k,): the largest entry of the residual before each of them
    # all entries before the last of them: residuals of the equations of motion by velocity, and
    # of the constraints by row, each in the scale in which the integrator solves them
    residual: dict[str, float]


@attrs.frozen(eq=False)
class Newton:
    """The record of the last iteration of an implicit integrator.

    Attributes
    ----------
    history : ndarray, shape (most, 2)
        Of each iteration: the size of the change of the step, relative to the tolerance, and the
        largest entry of the residual.
    residual : ndarray, shape (nv + m,)
        The residuals of the equations of motion, by velocity, and then of the constraints, by row
        of velocity level: each in the scale in which the integrator solves them.
    count : ndarray of int, shape (1,)
        How many iterations there were.
    total : ndarray of int, shape (2,)
        How many there were since the start, and how often the matrix was factorised.
    """

    history: Any
    residual: Any
    count: Any
    total: Any

    @classmethod
    def empty(cls, most: int, size: int, before: Newton | None = None) -> Newton:
        """Return the record of an iteration that has not begun; its counts go on from `before`."""
        total = np.zeros(2, np.int64) if before is None else before.total
        return cls(np.zeros((most, 2)), np.zeros(size), np.zeros(1, np.int64), total)

    def iterations(self, solved: int, names: Iterable[str]) -> Iterations:
        """Return a copy of the record of the first `solved` iterations, for an exception.

        Their matrices were not singular; `names` are those of the velocities and of the constraint
        rows.
        """
        corrections, residuals = self.history[:solved].T.copy()
        last = map(float, self.residual) if solved else ()
        return Iterations(corrections, residuals, dict(zip(names, last, strict=False)))
