"""Measured motion of bodies, as arguments: one row a body, in some representation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import NotFiniteError, UsageError, check_kind
from mbkit.representations import BodyFixed, Representation, convert_jerk
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems import System
from mbkit.systems.body_motion import checked_form, placed_on


def chosen(system: System, representation: Representation | None, who: str) -> Representation:
    """Return a representation, the system's if None; UsageError if it, or the system, is none."""
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    return checked_form(system, representation)


def measured_rows(system: System, values: ArrayLike, who: str, what: str) -> FloatArray:
    """Return a copy (bodies + 1, 6) whose row of the world is zero; errors if it does not fit."""
    check_kind(f"{who}: system", system, System, "an mbkit.System")
    given = frozen_array(values)
    rows = np.array(given)
    if rows.dtype.kind == "f" and rows.ndim == 2:
        rows[:1] = 0.0
    shape = (len(system.body_names), 6)
    check_array(rows, shape, f"{who}: {what}", error=NotFiniteError)
    return rows


def bias_accelerations(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    representation: Representation,
    frames: Mapping[str, Any] | None = None,
) -> FloatArray:
    """Return the accelerations (bodies + 1, 6) that are there for vdot = 0, in a representation.

    Accelerations are rates of twists: A = M A_b + dM/dt V_b for V = M V_b. Bodies with other frames
    than their own have them by their names.
    """
    found = _own_bias_accelerations(system, q, v, representation)
    for name, frame in (frames or {}).items():
        found[system.body_index(name)] = system.acceleration(
            name, q, v, np.zeros(system.nv), frame=frame, representation=representation
        )
    return found


def _own_bias_accelerations(
    system: System, q: ArrayLike, v: ArrayLike, representation: Representation
) -> FloatArray:
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


def bias_jerks(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    representation: Representation,
    frames: Mapping[str, Any],
) -> FloatArray:
    """Return the jerks (bodies + 1, 6) that are there for vddot = 0, at frames as accelerations."""
    body = BodyFixed()
    D = system.jerks(q, v, vdot, np.zeros(system.nv), representation=body)
    A = system.accelerations(q, v, vdot, representation=body)
    V, C = system.twists(q, v, representation=body), system.poses(q)
    found = convert_jerk(D, A, V, C, body, representation)
    for name, frame in frames.items():
        k = system.body_index(name)
        found[k] = convert_jerk(D[k], A[k], V[k], C[k], body, representation, body_frame=frame)
    return found


def body_fixed_jacobian(system: System, body: str, q: ArrayLike, C: FloatArray) -> FloatArray:
    """Return the body-fixed Jacobian (6, nv) of a body that stands at C, whatever the system's."""
    J = system.jacobian(body, q)
    if isinstance(system.representation, BodyFixed):
        return J
    return np.asarray(system.representation.inverse_twist_map(C) @ J)


def on_bodies(
    system: System, values: Any, weights: Any, frames: Any, who: str
) -> tuple[Any, Any, Mapping[str, Any]]:
    """Return values, weights and frames by the names of bodies, where frames on them are named.

    The frames are those of the measured twists, as poses on the bodies.
    """
    given = {} if frames is None else frames
    check_kind(f"{who}: frames", given, Mapping, "poses by the names of bodies")
    named = values if isinstance(values, Mapping) else {}
    bodies: dict[Any, str] = {}
    found: dict[str, Any] = {}
    for name in dict.fromkeys((*named, *given)):
        row, frame = placed_on(system, name, given.get(name))
        body = system.body_names[row]
        if body in bodies.values():
            raise UsageError(
                f"{who}: '{name}' is on body '{body}', which is named already; give one motion of "
                f"each body, that of one frame on it."
            )
        bodies[name] = body
        if frame is not None:
            found[body] = frame

    def renamed(mapping: Any) -> Any:
        if not isinstance(mapping, Mapping):
            return mapping
        return {bodies.get(name, name): value for name, value in mapping.items()}

    return renamed(values), renamed(weights), found


def rows_by_name(system: System, values: Any, who: str, what: str) -> FloatArray:
    """Return (bodies + 1, 6) with NaN for bodies that are not named."""
    shape = (len(system.body_names), 6)
    rows = np.full(shape, np.nan)
    if isinstance(values, Mapping):
        for name, value in values.items():
            row = np.array(frozen_array(value))
            check_array(_finite(row), (6,), f"{who}: {what} of body '{name}'")
            rows[system.body_index(name)] = row
        rows[0] = 0.0
        return rows
    given = frozen_array(values)
    check_array(_finite(given), shape, f"{who}: {what}")
    rows[:] = given
    rows[0] = 0.0
    return rows


def checked_weights(system: System, values: Any, weights: Any, who: str) -> FloatArray:
    """Return the weight of each component, (bodies + 1, 6), zero for the world."""
    shape = (len(system.body_names), 6)
    counts = np.zeros(shape)
    measured = [*values] if isinstance(values, Mapping) else [*system.body_names]
    if weights is None:
        counts[[system.body_index(name) for name in measured]] = 1.0
    elif isinstance(weights, Mapping):
        for name, weight in weights.items():
            array = frozen_array(weight)
            check_array(array, (6,) if array.ndim else (), f"{who}: weights of body '{name}'")
            counts[system.body_index(name)] = array
    else:
        array = frozen_array(weights)
        check_array(array, shape if array.ndim == 2 else shape[:1], f"{who}: weights")
        counts[:] = array if array.ndim == 2 else array[:, None]
    if not (counts >= 0.0).all():
        body, component = (int(k) for k in np.argwhere(~(counts >= 0.0))[0])
        raise UsageError(
            f"{who}: weights must not be negative, got {counts[body, component]} for component "
            f"{component} of body '{system.body_names[body]}'; give zero for what does not count."
        )
    counts[0] = 0.0
    return counts


def _finite(array: FloatArray) -> FloatArray:
    """Return the array with NaN replaced: missing entries are checked with the weights."""
    return np.where(np.isnan(array), 0.0, array) if array.dtype.kind == "f" else array


def require_measured(system: System, V: FloatArray, weights: FloatArray, who: str) -> None:
    """Raise unless something was measured, and all that has a weight."""
    if not weights.any():
        raise UsageError(
            f"{who}: nothing was measured: all weights are zero; name a body, or give it a weight."
        )
    gaps = np.argwhere((weights > 0.0) & ~np.isfinite(V))
    if len(gaps):
        body, component = (int(k) for k in gaps[0])
        raise NotFiniteError(
            f"{who}: component {component} of body '{system.body_names[body]}' is "
            f"{V[body, component]} and has the weight {weights[body, component]:g}; give a number, "
            f"or the weight zero for what was not measured."
        )
