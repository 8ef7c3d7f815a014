"""The time loop of integrators in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.integrators.integrator import Advance, Problem, Rows


class StepFailed(Exception):
    """A step cannot be taken; the argument is the status with the reason."""


def in_python(problem: Problem, step: Callable[[float, float], None]) -> Advance:
    """Return a function that takes steps one by one, and saves rows.

    ``step(t, end)`` advances the problem's state from t to end, or leaves it and raises; a
    `StepFailed` with a status, or any other exception, which ends the run.
    """

    def advance(first: int, steps: int, rows: Rows) -> tuple[int, int, int]:
        saved = 0
        for taken, k in enumerate(range(first, first + steps)):
            end = problem.t0 + (k + 1) * problem.h
            try:
                step(problem.t0 + k * problem.h, end)
            except StepFailed as failed:
                return failed.args[0], taken, saved
            except Exception as error:
                error.add_note(f"Raised in the step from t = {problem.t0 + k * problem.h:.9g} s.")
                return problem.failed(error), taken, saved
            if (k + 1) % problem.save_every == 0:
                row = end, problem.q, problem.v, problem.work
                for part, value in zip(rows, row, strict=False):  # multipliers follow from it
                    part[saved] = value
                saved += 1
        return 0, steps, saved

    return advance


def settled(problem: Problem, end: float, q: Any, v: Any) -> None:
    """Bring the end of a step back to the constraints, in place, and look whether it may be taken.

    Raises `StepFailed` where it may not: q and v are not finite, loops cannot be closed, or an
    event lies in the step.
    """
    from mbkit.kernels.status import NOT_FINITE, failure

    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        problem.q_stage[:], problem.v_stage[:] = q, v
        raise StepFailed(failure(NOT_FINITE, 0))
    status = problem.close(end, q, v) or problem.look(end, q, v)
    if status != 0:
        raise StepFailed(status)
