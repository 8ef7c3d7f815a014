"""Why a step of a run failed: from a status to an exception that says it in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbkit.errors import ConvergenceError, MbkitError, NotFiniteError
from mbkit.simulation.endings import FAILED
from mbkit.simulation.growth import grown_without_bounds
from mbkit.systems.callbacks import taken_error
from mbkit.systems.failures import failure

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared

__all__ = ["explain"]

#: Entries of a residual that a message shows, and iterations.
SHOWN = 3
LAST = 5


def explain(run: Prepared, status: int, taken: int) -> BaseException:
    """Return the exception behind a status: of a force, a joint, an event, or of the numbers."""
    from mbkit.kernels.status import (
        CALLBACK_FAILED,
        EVENT_FAILED,
        MOTION_FAILED,
        NOT_CONVERGED,
        SINGULAR_STEP,
        STEP_TOO_SMALL,
        unpack,
    )

    problem, course = run.problem, run.course
    t = problem.t0 + taken * problem.h
    code, index = (FAILED, 0) if status == FAILED else unpack(status)
    if code in (NOT_CONVERGED, SINGULAR_STEP, STEP_TOO_SMALL):
        return _unsolved(run, code, index, t, taken)
    if code == FAILED:
        error = course.error or problem.error
        assert error is not None
        return error
    if code == EVENT_FAILED:
        assert course.watch is not None
        if index == len(course.events):
            return taken_error(course.watch)
        name = course.events[index].name
        return NotFiniteError(f"Event '{name}' is not finite in the step from t = {t:.9g} s.")
    if code == MOTION_FAILED:
        assert run.drive is not None
        return taken_error(run.drive)
    if run.force is not None and code == CALLBACK_FAILED:
        error = taken_error(run.force)
        error.add_note(f"Raised by the forces tau(t, q, v), in the step from t = {t:.9g} s.")
    else:
        values = {
            "t": t, "q": problem.q_stage, "v": problem.v_stage, "tau": run.workspace.tau
        }  # fmt: skip
        error = failure(run.system.evaluator, status, run.workspace, values)
    grown = grown_without_bounds(run, t, taken) if isinstance(error, MbkitError) else None
    if grown is not None:
        grown.__cause__ = error
        return grown
    if isinstance(error, NotFiniteError):
        error = NotFiniteError(
            f"The simulation stopped at t = {t:.9g} s, in step {taken + 1}: {error} A smaller h "
            f"helps where the motion is sound."
        )
    return error


def _unsolved(run: Prepared, code: int, index: int, t: float, taken: int) -> ConvergenceError:
    """Return what an implicit integrator, or one that chooses its steps, could not do."""
    from mbkit.kernels.status import NOT_CONVERGED, STEP_TOO_SMALL

    method, problem = type(run.integrator).__name__, run.problem
    where = f"The simulation stopped at t = {t:.9g} s, in step {taken + 1}: {method}"
    if code == STEP_TOO_SMALL and index == 1:
        advice = "Use a smaller h, or larger tolerances."
        if problem.newton is None:
            advice = (
                "The motion may be stiff, which asks for an implicit integrator; else use a "
                "smaller h, or larger tolerances."
            )
        return ConvergenceError(
            f"{where} has taken 100000 steps to keep its tolerance, and has not reached "
            f"t = {t + problem.h:.9g} s. {advice}"
        )
    if code == STEP_TOO_SMALL:
        return ConvergenceError(
            f"{where} would need steps below the resolution of t to keep its tolerance. The motion "
            f"may be singular or discontinuous there; look at it, or use larger tolerances."
        )
    assert problem.newton is not None  # who returns such a status has one
    count = int(problem.newton.count[0])
    if code != NOT_CONVERGED and count <= 1:
        return ConvergenceError(
            f"{where} has a singular matrix where the step begins: {_undetermined(run, index)}"
        )
    solved = count if code == NOT_CONVERGED else count - 1
    sizes = problem.newton.history[max(0, solved - LAST) : solved, 0]
    shrinking = ", ".join(f"{size:.1e}" for size in sizes)
    what = (
        f"cannot solve the equations of the step; after {solved} iterations of Newton's method the "
        f"corrections, by the tolerance, are {shrinking}."
    )
    if code != NOT_CONVERGED:
        what += f" There its matrix is singular, at '{_unknown(run, index)}'."
    return ConvergenceError(
        f"{where} {what} Largest residuals: {_largest(run)}. A smaller h helps where the motion is "
        f"sound."
    )


def _undetermined(run: Prepared, column: int) -> str:
    """Say what a column of Newton's matrix is of that depends on others; what to do about it."""
    name = _unknown(run, column)
    if column < run.problem.nv:
        return (
            f"velocity '{name}' is not determined there, by itself or beside those before it; a "
            f"body can move without inertia. Give bodies inertia where they can move."
        )
    return (
        f"constraint row '{name}' depends on others there, or holds what has no inertia. Leave the "
        f"constraint out, or start where it does not."
    )


def _unknown(run: Prepared, column: int) -> str:
    """Return the velocity or the row of a constraint that a column of Newton's matrix is of."""
    nv, rows = run.problem.nv, run.system.constraint_names
    if column < nv:
        return run.system.velocity_names[column]
    return rows[(column - nv) % len(rows)]


def _largest(run: Prepared) -> str:
    """Return the largest entries of the residual of Newton's method, by name."""
    assert run.problem.newton is not None
    residual = run.problem.newton.residual
    names = (*run.system.velocity_names, *run.system.constraint_names)
    order = np.argsort(-np.abs(np.nan_to_num(residual, nan=np.inf)))[:SHOWN]
    return ", ".join(f"'{names[k]}' {residual[k]:.3g}" for k in order if k < len(names))
