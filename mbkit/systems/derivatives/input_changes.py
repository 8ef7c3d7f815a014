"""Changes of the equations of motion by configuration, velocity, efforts and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from mbkit.joints.defaults.differences import central_differences
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import prescribed_steps
from mbkit.systems.derivatives.constraint_changes import rows_by_state, rows_by_time
from mbkit.systems.derivatives.dynamics_derivatives import constraints_by_steps
from mbkit.systems.derivatives.evaluation_states import Change, Point
from mbkit.systems.derivatives.force_changes import forces_by_time
from mbkit.systems.derivatives.numeric_changes import differences
from mbkit.systems.derivatives.on_duals.exact_constraints import RowDerivatives
from mbkit.systems.derivatives.prescribed_jerks import prescribed_jerks

if TYPE_CHECKING:
    from mbkit.systems.system import System

INPUTS = ("q", "v", "vdot", "tau", "t")

#: Steps h of the configuration: h^8 f^(9) / 630 is left out.
_STEPS, _WEIGHTS = central_differences(8, 1.0 / 512.0)


def change_by_input(point: Point, name: str) -> Change:
    """Return the change by "q", "v", "vdot", "tau" or "t"."""
    return _CHANGES[name](point)


def changes_by_state(point: Point) -> dict[str, Change]:
    """Return the changes by "q" and "v", whose rows are differentiated together."""
    ndx, nv = point.system.ndx, point.system.nv
    rows = rows_by_state(point, range(ndx + nv)) if point.constrained else None
    if rows is None:
        return {"q": _by_configuration(point), "v": _by_velocity(point)}
    by_q, by_v = (type(rows)(*(x[..., s] for x in rows)) for s in (slice(ndx), slice(ndx, None)))
    return {"q": _by_configuration(point, by_q), "v": _by_velocity(point, by_v)}


def _by_configuration(point: Point, exact: RowDerivatives | None = None) -> Change:
    moving = np.ones(point.system.ndx, dtype=bool)
    if point.by_motion:
        moving = ~prescribed_steps(point.system)
    return along_steps(point, moving, point.mu if point.redundant else None, exact)


def along_steps(
    point: Point, moving: Any, mu: Floats | None, exact: RowDerivatives | None = None
) -> Change:
    """Return the change along steps of the configuration.

    Columns are zero but for entries that are `moving`, (ndx,); mu (N, nv) is `Solution.mu`, where
    rows depend on others. `exact` are the derivatives of these, where they are known.
    """
    system, q, v, t = point.system, point.q, point.v, point.t
    efforts = point.by_state[0]
    if not point.constrained:
        return Change(efforts * moving)
    rows: Any
    exact = exact or rows_by_state(point, range(system.ndx))
    if exact is not None:
        forces, rows = exact.forces, exact.acceleration * moving
    else:
        forces = system.constraint_force_derivative(q, point.multipliers, t)
        rows = np.zeros((*point.multipliers.shape, system.ndx))
        rows[..., moving] = rate_along_steps(
            system, q, system.constraint_acceleration, v, point.vdot, t, moving=moving
        )
    turned: Any = 0.0
    if mu is not None:
        of_velocities = system.constraint_jacobian_velocity_derivative
        turned = point.evaluated(of_velocities, q, mu, t=t) * moving
    return Change((efforts - forces) * moving, rows, turned)


def rate_along_steps(
    system: System, q: Floats, function: Callable[..., Floats], *given: Floats, moving: Any = None
) -> Floats:
    """Return the derivative of ``function(q, *given)`` by tangent entries, (N, m, moving)."""
    moving = np.ones(system.ndx, dtype=bool) if moving is None else moving
    steps = np.multiply.outer(_STEPS, np.eye(system.ndx)[moving])  # (8, moving, ndx)
    near = system.retract(q[:, None, None], steps)
    values = function(near, *(x[:, None, None] for x in given))
    found: Floats = np.einsum("s,nskm->nmk", _WEIGHTS, values)
    return found


def _by_velocity(point: Point, exact: RowDerivatives | None = None) -> Change:
    free = ~point.given if point.by_motion else np.ones(point.system.nv, dtype=bool)
    return along_velocities(point, free, exact)


def along_velocities(point: Point, moving: Any, exact: RowDerivatives | None = None) -> Change:
    """Return the change along velocities; as `along_steps`, with columns that move, (nv,)."""
    system = point.system
    efforts = point.by_state[1] * moving
    if not point.constrained:
        return Change(efforts)
    if exact is not None:
        return Change(efforts, exact.acceleration * moving)
    return Change(efforts, bias_by_velocity(system, point.q, point.v, point.t) * moving)


def bias_by_velocity(system: System, q: Any, v: Any, t: Any) -> Floats:
    """Return the derivative of `System.constraint_bias` by v, (..., m, nv).

    Exact where constraints are compiled for dual numbers. Else by central differences, which are
    exact, since the bias is quadratic in v, but of the size of its rounding.
    """
    entries = range(system.ndx, system.ndx + system.nv)
    exact = constraints_by_steps(system, q, v, t, entries=entries)
    if exact is not None:
        return exact.acceleration
    size = np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0))[..., None, None]
    h = size * np.eye(system.nv)
    at, there = q[..., None, :], np.asarray(t)[..., None]
    above, below = (system.constraint_bias(at, v[..., None, :] + e, there) for e in (h, -h))
    rates: Floats = np.swapaxes((above - below) / (2.0 * size), -1, -2)
    return rates


def _by_acceleration(point: Point) -> Change:
    given = np.diag(point.given.astype(float))
    return Change(point.mass_matrix @ given, point.jacobian() @ given, vdot=given)


def _by_effort(point: Point) -> Change:
    return Change(tau=np.diag((~point.given).astype(float)))


def _by_time(point: Point) -> Change:
    fixed = _of_fixed_states(point)
    if not point.by_motion:
        return fixed
    return Change(
        *(one + np.asarray(other) for one, other in zip(fixed, _moved(point), strict=True))
    )


def _of_fixed_states(point: Point) -> Change:
    """Return the change of forces and constraints by the time alone, at a fixed motion."""
    forces = forces_by_time(point.system, point.states)
    rows = rows_by_time(point) if point.constrained else Change()
    if forces is not None and rows is not None:
        return rows._replace(efforts=rows.efforts - forces)
    fixed = attrs.evolve(point, by_motion=False)
    return differences(fixed, lambda e: (point.system, point.t + e), 1.0)


def _moved(point: Point) -> Change:
    """Return the change by the motion of prescribed joints: of q by v, v by vdot, vdot by jerks."""
    system, given = point.system, point.given
    steps = prescribed_steps(system)
    dx = np.zeros((len(point.q), system.ndx))
    dx[:, steps] = point.v[:, given]
    dv = np.where(given, point.vdot, 0.0)
    jerks = prescribed_jerks(system, point.t)
    by_q = along_steps(point, steps, point.mu if point.redundant else None)
    by_v, by_vdot = along_velocities(point, given), _by_acceleration(point)
    efforts, rows, turned = (
        _along(of_q, dx) + _along(of_v, dv) + _along(of_vdot, jerks)
        for of_q, of_v, of_vdot in zip(by_q[:3], by_v[:3], by_vdot[:3], strict=True)
    )
    return Change(efforts, rows, turned, jerks[..., None])


def _along(part: Any, move: Floats) -> Any:
    """Return a part of a change along one move of the entries, (N, k)."""
    return part @ move[..., None] if np.ndim(part) else 0.0


_CHANGES: dict[str, Callable[[Point], Change]] = {
    "q": _by_configuration,
    "v": _by_velocity,
    "vdot": _by_acceleration,
    "tau": _by_effort,
    "t": _by_time,
}
