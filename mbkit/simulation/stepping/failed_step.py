"""Failures of steps: from a status to an exception with a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbkit.errors import ConstraintError, ConvergenceError, MbkitError, NotFiniteError
from mbkit.simulation.monitors.growth import grown_without_bounds
from mbkit.simulation.stepping.chunks import FAILED
from mbkit.simulation.stepping.dead_points import at_dead_point
from mbkit.simulation.stepping.failure_messages import SMALLER, unsolved
from mbkit.systems.calls.failures import failure
from mbkit.systems.memory.callbacks import taken_error

if TYPE_CHECKING:
    from mbkit.simulation.preparation import Prepared


def explain(run: Prepared, status: int, taken: int) -> BaseException:
    """Return the exception behind a status: of a force, a joint, an event, or of the numbers.

    At a dead point the numbers are not the reason, and the message names the posture instead.
    """
    error = _explained(run, status, taken)
    if not isinstance(error, ConstraintError | ConvergenceError | NotFiniteError):
        return error
    posture = at_dead_point(run, run.problem.t0 + taken * run.problem.h, taken)
    if posture is None:
        return error
    posture.__cause__ = error
    return posture


def _explained(run: Prepared, status: int, taken: int) -> BaseException:
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
        return unsolved(run, code, index, t, taken)
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
            "t": _evaluated_at(run, t), "q": problem.q_stage,
            "v" if run.momenta is None else "p": problem.v_stage, "tau": run.workspace.tau,
        }  # fmt: skip
        error = failure(run.system.evaluator, status, run.workspace, values)
    ours = isinstance(error, MbkitError) and run.momenta is None
    grown = grown_without_bounds(run, t, taken) if ours else None
    if grown is not None:
        grown.__cause__ = error
        return grown
    if isinstance(error, NotFiniteError):
        returned = run.force is not None and not np.isfinite(run.workspace.tau).all()
        alone = returned and np.isfinite([*problem.q_stage, *problem.v_stage]).all()
        remedy = "The function tau returned it; mend it there." if alone else SMALLER
        error = NotFiniteError(
            f"The simulation stopped at t = {t:.9g} s, in step {taken + 1}: {error} {remedy}"
        )
    return error


def _evaluated_at(run: Prepared, t: float) -> float:
    """Return the time at which the equations of motion were evaluated last, in the step from t."""
    last = float(run.workspace.time[0])
    return last if t <= last <= t + run.problem.h * (1.0 + 1e-9) else t
