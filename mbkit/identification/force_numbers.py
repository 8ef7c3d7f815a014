"""Numbers of forces that are unknown: a system with others, and how its forces change by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.identification.measured import Motion, Unknown
from mbkit.spatial.arrays import FloatArray
from mbkit.systems import System
from mbkit.systems.derivatives.evaluation_states import TimedStates
from mbkit.systems.derivatives.force_changes import forces_by_parameter
from mbkit.systems.derivatives.parameter_moves import shape_of_parameter

__all__ = ["exact_slopes", "force_values"]


def force_values(system: System, unknown: Unknown, numbers: Any) -> dict[str, Any]:
    """Return the parameters of forces by name, with new numbers."""
    values: dict[str, Any] = {}
    for (path, entry), number in zip(unknown.forces, numbers, strict=True):
        if entry is None:
            values[path] = number
        else:
            values.setdefault(path, np.array(system.parameters[path]))[entry] = number
    return values


def exact_slopes(system: System, motion: Motion, unknown: Unknown) -> FloatArray | None:
    """Return the derivative of the forces, in one row, by their unknown numbers, if it is exact."""
    t = np.broadcast_to(motion.t, motion.q.shape[:1])
    states = TimedStates(motion.q, motion.v, t)
    by_path: dict[str, Any] = {}
    columns = []
    for path, entry in unknown.forces:
        if path not in by_path:
            if shape_of_parameter(system, path) != np.shape(system.parameters[path]):  # a pose
                return None
            by_path[path] = forces_by_parameter(system, path, states)
        found = by_path[path]
        if found is None:
            return None
        whole = found.reshape((*found.shape[:2], *np.shape(system.parameters[path])))
        columns.append(whole[(..., *(entry or ()))].ravel())
    return np.array(columns).T
