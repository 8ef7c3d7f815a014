"""Derivatives of the constraints of a system with respect to the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.evaluations import (
    CONSTRAINT_FORCE_DERIVATIVE,
    CONSTRAINT_VELOCITY_DERIVATIVE,
)

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["constraint_force_derivative", "constraint_jacobian_velocity_derivative"]

#: Central differences of fourth order: steps, and what they weigh. Short ones: a cam is a spline.
_STEPS = np.array([-2.0, -1.0, 1.0, 2.0]) / 4096.0
_WEIGHTS = np.array([1.0, -8.0, 8.0, -1.0]) * 4096.0 / 12.0


def constraint_jacobian_velocity_derivative(
    system: System, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
) -> Floats:
    """See `System.constraint_jacobian_velocity_derivative`."""
    if not system.arrays.closure:
        leading = system.evaluator.arguments.leading(t, on_error, q=q, v=v)
        return np.zeros((*leading, 0, system.ndx))
    if not _loops_alone(system):
        system.evaluator.arguments.leading(t, on_error, q=q, v=v)
        rates = _jacobian_differences(system, q, t, on_error)
        speed = system.evaluator.arguments.with_leading_axes("v", v)[..., None, :, None]
        return np.moveaxis((rates @ speed)[..., 0], -2, -1)
    times = times_of(t, on_error)[..., None]
    return system.evaluator.compute(CONSTRAINT_VELOCITY_DERIVATIVE, q, v, times, on_error=on_error)


def constraint_force_derivative(
    system: System,
    q: ArrayLike,
    multipliers: ArrayLike,
    t: ArrayLike = 0.0,
    *,
    on_error: str = "raise",
) -> Floats:
    """See `System.constraint_force_derivative`."""
    if not system.arrays.closure:
        leading = system.evaluator.arguments.leading(t, on_error, q=q, multipliers=multipliers)
        return np.zeros((*leading, system.nv, system.ndx))
    if not _loops_alone(system):
        system.evaluator.arguments.leading(t, on_error, q=q, multipliers=multipliers)
        rates = _jacobian_differences(system, q, t, on_error)
        checked = system.evaluator.arguments.with_leading_axes
        given = checked("multipliers", multipliers)[..., None, None, :]
        return np.moveaxis((given @ rates)[..., 0, :], -2, -1)
    times = times_of(t, on_error)[..., None]
    return system.evaluator.compute(
        CONSTRAINT_FORCE_DERIVATIVE, q, multipliers, times, on_error=on_error
    )


def _loops_alone(system: System) -> bool:
    """Whether all constraints are joints that close loops."""
    from mbkit.kernels.constraints.layout import LOOP_JOINT

    return bool((system.arrays.closure.constraints["kind"] == LOOP_JOINT).all())


def _jacobian_differences(system: System, q: ArrayLike, t: ArrayLike, on_error: str) -> Floats:
    """Return the derivative of A by each entry of a step, (..., ndx, rows, nv)."""
    n = system.ndx
    steps = np.multiply.outer(np.eye(n), _STEPS).swapaxes(1, 2)  # (n, 4, n)
    start = system.evaluator.arguments.with_leading_axes("q", q)[..., None, None, :]
    near = system.retract(start, steps, on_error=on_error)
    times = times_of(t, on_error)[..., None, None]
    A = system.constraint_jacobian(near, times, on_error=on_error)
    rates: Floats = np.einsum("s,...srv->...rv", _WEIGHTS, A)
    return rates
