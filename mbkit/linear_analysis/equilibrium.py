"""Static equilibria of trees and closed mechanisms."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.closed_loops.loops import checked_fixed, position_rows
from mbkit.errors import ConstraintError, NotFiniteError, several
from mbkit.linear_analysis.linearize import applied_efforts
from mbkit.linear_analysis.small_motions import (
    BALANCED,
    SmallMotions,
    State,
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

#: Newton steps that end a search: they converge by squares.
_LAST_STEPS = 4

#: Stiffness that counts as none, in parts of the largest.
_NEUTRAL = 1e-9

#: How much a symmetric stiffness may differ from its transpose: forces are differentiated.
_SYMMETRIC = 1e-7

#: Forces whose squares are numbers. [N]
_LARGEST = 1e150

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
    t: float,
) -> Equilibrium:
    """See `System.equilibrium`."""
    check_holonomic(system, "equilibrium")
    names = tuple(fixed) if several(fixed) and not isinstance(fixed, str) else fixed
    mask = checked_fixed(system, names, "equilibrium")
    applied = applied_efforts(system, tau)
    start = system.close_loops(q, fixed=names, t=t)
    balance = _Balance.of(system, start, applied, t, mask)
    best = balance.searched(start)
    rng = np.random.default_rng(0)
    for spread in _SPREADS if balance.free.size else ():
        if best[1] <= BALANCED:
            break
        limits = np.where(system.arrays.turning[balance.free], np.pi, 0.5)
        x = spread * limits * rng.uniform(-1.0, 1.0, balance.free.size)
        other = balance.searched(balance.moved(start, x))
        best = min(best, other, key=lambda pair: pair[1])
    return _record(balance, best[0], names)


@final
@attrs.frozen(eq=False)
class _Balance:
    """The equations of statics of a system, in the free entries of v and the multipliers.

    Forces are in parts of their size at the start, lengths in those of the system. Around a
    configuration the unknowns are a step on the group along the free entries, and multipliers:

        (b - f - tau - A^T multipliers) / size = 0, residual / length = 0,

    whose derivatives are those of inverse dynamics, forces and constraint forces, times dexp of the
    step.
    """

    system: System
    tau: FloatArray
    t: float
    free: Any
    held: list[int]
    unit: FloatArray
    force: float

    @classmethod
    def of(cls, system: System, q: FloatArray, tau: FloatArray, t: float, mask: Any) -> _Balance:
        held = [int(k) for k in np.flatnonzero(mask)]
        unit = np.where(system.arrays.turning, 1.0, system.arrays.closure.length)
        found = cls(system, tau, t, np.flatnonzero(~mask), held, unit, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            size = unbalanced(found.state(q), held)[1]
        if not size < _LARGEST:
            raise NotFiniteError(
                f"equilibrium: the forces of '{system.name}' are of size {size:.3g} N, of which "
                f"squares are not finite numbers; give forces of ordinary size."
            )
        return attrs.evolve(found, force=size or 1.0)

    def state(self, q: FloatArray, multipliers: FloatArray | None = None) -> State:
        """Return the state at rest."""
        system, zero = self.system, np.zeros(self.system.nv)
        given = np.zeros(system.num_velocity_constraints) if multipliers is None else multipliers
        return State(system, q, zero, self.tau, self.t, zero, given)

    def moved(self, q: FloatArray, x: FloatArray) -> FloatArray:
        """Return the configuration at the end of a step of the free entries."""
        return self.system.retract(q, self._step(x))

    def _step(self, x: FloatArray) -> FloatArray:
        step = np.zeros(self.system.nv)
        step[self.free] = x * self.unit[self.free]
        return step

    def equations(self, q: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return what is left of the equations."""
        system, t = self.system, self.t
        zero = np.zeros(system.nv)
        forces = system.bias_force(q, zero) - system.generalized_forces(q, zero, t) - self.tau
        forces -= system.constraint_jacobian(q, t).T @ multipliers * self.force
        length = system.arrays.closure.length
        forces = (forces * self.unit)[self.free] / (self.force * length)
        return np.concatenate([forces, system.constraint_residual(q, t) / length])

    def derivatives(self, q: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Return their derivatives by steps at q, and by the multipliers."""
        system, t, free = self.system, self.t, self.free
        zero, length = np.zeros(system.nv), system.arrays.closure.length
        K = system.inverse_dynamics_derivatives(q, zero, zero)[0]
        K = K - system.force_derivatives(q, zero, t)[0]
        K -= system.constraint_force_derivative(q, multipliers * self.force, t)
        A = system.constraint_jacobian(q, t)[:, free] * self.unit[free] / length
        K = (self.unit[:, None] * K * self.unit)[np.ix_(free, free)] / (self.force * length)
        g = A[position_rows(system)]
        return np.block([[K, -A.T], [g, np.zeros((len(g), len(A)))]])

    def searched(self, start: FloatArray) -> tuple[FloatArray, float]:
        """Return the configuration that a search from a start ends at, and what is left there."""
        from scipy.optimize import least_squares

        system, n = self.system, len(self.free)
        if not n:
            return start, 0.0
        given = unbalanced(self.state(start), self.held)[2] / self.force

        def at(z: FloatArray) -> tuple[FloatArray, FloatArray]:
            return self.moved(start, z[:n]), z[n:]

        def slope(z: FloatArray) -> FloatArray:
            found = self.derivatives(*at(z))
            step = np.zeros((n, system.nv))
            step[range(n), self.free] = self.unit[self.free]
            along = system.dexp(self._step(z[:n]), step)[:, self.free] / self.unit[self.free]
            found[:, :n] = found[:, :n] @ along.T
            return found

        found = least_squares(
            lambda z: self.equations(*at(z)), np.concatenate([np.zeros(n), given]), slope,
            ftol=1e-14, xtol=1e-14, gtol=1e-14, max_nfev=200,
        )  # fmt: skip
        return self._ended(*at(found.x))

    def _ended(self, q: FloatArray, multipliers: FloatArray) -> tuple[FloatArray, float]:
        """Take a few whole Newton steps, which the search has come near enough for."""
        left = self.equations(q, multipliers)
        for _ in range(_LAST_STEPS):
            step: Any = np.linalg.lstsq(self.derivatives(q, multipliers), -left, rcond=1e-10)[0]
            near = self.moved(q, step[: len(self.free)])
            balanced = multipliers + step[len(self.free) :]
            change = self.equations(near, balanced)
            if not np.abs(change).max() < np.abs(left).max():
                break
            q, multipliers, left = near, balanced, change
        return q, float(np.abs(left).max(initial=0.0))


def _record(balance: _Balance, q: FloatArray, fixed: Iterable[str]) -> Equilibrium:
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
            f"{-left[worst]:.4g} {unit} where small motions change no more; hold it with fixed, "
            f"give it a spring or an effort, or start nearer to an equilibrium"
        )
    motions = SmallMotions.of(balance.state(q, multipliers), held)
    K = motions.K
    R: Any = np.linalg.qr(motions.H * velocity_sizes(system, q)[:, None], mode="r")
    scaled: Any = np.linalg.solve(R.T, np.linalg.solve(R.T, (K + K.T) / 2.0).T)
    skew = float(np.abs(K - K.T).max(initial=0.0))
    return Equilibrium(
        system.name, q, found, reason,
        {system.velocity_names[k]: float(left[k]) for k in held}, multipliers, residual, K,
        np.asarray(np.linalg.eigvalsh(scaled)), motions.names,
        skew <= _SYMMETRIC * float(np.abs(K).max(initial=0.0)),
        freedoms_around(motions, held, fixed) < len(K), system.position_names,
    )  # fmt: skip
