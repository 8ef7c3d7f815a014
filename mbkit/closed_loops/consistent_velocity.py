"""Velocities that keep the loops of a system closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.loop_equations import checked_entries, checked_fixed
from mbkit.closed_loops.over_constrained import why_velocities_contradict
from mbkit.errors import ConstraintError, UsageError, listed
from mbkit.spatial.arrays import FloatArray, check_array, frozen_array
from mbkit.systems.calls.entries import velocity_scales
from mbkit.systems.rank import LEFT, Ranked, largest_row

if TYPE_CHECKING:
    from mbkit.systems import System


def consistent_velocity(
    system: System,
    rates: Mapping[str, ArrayLike],
    q: ArrayLike,
    v: ArrayLike | None,
    t: float,
) -> FloatArray:
    """Return velocities that satisfy the constraints; see `System.consistent_velocity`."""
    who = "consistent_velocity"
    if not isinstance(rates, Mapping):
        raise UsageError(
            f"{who}: rates must be velocities by the names of joints, got {rates!r}; for example "
            f"{{'{(*system.joint_names, 'hinge')[0]}': 1.0}}."
        )
    configuration = system.checked("q", q, finite=True)
    wished = np.zeros(system.nv) if v is None else system.checked("v", v, finite=True)
    fixed = checked_fixed(system, (), who)
    for name, value in rates.items():
        own = _velocities(system, name, who)
        count = int(own.sum())
        array = frozen_array(value)
        check_array(array, () if array.ndim == 0 and count == 1 else (count,), f"{who}: '{name}'")
        wished[own] = array
        fixed |= own
    return velocity_near(system, configuration, wished, fixed, t, who)


def _velocities(system: System, name: str, who: str) -> Any:
    """Return which velocities a name means (nv,): a joint's, or one, such as "joint[1]"."""
    mask = np.zeros(system.nv, dtype=bool)
    if name in system.velocity_names:
        mask[system.velocity_names.index(name)] = True
    else:
        mask[checked_entries(system, name, who)] = True
    if (mask & checked_fixed(system, (), who)).any():
        raise UsageError(f"{who}: '{name}' is prescribed: its velocity is a function of time.")
    return mask


def velocity_near(
    system: System, q: FloatArray, v: FloatArray, fixed: Any, t: float, who: str
) -> FloatArray:
    """Return the consistent velocity (nv,) nearest to a given one: A v + g_t = 0.

    Nearest is the least kinetic energy of the change; `fixed` (nv,) marks entries that must not
    change. The configuration q is closed. ConstraintError, which begins with `who`, if the fixed
    velocities contradict each other.
    """
    if system.prescribed_joints:
        q, v, _ = system.prescribed_state(t, q, v)
    if not system.num_velocity_constraints:
        return v
    length = system.arrays.closure.length
    scales = velocity_scales(system)
    free = np.flatnonzero(~fixed)
    A = system.constraint_jacobian(q, t) * scales / length
    ranked = Ranked.of(A[:, free], largest_row(A))
    rate = system.constraint_velocity(q, v, t) / length
    size = float(np.abs(rate).max())
    found = v.copy()
    for _ in range(2):  # the second one removes rounding errors
        found[free] -= scales[free] * ranked.solve(rate)
        rate = system.constraint_velocity(q, found, t) / length
    speed = float((np.abs(A) @ ((np.abs(found) + np.abs(v)) / scales)).max())
    _check(system, A, rate, max(speed, size), fixed, who)
    Z = ranked.null * scales[free, None]
    if Z.size:
        # a mechanism may have motions that move no mass: along these the change is the shortest
        M = system.mass_matrix(q)
        ZM = Z.T @ M[free]
        found[free] -= Z @ np.linalg.lstsq(ZM[:, free] @ Z, ZM @ (found - v), rcond=1e-13)[0]
    return found


def _check(
    system: System, A: FloatArray, rate: FloatArray, size: float, fixed: Any, who: str
) -> None:
    """Raise where no velocities of the others go with those that must stay."""
    worst = int(np.argmax(np.abs(rate)))
    if abs(rate[worst]) <= LEFT * size:
        return
    names = [system.velocity_names[k] for k in np.flatnonzero(fixed)]
    gap = system.arrays.closure.length * abs(rate[worst])
    raise ConstraintError(
        f"{who}: the velocities of {listed(names)} do not go together at this configuration: "
        f"whatever the others do, '{system.constraint_names[worst]}' opens at {gap:.3g} m/s. "
        f"{why_velocities_contradict(system, A, fixed)}"
    )
