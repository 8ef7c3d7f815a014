"""Failures of implicit integrators and of those that choose their steps, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.errors import ConvergenceError
from mbkit.integrators.newton_record import Iterations

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared

__all__ = ["SMALLER", "unsolved", "what_helps"]

#: Entries of a residual that a message shows, and iterations.
SHOWN = 3
LAST = 5

#: What is left of a row without what others explain of it, by its size, where it depends on them.
DEPENDENT = 1e-9

#: Said where numbers grow, or equations cannot be solved; and before it of a method that has
#: Newton's matrix, where a function gives forces.
SMALLER = "A smaller h helps where the motion is sound."
UNDIFFERENTIATED = (
    "The function tau is not differentiated: where it is stiff give it as an mbkit.Force, whose "
    "derivatives Newton's method has. "
)


def unsolved(run: Prepared, code: int, index: int, t: float, taken: int) -> ConvergenceError:
    """Return the exception behind NOT_CONVERGED, SINGULAR_STEP or STEP_TOO_SMALL.

    The last complete step is number `taken` and ended at t.
    """
    from mbkit.kernels.status import IN_PARTS, SINGULAR_STEP, STEP_TOO_SMALL

    where = (
        f"The simulation stopped at t = {t:.9g} s, in step {taken + 1}: "
        f"{type(run.integrator).__name__}"
    )
    newton, record = run.problem.newton, None
    if newton is not None and (code, index) != (STEP_TOO_SMALL, IN_PARTS):
        solved = max(0, int(newton.count[0]) - (code == SINGULAR_STEP))
        names = (*run.system.velocity_names, *run.system.constraint_names)
        record = newton.iterations(solved, names)
    if code == STEP_TOO_SMALL:
        what = _too_small(run, index, t, record)
    else:
        assert record is not None  # who returns such a status has one
        what = _not_solved(run, t, record, index if code == SINGULAR_STEP else None)
    error = ConvergenceError(f"{where} {what}")
    error.iterations = record
    return error


def _not_solved(run: Prepared, t: float, record: Iterations, singular: int | None) -> str:
    """Say how the iteration went; `singular` is the column without a pivot."""
    name = "" if singular is None else _unknown(run, singular)
    if record.corrections.size == 0 and singular is not None:
        cause = _undetermined(run, singular, t)
        if cause:
            return f"has a singular matrix where the step begins, before any iteration: {cause}"
        return (
            f"has a singular matrix at {name}, before any iteration, where it expects the step to "
            f"end. {what_helps(run)}"
        )
    what = f"cannot solve the equations of the step; {_history(record)}"
    if singular is not None:
        what += f" There its matrix is singular, at {name}."
    return f"{what} {_largest(record)} {what_helps(run)}"


def _too_small(run: Prepared, index: int, t: float, record: Iterations | None) -> str:
    """Say why steps are too small, by the index in the status."""
    from mbkit.kernels.status import IN_PARTS, LARGEST_ERROR, TOO_MANY, UNSOLVED
    from mbkit.kernels.time_loops.starting import MOST_PARTS

    if index == TOO_MANY:
        advice = "Use a smaller h, or larger tolerances."
        if run.problem.newton is None:
            advice = (
                "The motion may be stiff, which asks for an implicit integrator, such as "
                "mbkit.GeneralizedAlpha(rtol=1e-5); else use a smaller h, or larger tolerances."
            )
        return (
            f"has taken 100000 steps to keep its tolerance, and has not reached "
            f"t = {t + run.problem.h:.9g} s. {advice}"
        )
    if index == IN_PARTS:
        return (
            f"cannot start: its first steps are those of an explicit method, and what comes out in "
            f"{MOST_PARTS // 2} and in {MOST_PARTS} parts of the step does not agree. The motion "
            f"may be singular or discontinuous there, or have rates above some 6e4 by h; use a "
            f"smaller h, or mbkit.GeneralizedAlpha() or mbkit.BLieDF(1), which do not start so."
        )
    needs = "would need steps below the resolution of t"
    look = "The motion may be singular or discontinuous there; look at it"
    if index == UNSOLVED:
        assert record is not None
        return (
            f"{needs}: the equations of the smallest ones cannot be solved either. In the last, "
            f"{_history(record)} {_largest(record)} {look}. {what_helps(run)}"
        )
    worst = ""
    if index >= LARGEST_ERROR:
        name = run.system.velocity_names[index - LARGEST_ERROR]
        worst = f"; the error of the last is the largest in '{name}'"
    return f"{needs} to keep its tolerance{worst}. {look}, or use larger tolerances."


def _history(record: Iterations) -> str:
    """Return the last corrections and residuals."""
    count = record.corrections.size
    corrections, residuals = (
        ", ".join(f"{size:.1e}" for size in sizes[-LAST:])
        for sizes in (record.corrections, record.residuals)
    )
    return (
        f"after {count} iterations of Newton's method the corrections, by the tolerance, are "
        f"{corrections}, and the largest residuals before them {residuals}."
    )


def _largest(record: Iterations) -> str:
    """Return the largest entries of the last residual, by name."""

    def size(entry: tuple[str, float]) -> float:
        return abs(float(np.nan_to_num(entry[1], nan=np.inf)))

    entries = sorted(record.residual.items(), key=size, reverse=True)[:SHOWN]
    shown = ", ".join(f"'{name}' {value:.3g}" for name, value in entries)
    return f"Largest residuals: {shown}."


def what_helps(run: Prepared) -> str:
    """Return the advice where an implicit method fails."""
    return (UNDIFFERENTIATED if run.force is not None else "") + SMALLER


def _unknown(run: Prepared, column: int) -> str:
    """Return the velocity or the row of a constraint that a column of Newton's matrix is of."""
    nv, rows = run.problem.nv, run.system.constraint_names
    if column < nv:
        return f"velocity '{run.system.velocity_names[column]}'"
    return f"constraint row '{rows[(column - nv) % len(rows)]}'"


def _undetermined(run: Prepared, column: int, t: float) -> str:
    """Describe the fault of a column of Newton's matrix where the step begins; empty if nothing.

    A velocity without inertia of its own, or a row of the constraints that others imply.
    """
    nv, q, system = run.problem.nv, run.problem.q, run.system
    if column < nv:
        matrix, k = system.mass_matrix(q), column
    else:
        matrix = system.constraint_jacobian(q, t)
        k = (column - nv) % len(matrix)
    if not _depends(matrix, k):
        return ""
    if column < nv:
        return (
            f"{_unknown(run, column)} is not determined there, by itself or beside others; a body "
            f"can move without inertia. Give bodies inertia where they can move."
        )
    return (
        f"{_unknown(run, column)} depends on others there. Leave the constraint out, or start "
        f"where it does not."
    )


def _depends(matrix: Any, k: int) -> bool:
    """Whether a row is zero, or a sum of the others."""
    row, others = matrix[k], np.delete(matrix, k, axis=0)
    parts = np.linalg.lstsq(others.T, row)[0]
    left = np.abs(row - parts @ others).max()
    return bool(left <= DEPENDENT * np.abs(matrix).max(initial=0.0))
