"""Changes of the equations of motion by inputs, and of accelerations and multipliers by these.

With the velocities F that are free and P whose accelerations are given, tau is that of

    e = M vdot + b - f - A^T lambda = tau,    r = A vdot + A-dot v = 0,

f the forces of the mechanism. An input changes e and r at fixed accelerations F and multipliers, so
that

    [M_FF  -A_F^T] [dvdot_F]   [dtau_F - de_F]
    [A_F      0  ] [dlambda] = [    -dr      ],    dtau = de + M_:F dvdot_F - A^T dlambda.

With M_FF = L L^T and B = A_F L^-T = U S V^T, of the rank that the solver found,

    x = L^T dvdot_F = (1 - V V^T) w - V S^-1 U^T dr,    w = L^-1 (dtau_F - de_F),
    dlambda = U S^-1 V^T (x - w) + (1 - U U^T) d(A mu),

the last term where rows depend on others: multipliers of least norm are lambda = A_F mu, and
d(A_F mu) has no part but dA_F mu outside the columns of A_F.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import attrs
import numpy as np

from mbkit.errors import ParameterError, SingularMassMatrixError, UsageError
from mbkit.joints.defaults.differences import derivative_by
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "INPUTS", "Change", "Point", "Solution", "along_steps", "best_rate", "change_by_input",
    "differences",
]  # fmt: skip

INPUTS = ("q", "v", "vdot", "tau", "t")


class Change(NamedTuple):
    """What an input changes at fixed accelerations F and multipliers; the last axis is the input's.

    Attributes
    ----------
    efforts, rows : (N, nv, k), (N, m, k)
        Of e and of r.
    turned : (N, m, k)
        Of A mu.
    vdot, tau : (N, nv, k)
        Of accelerations P and efforts F, which are given.
    """

    efforts: Any = 0.0
    rows: Any = 0.0
    turned: Any = 0.0
    vdot: Any = 0.0
    tau: Any = 0.0


@final
@attrs.frozen(eq=False)
class Point:
    """States in which everything is known, one a row.

    Attributes
    ----------
    system : System
        The system.
    q, v, vdot, tau, t, multipliers : ndarray, shape (N, nq), (N, nv), ..., (N,), (N, m)
        Of each state; m is 0 where constraints take no part.
    rank : ndarray of int, shape (N,)
        Numbers of rows of constraints that are independent.
    given : ndarray of bool, shape (nv,)
        Velocities whose accelerations are given.
    by_motion : bool
        Whether they are given by functions of time, with positions and velocities.
    """

    system: System
    q: Floats
    v: Floats
    vdot: Floats
    tau: Floats
    t: Floats
    multipliers: Floats
    rank: Any
    given: Any
    by_motion: bool

    def chosen(self, good: Any) -> Self:
        """Return some of the states."""
        names = ("q", "v", "vdot", "tau", "t", "multipliers", "rank")
        return attrs.evolve(self, **{name: getattr(self, name)[good] for name in names})

    @property
    def constrained(self) -> bool:
        """Whether constraints take part."""
        return bool(self.multipliers.shape[-1] > 0)

    @property
    def redundant(self) -> bool:
        """Whether rows depend on others in one of the states."""
        return bool((self.rank < self.multipliers.shape[-1]).any())

    def jacobian(self, system: System | None = None, t: Any = None) -> Floats:
        """Return A (N, m, nv)."""
        if not self.constrained:
            return np.zeros((len(self.q), 0, self.system.nv))
        return (system or self.system).constraint_jacobian(self.q, self.t if t is None else t)

    def equations(self, system: System, t: Floats, mu: Floats) -> dict[str, tuple[Floats, Any]]:
        """Return e, r, A mu and vdot of another system, or at other times, and how large each is.

        By the names of `Change`; sizes (N, 1).
        """
        q, v, vdot = self.q, self.v, self.vdot
        if self.by_motion:
            q, v, moved = system.prescribed_rows(t, q, v)
            vdot = np.where(self.given, moved, vdot)
        terms = [system.inverse_dynamics(q, v, vdot), -system.generalized_forces(q, v, t)]
        rows = turned = np.zeros((len(q), 0))
        if self.constrained:
            A = system.constraint_jacobian(q, t)
            terms.append(-np.einsum("nmv,nm->nv", A, self.multipliers))
            rows = system.constraint_acceleration(q, v, vdot, t)
            turned = np.einsum("nmv,nv->nm", A, mu)
        size = np.abs(terms).max(axis=(0, 2), initial=0.0)[:, None]
        # of the rows nothing is left: large are the accelerations that they balance
        speed = np.abs(vdot).max(axis=-1, initial=0.0, keepdims=True)
        return {
            "efforts": (np.sum(terms, axis=0), size),
            "rows": (rows, speed + np.abs(v).max(axis=-1, initial=0.0, keepdims=True) ** 2),
            "turned": (turned, np.abs(turned).max(axis=-1, initial=0.0, keepdims=True)),
            "vdot": (np.where(self.given, vdot, 0.0), speed),
        }


# ------------------------------------------------------------------------------------ solution


@final
@attrs.frozen(eq=False)
class Solution:
    """The factors that take changes of the equations to those of the results, for each state."""

    point: Point
    M: Floats
    L: Floats
    A: Floats
    U: Floats
    V: Floats
    inverse: Floats  # (N, least of m and F): of singular values, 0 beyond the rank

    @classmethod
    def of(cls, point: Point) -> Self:
        """Factorise."""
        free = np.flatnonzero(~point.given)
        L: Any
        M, A = point.system.mass_matrix(point.q), point.jacobian()
        try:
            L = np.linalg.cholesky(M[:, free[:, None], free])
        except np.linalg.LinAlgError:
            raise SingularMassMatrixError(
                f"System '{point.system.name}': derivatives need the inverse of the mass matrix, "
                f"which is not positive definite but for rounding; System.mass_factor says which "
                f"joint moves no inertia."
            ) from None
        B = np.swapaxes(np.linalg.solve(L, np.swapaxes(A[..., free], -1, -2)), -1, -2)
        U, sizes, Vt = np.linalg.svd(B, full_matrices=False)
        counts = np.arange(sizes.shape[-1]) < point.rank[:, None]
        inverse = np.where(counts, 1.0 / np.where(counts, sizes, 1.0), 0.0)
        U, V = U * counts[:, None, :], np.swapaxes(Vt, -1, -2) * counts[:, None, :]
        return cls(point, M, L, A, U, V, inverse)

    @property
    def mu(self) -> Floats:
        """The mu (N, nv) for which the multipliers are A mu, zero where accelerations are given."""
        found = np.zeros(self.point.v.shape)
        x = self.inverse[..., None] * (_T(self.U) @ self.point.multipliers[..., None])
        found[:, ~self.point.given] = np.linalg.solve(_T(self.L), self.V @ x)[..., 0]
        return found

    def solve(self, change: Change) -> dict[str, Floats]:
        """Return the changes of vdot, tau and multipliers, (N, ..., k)."""
        free = ~self.point.given
        efforts = np.asarray(change.efforts - np.asarray(change.tau))
        k = max(np.shape(x)[-1] for x in change if np.ndim(x))
        n, nv, m = len(self.M), len(free), self.A.shape[-2]
        efforts = np.broadcast_to(efforts, (n, nv, k))
        rows = np.broadcast_to(change.rows, (n, m, k))
        turned = np.broadcast_to(change.turned, (n, m, k))
        w = np.linalg.solve(self.L, -efforts[:, free])
        scale = self.inverse[..., None]
        x = w - self.V @ (_T(self.V) @ w + scale * (_T(self.U) @ rows))
        multipliers = self.U @ (scale * (_T(self.V) @ (x - w)))
        multipliers += turned - self.U @ (_T(self.U) @ turned)
        vdot = np.array(np.broadcast_to(change.vdot, (n, nv, k)))
        vdot[:, free] = np.linalg.solve(_T(self.L), x)
        tau = efforts + self.M[..., free] @ vdot[:, free] - _T(self.A) @ multipliers
        tau[:, free] = 0.0
        return {"vdot": vdot, "tau": tau + change.tau, "multipliers": multipliers}


def _T(matrices: Floats) -> Floats:
    return np.swapaxes(matrices, -1, -2)


# ------------------------------------------------------------------------------------- changes

#: Central differences of eighth order along steps: h, h^8 f^(9) / 630 is left out.
_STEP = 1.0 / 512.0
_STEPS = _STEP * np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0])
_WEIGHTS = np.array([3.0, -32.0, 168.0, -672.0, 672.0, -168.0, 32.0, -3.0]) / (840.0 * _STEP)


def change_by_input(point: Point, name: str) -> Change:
    """Return the change by "q", "v", "vdot", "tau" or "t"."""
    return _CHANGES[name](point)


def _by_configuration(point: Point) -> Change:
    moving = np.ones(point.system.ndx, dtype=bool)
    if point.by_motion:
        for joint in point.system.motions:
            moving[point.system.step_slice(joint)] = False
    mu = Solution.of(point).mu if point.redundant else None
    return along_steps(point, moving, mu)


def along_steps(point: Point, moving: Any, mu: Floats | None) -> Change:
    """Return the change along steps of the configuration.

    Parameters
    ----------
    point : Point
        The states.
    moving : ndarray of bool, shape (ndx,)
        Entries of steps to look at; the columns of others are zero.
    mu : ndarray, shape (N, nv), optional
        See `Solution.mu`, where rows depend on others.
    """
    system, q, v, t = point.system, point.q, point.v, point.t
    efforts = system.inverse_dynamics_derivatives(q, v, point.vdot)[0]
    efforts = efforts - system.force_derivatives(q, v, t)[0]
    if not point.constrained:
        return Change(efforts * moving)
    efforts = efforts - system.constraint_force_derivative(q, point.multipliers, t)
    steps = np.multiply.outer(_STEPS, np.eye(system.ndx)[moving])  # (8, moving, ndx)
    near = system.retract(q[:, None, None], steps)
    rates = [x[:, None, None] for x in (v, point.vdot, t)]
    rows = np.zeros((*point.multipliers.shape, system.ndx))
    accelerations = system.constraint_acceleration(near, *rates)
    rows[..., moving] = np.einsum("s,nskm->nmk", _WEIGHTS, accelerations)
    turned: Any = 0.0
    if mu is not None:
        turned = system.constraint_jacobian_velocity_derivative(q, mu, t) * moving
    return Change(efforts * moving, rows, turned)


def _by_velocity(point: Point) -> Change:
    system, q, v, t = point.system, point.q, point.v, point.t
    efforts = system.inverse_dynamics_derivatives(q, v, point.vdot)[1]
    efforts = efforts - system.force_derivatives(q, v, t)[1]
    moving = np.where(point.given, 0.0, 1.0) if point.by_motion else 1.0
    if not point.constrained:
        return Change(efforts * moving)
    # the bias is quadratic in v: its central differences are exact, and of that size at best
    size = np.maximum(1.0, np.abs(v).max(axis=-1, initial=0.0))[:, None, None]
    h = size * np.eye(system.nv)
    at, there = q[:, None], t[:, None]
    above, below = (system.constraint_bias(at, v[:, None] + e, there) for e in (h, -h))
    return Change(efforts * moving, _T((above - below) / (2.0 * size)) * moving)


def _by_acceleration(point: Point) -> Change:
    given = np.diag(point.given.astype(float))
    return Change(point.system.mass_matrix(point.q) @ given, point.jacobian() @ given, vdot=given)


def _by_effort(point: Point) -> Change:
    return Change(tau=np.diag((~point.given).astype(float)))


def _by_time(point: Point) -> Change:
    return differences(point, lambda e: (point.system, point.t + e), 1.0)


def differences(
    point: Point, moved: Callable[[float], tuple[System, Floats]], start: float, what: str = "t"
) -> Change:
    """Return a change by differences of the equations at fixed accelerations and multipliers.

    Parameters
    ----------
    point : Point
        The states.
    moved : callable
        Takes a number to the system and the times that go with it.
    start : float
        A large number for it.
    what : str
        What the number is, for messages.

    Raises
    ------
    UsageError
        If the equations jump.
    """
    mu = Solution.of(point).mu if point.redundant else np.zeros(point.v.shape)
    here = point.equations(point.system, point.t, mu)
    sizes = {name: np.where(size > 0.0, size, 1.0) for name, (_, size) in here.items()}

    def parts(equations: dict[str, tuple[Floats, Any]]) -> Floats:
        return np.concatenate([equations[name][0] / sizes[name] for name in here], axis=-1)

    def at(e: float) -> Floats:
        return parts(point.equations(*moved(e), mu))

    rate = best_rate(at, start)
    _check_no_jump(at, parts(here), rate, _BESIDE * start, what)
    rates = np.split(rate, np.cumsum([x.shape[-1] for x, _ in here.values()]), -1)
    return Change(
        **{
            name: (rate * size)[..., None]
            for (name, size), rate in zip(sizes.items(), rates, strict=False)
        }
    )


#: How near equations are compared with where they are, and how far apart they may be.
_BESIDE, _JUMP = 1e-8, 1e-4


def _check_no_jump(
    function: Callable[[float], Floats], here: Floats, rate: Floats, step: float, what: str
) -> None:
    """Raise UsageError if a function is not the limit of what it is beside 0."""
    for e in (-step, step):
        try:
            jump = np.abs(function(e) - here - e * rate)
        except ParameterError:  # there is nothing on that side
            continue
        if jump.max(initial=0.0) > _JUMP:
            raise UsageError(
                f"There is no derivative by '{what}' at this value: directions in which "
                f"constraints or forces are measured change at once beside it. Change it a little, "
                f"by 1e-6 or so."
            )


#: How many first steps are tried, each a quarter of the one before; what is good enough, and what
#: is so good that a shorter step, which is worse, is the last.
_TRIALS, _ENOUGH, _GOOD = 10, 1e-13, 1e-9


def best_rate(function: Callable[[float], Floats], start: float) -> Floats:
    """Return the derivative at 0 by the differences of eighth order that agree best.

    Where there is a function on one side alone, by those of sixth order there.

    Parameters
    ----------
    function : callable
        Takes a number to an array whose entries are of like size.
    start : float
        Four times the first step that is tried.

    Raises
    ------
    ParameterError
        The function's own, if there is nothing on either side.
    """
    refusal = ParameterError("There are no numbers on either side.")
    for side in (0, 1, -1):
        best, found = np.inf, None
        for k in range(1, _TRIALS):
            try:
                rate, error = derivative_by(function, side, start / 4.0**k)
            except ParameterError as refused:
                refusal = refused
                continue
            size = float(np.abs(rate).max(initial=0.0))
            worse = not error < best
            if not worse:
                best, found = error, rate
            if best <= _ENOUGH * size or (worse and best <= _GOOD * size):
                break
        if found is not None:
            return np.asarray(found)
    raise refusal


_CHANGES: dict[str, Callable[[Point], Change]] = {
    "q": _by_configuration,
    "v": _by_velocity,
    "vdot": _by_acceleration,
    "tau": _by_effort,
    "t": _by_time,
}
