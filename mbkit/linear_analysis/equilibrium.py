"""Static equilibria of trees and closed mechanisms."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.loops import checked_fixed
from mbkit.errors import ConstraintError, check_switch, several
from mbkit.linear_analysis.balance import Balance
from mbkit.linear_analysis.linearize import applied_efforts
from mbkit.linear_analysis.settling import settled, stiffness_in_metres
from mbkit.linear_analysis.small_motions import (
    BALANCED,
    SmallMotions,
    check_holonomic,
    freedoms_around,
    unbalanced,
)
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_sizes

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["Equilibrium", "equilibrium"]

#: Starts after the first, at random motions of the free joints by up to these parts of a half turn
#: or of half the length.
_SPREADS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)

#: What another start must leave of the forces, in parts of what is left from the first.
_BETTER = 0.5

#: Stiffness that counts as none, in parts of the largest.
_NEUTRAL = 1e-9

#: How much a symmetric stiffness may differ from its transpose: forces are differentiated.
_SYMMETRIC = 1e-7

#: Positions that the text of a result names.
_TOLD = 12


@final
@attrs.frozen(eq=False, repr=False)
class Equilibrium:
    """A configuration in which forces balance, or what the search for one came to.

    Attributes
    ----------
    name : str
        That of the system.
    q : ndarray, shape (nq,)
        The configuration, with closed loops.
    found : bool
        Whether the forces balance to 1e-8 of the largest, the weight included.
    reason : str
        "found", or what is left where.
    efforts : dict of str to float
        What holds the joints that are fixed or prescribed, by the names of velocities. [N m], [N]
    multipliers : ndarray, shape (num_velocity_constraints,)
        Of the constraints; of least norm where they are redundant. [N]
    residual : float
        The largest force that is left, in parts of the largest.
    stiffness : ndarray, shape (m, m)
        Change of the forces by the independent coordinates that are free, with its sign turned; its
        rows and columns are those of `independent`.
    stiffnesses : ndarray, shape (m,)
        Its eigenvalues where all motions count in metres, rotations by the length of the system,
        and motions of all joints have unit length. Of the symmetric part. [N/m]
    independent : tuple of str
        Names of the independent coordinates.
    is_conservative : bool
        Whether the stiffness is symmetric. Where it is not, as with forces that follow a body,
        its signs do not decide on stability: ask `System.linearize` for the modes.
    is_singular : bool
        Whether the mechanism has more freedoms in this configuration than around it; the stiffness
        then includes motions that end at once.
    """

    name: str
    q: FloatArray
    found: bool
    reason: str
    efforts: dict[str, float]
    multipliers: FloatArray
    residual: float
    stiffness: FloatArray
    stiffnesses: FloatArray
    independent: tuple[str, ...]
    is_conservative: bool
    is_singular: bool
    _position_names: tuple[str, ...]

    @property
    def positions(self) -> dict[str, float]:
        """The entries of q by name."""
        return dict(zip(self._position_names, self.q.tolist(), strict=True))

    @property
    def stability(self) -> str:
        """Return "stable", "unstable" or "neutral", by the signs of the stiffness.

        "undecided" where no equilibrium was found, the stiffness is not symmetric, or the
        configuration is singular. What cannot move is stable.
        """
        if not self.found or not self.is_conservative or self.is_singular:
            return "undecided"
        limit = _NEUTRAL * np.abs(self.stiffnesses).max(initial=0.0)
        if (self.stiffnesses < -limit).any():
            return "unstable"
        return "neutral" if (self.stiffnesses <= limit).any() else "stable"

    def __repr__(self) -> str:
        if not self.found:
            return f"No equilibrium of '{self.name}': {self.reason}"
        signs = self.stiffnesses
        limit = _NEUTRAL * np.abs(signs).max(initial=0.0)
        counts = int((signs > limit).sum()), int((np.abs(signs) <= limit).sum())
        told = f"{counts[0]} positive, {counts[1]} zero, {len(signs) - sum(counts)} negative"
        lines = [
            f"Equilibrium of '{self.name}', {self.stability}"
            + (", in a singular configuration" if self.is_singular else ""),
            f"  stiffnesses: {told if len(signs) else 'none, it cannot move'}",
            *(f"  {name} = {value:.6g}" for name, value in [*self.positions.items()][:_TOLD]),
            *([f"  and {len(self.q) - _TOLD} more positions"] if len(self.q) > _TOLD else []),
            *(f"  '{name}' is held by {value:.6g}" for name, value in self.efforts.items()),
            f"  left of the forces: {self.residual:.1e} of the largest",
        ]
        return "\n".join(lines)


def equilibrium(
    system: System,
    q: ArrayLike | None,
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
        return _record(balance, settled(balance, start, names), names)
    best = balance.searched(start)
    rng = np.random.default_rng(0)
    for spread in _SPREADS if balance.free.size else ():
        if best[1] <= BALANCED:
            break
        limits = np.where(system.arrays.turning[balance.free], np.pi, 0.5)
        x = spread * limits * rng.uniform(-1.0, 1.0, balance.free.size)
        other = balance.searched(balance.moved(start, x))
        best = other if other[1] < _BETTER * best[1] else best
    return _record(balance, best[0], names)


def _record(balance: Balance, q: FloatArray, fixed: Iterable[str]) -> Equilibrium:
    """Return the record of a configuration, with loops closed where they are not."""
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
        reason = (
            f"forces do not balance anywhere near: '{system.velocity_names[worst]}' is left with "
            f"{-left[worst]:.4g} {unit}; hold it with fixed, give it a spring or an effort, or "
            f"start nearer to an equilibrium"
        )
    motions = SmallMotions.of(balance.state(q, multipliers), held)
    K = motions.K
    skew = float(np.abs(K - K.T).max(initial=0.0))
    return Equilibrium(
        system.name, q, found, reason,
        {system.velocity_names[k]: float(left[k]) for k in held}, multipliers, residual, K,
        np.asarray(np.linalg.eigvalsh(stiffness_in_metres(motions)[1])), motions.names,
        skew <= _SYMMETRIC * float(np.abs(K).max(initial=0.0)),
        freedoms_around(motions, held, fixed) < len(K), system.position_names,
    )  # fmt: skip
