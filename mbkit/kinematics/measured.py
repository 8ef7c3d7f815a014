"""Measured motion of bodies, as arguments: one row a body, in some representation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError, UsageError, check_kind
from mbkit.representations import Representation
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems import System

__all__ = ["bias_accelerations", "body_fixed_jacobian", "chosen", "measured_rows"]


def chosen(system: System, representation: Representation | None, who: str) -> Representation:
    """Return a representation, the system's if None; UsageError in the name of `who` if none."""
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    if representation is None:
        return system.representation
    if not isinstance(representation, Representation):
        raise UsageError(
            f"{who}: representation must be an mbkit.Representation, got {representation!r}; "
            f"for example mbkit.Hybrid()."
        )
    return representation


def measured_rows(system: System, values: ArrayLike, who: str, what: str) -> FloatArray:
    """Return a copy (bodies + 1, 6) whose row of the world is zero, or say what does not fit."""
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    given = frozen_array(values)
    rows = np.array(given)
    if rows.dtype.kind == "f" and rows.ndim == 2:
        rows[:1] = 0.0
    shape = (len(system.body_names), 6)
    check_array(rows, shape, f"{who}: {what}", error=NotFiniteError)
    return rows


def bias_accelerations(
    system: System, q: ArrayLike, v: ArrayLike, representation: Representation
) -> FloatArray:
    """Return the accelerations (bodies + 1, 6) that are there for vdot = 0, in a representation.

    Accelerations are rates of twists: A = M A_b + dM/dt V_b for V = M V_b.
    """
    A = system.accelerations(q, v, np.zeros(system.nv))
    if representation == system.representation:
        return A
    own = system.representation
    C = system.poses(q)
    V_b = (own.inverse_twist_map(C) @ system.twists(q, v)[:, :, None])[:, :, 0]
    rest = A[:, :, None] - own.twist_map_rate(C, V_b) @ V_b[:, :, None]
    A_b = own.inverse_twist_map(C) @ rest
    found = (
        representation.twist_map(C) @ A_b + representation.twist_map_rate(C, V_b) @ V_b[..., None]
    )
    return np.asarray(found[:, :, 0])


def body_fixed_jacobian(system: System, body: str, q: ArrayLike, C: FloatArray) -> FloatArray:
    """Return the body-fixed Jacobian (6, nv) of a body that stands at C, whatever the system's."""
    J = system.jacobian(body, q)
    if system.representation.name == "body_fixed":
        return J
    return np.asarray(system.representation.inverse_twist_map(C) @ J)
