"""Third rates of constraints and of prescribed motions, by differences along a motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mbkit.joints.defaults.differences import central_differences
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_scales

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["constraint_jerk", "prescribed_jerk"]

#: Steps in parts of a time, and their weights.
_STEPS, _WEIGHTS = central_differences(6, 1.0)

#: How far such a step moves the fastest joint, in radians or lengths of the system: errors by
#: truncation and by rounding are both about 1e-13.
_STEP = 1e-2


def constraint_jerk(
    system: System, q: Any, v: Any, vdot: Any, vddot: Any, t: Any, *, on_error: str = "raise"
) -> FloatArray:
    """Return the rate (..., rows) of `System.constraint_acceleration` along a motion.

    All arguments have the same leading axes. Constraints have no second derivatives by themselves.
    """
    along = system.rates(q, v, on_error=on_error)

    def constraint(s: FloatArray) -> FloatArray:
        step = s[..., None]
        at = system.retract(q, step * along, on_error=on_error)
        motion = at, v + step * vdot, vdot + step * vddot, t + s
        return system.constraint_acceleration(*motion, on_error=on_error)

    return _differentiated(constraint, _time_step(system, v, vdot))


def prescribed_jerk(system: System, v: Any, vdot: Any, t: Any) -> FloatArray:
    """Return the rates (..., nv) of the accelerations of prescribed joints, zero for others."""
    if not system.prescribed_joints:
        return np.zeros(np.shape(vdot))
    h = _time_step(system, v, vdot)
    return _differentiated(lambda s: system.prescribed_state(t + s)[2], h)


def _time_step(system: System, v: Any, vdot: Any) -> FloatArray:
    """Return the time (...) in which the fastest joint moves by `_STEP`; 1 s at rest."""
    scales = velocity_scales(system)
    rate = np.abs(v / scales).max(axis=-1, initial=0.0)
    gain = np.abs(vdot / scales).max(axis=-1, initial=0.0)
    fastest = np.maximum(rate, np.sqrt(gain))
    return np.asarray(np.where(fastest > 0.0, _STEP / np.where(fastest > 0.0, fastest, 1.0), 1.0))


def _differentiated(function: Callable[[FloatArray], FloatArray], h: FloatArray) -> FloatArray:
    """Return the derivative (..., n) of a function of time at 0, by steps h (...)."""
    values = function(np.multiply.outer(_STEPS, h))
    return np.asarray(np.tensordot(_WEIGHTS, values, 1) / h[..., None])
