"""Static equilibria of trees and closed mechanisms."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.loop_equations import checked_fixed
from mbkit.errors import ConstraintError, check_switch, several
from mbkit.linear_analysis.balance import Balance
from mbkit.linear_analysis.linearize import applied_efforts
from mbkit.linear_analysis.settling import settled, stiffness_in_metres
from mbkit.linear_analysis.small_motions import (
    BALANCED,
    SmallMotions,
    check_holonomic,
    freedoms_around,
    holds,
    unbalanced,
)
from mbkit.linear_models.equilibrium import Equilibrium
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_sizes

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.systems.calls.arguments import Configuration

#: Starts after the first, at random motions of the free joints by up to these parts of a half turn
#: or of half the length.
_SPREADS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)

#: The residual that another start must reach, in parts of that from the first.
_BETTER = 0.5

#: How much a symmetric stiffness may differ from its transpose: forces are differentiated.
_SYMMETRIC = 1e-7


def equilibrium(
    system: System,
    q: Configuration | None,
    *,
    fixed: Iterable[str],
    tau: ArrayLike | Mapping[str, ArrayLike] | None,
    stable: bool,
    t: float,
) -> Equilibrium:
    """See `System.equilibrium`."""
    check_holonomic(system, "equilibrium")
    check_switch("stable", stable)
    names = tuple(fixed) if several(fixed) and not isinstance(fixed, str) else fixed
    mask = checked_fixed(system, names, "equilibrium")
    applied = applied_efforts(system, tau)
    start = system.close_loops(q, fixed=names, t=t)
    balance = Balance.of(system, start, applied, t, mask)
    if stable and balance.free.size:
        return _record(balance, *settled(balance, start, names), names)
    best = balance.searched(start)
    rng = np.random.default_rng(0)
    for spread in _SPREADS if balance.free.size else ():
        if best[1] <= BALANCED:
            break
        limits = np.where(system.arrays.turning[balance.free], np.pi, 0.5)
        x = spread * limits * rng.uniform(-1.0, 1.0, balance.free.size)
        other = balance.searched(balance.moved(start, x))
        best = other if other[1] < _BETTER * best[1] else best
    return _record(balance, best[0], 0.0, names)


def _record(balance: Balance, q: FloatArray, way: float, fixed: Iterable[str]) -> Equilibrium:
    """Return the record of a configuration, with loops closed where they are not.

    `way` is that of a descent without end, else 0.
    """
    system, held = balance.system, balance.held
    with contextlib.suppress(ConstraintError):  # the gap is in the residual
        q = system.close_loops(q, fixed=fixed, t=balance.t)
    left, size, multipliers = unbalanced(balance.state(q), held)
    compared = np.abs(left / velocity_sizes(system, q))
    compared[held] = 0.0
    size = size or 1.0
    gap = np.abs(system.constraint_residual(q, balance.t)).max(initial=0.0)
    gap /= system.arrays.closure.length
    residual = max(float(compared.max(initial=0.0)) / size, float(gap))
    worst = int(np.argmax(compared)) if len(compared) else 0
    found = residual <= BALANCED
    reason = "found"
    if not found and gap > BALANCED:
        reason = f"the loops stay open by {gap * system.arrays.closure.length:.3g} m"
    elif not found:
        unit = "N m" if system.arrays.turning[worst] else "N"
        where = f"after a way of {way:.3g} m downhill" if way else "anywhere near"
        reason = (
            f"forces do not balance {where}: '{system.velocity_names[worst]}' is left with "
            f"{-left[worst]:.4g} {unit}; hold it with fixed, give it a spring or an effort, or "
            f"start nearer to an equilibrium"
        )
    tau = balance.state(q).tau.copy()
    by_joints = [k for k in held if k not in holds(system)]
    tau[by_joints] += left[by_joints]
    motions = SmallMotions.of(balance.state(q, multipliers), held)
    K = motions.K
    skew = float(np.abs(K - K.T).max(initial=0.0))
    return Equilibrium(
        system.name, q, tau, balance.t, found, reason,
        {system.velocity_names[k]: float(left[k]) for k in held}, multipliers, residual, K,
        np.asarray(np.linalg.eigvalsh(stiffness_in_metres(motions)[1])), motions.names,
        skew <= _SYMMETRIC * float(np.abs(K).max(initial=0.0)),
        freedoms_around(motions, held, fixed) < len(K), system.position_names,
    )  # fmt: skip
