"""Gimbal lock of angles that are integrated as numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from mbkit.errors import ConfigurationError, ConvergenceError
from mbkit.integrators.classical.python_steps import StepFailed
from mbkit.integrators.integrator import Problem

__all__ = ["check_lock", "named_lock"]

#: Steps before gimbal lock from which on it is why a step fails: Newton's method of Radau does from
#: two or three on, at distances at which other methods do not err much.
_NEAR = 4.0


def check_lock(problem: Problem, q: Any, v: Any, within: float) -> None:
    """Raise ConfigurationError where rates of positions are infinite, or may be so soon.

    Rates of angles at a distance s from gimbal lock, of a body that turns with w across it, are a
    function of t w / s. The error of a step h past it is h w times a function of k = h w / s alone,
    measured with h w of 0.1 and 0.01: for RK45 0.5 at k = 2, 7e-3 at 1 and 3e-5 at 0.5; 0.2, 3e-2
    and 8e-3 for RK23, 2e-3, 1e-5 and 6e-8 for DOP853. From k = 1 on a step is refused. `within` is
    the size of steps [s], zero where errors are controlled.
    """
    time, joint = problem.equations.time_to_lock(q, v)
    if not time <= within:
        return
    where = "are at" if time == 0.0 else f"may come within {time:.3g} s to"
    control = "" if time == 0.0 else " Or give an rtol, or a smaller h."
    raise ConfigurationError(
        f"QuaternionVectorSpace takes the angles of joint {joint!r} as numbers, and they {where} "
        f"gimbal lock, where their rates are infinite. Write the orientation otherwise, by "
        f"mbkit.UnitQuaternion(), mbkit.RotationVector() or angles of another sequence; or take an "
        f"integrator on the group, which goes through, as mbkit.LocalVectorSpace or "
        f"mbkit.RungeKuttaMuntheKaas.{control}"
    )


@contextlib.contextmanager
def named_lock(problem: Problem) -> Iterator[None]:
    """Say that a step failed at gimbal lock, where it did."""
    try:
        yield
    except (StepFailed, ConvergenceError):
        check_lock(problem, problem.q, problem.v, _NEAR * problem.h)
        raise
