"""States of a system, and accelerations and multipliers by changes of the equations of motion.

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

import functools
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import attrs
import numpy as np

from mbkit.errors import SingularMassMatrixError
from mbkit.systems.calls.arguments import Floats

if TYPE_CHECKING:
    from mbkit.systems.system import System


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


class TimedStates(NamedTuple):
    """N states and their times: q (N, nq), v (N, nv), t (N,)."""

    q: Floats
    v: Floats
    t: Floats


@final
@attrs.frozen(eq=False, slots=False)
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
    kept : ndarray, shape (N, m), optional
        Not zero for the rows of constraints that count, where the others are left out: their
        multipliers are zero. By default all count, as far as the rank says.
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
    kept: Any = None

    def chosen(self, good: Any) -> Self:
        """Return some of the states."""
        names = ("q", "v", "vdot", "tau", "t", "multipliers", "rank")
        return attrs.evolve(self, **{name: getattr(self, name)[good] for name in names})

    @property
    def states(self) -> TimedStates:
        """Positions, velocities and times alone."""
        return TimedStates(self.q, self.v, self.t)

    @functools.cached_property
    def by_state(self) -> tuple[Floats, Floats]:
        """The derivatives of inverse dynamics by configuration and velocity."""
        return self.system.inverse_dynamics_derivatives(self.q, self.v, self.vdot, t=self.t)

    @functools.cached_property
    def regressor(self) -> Floats:
        """The derivative of inverse dynamics by inertial parameters, (N, nv, bodies, 10)."""
        Y = self.system.inertial_regressor(self.q, self.v, self.vdot)
        return Y.reshape((*Y.shape[:-1], Y.shape[-1] // 10, 10))

    @functools.cached_property
    def solution(self) -> Solution:
        """The factors of the equations."""
        return Solution.of(self)

    @functools.cached_property
    def mu(self) -> Floats:
        """The mu (N, nv) for which the multipliers are A mu, where rows depend on others; or 0."""
        return self.solution.mu if self.redundant else np.zeros(self.v.shape)

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
        A = (system or self.system).constraint_jacobian(self.q, self.t if t is None else t)
        return A if self.kept is None else A * (self.kept != 0.0)[..., None]

    def equations(self, system: System, t: Floats) -> dict[str, Floats]:
        """Return e, r, A mu and vdot of another system, or at other times; names as in `Change`."""
        q, v, vdot = self.q, self.v, self.vdot
        if self.by_motion:
            q, v, moved = system.prescribed_rows(t, q, v)
            vdot = np.where(self.given, moved, vdot)
        efforts = system.inverse_dynamics(q, v, vdot, t=t)
        rows = turned = np.zeros((len(q), 0))
        if self.constrained:
            A = system.constraint_jacobian(q, t)
            efforts = efforts - np.einsum("nmv,nm->nv", A, self.multipliers)
            rows = system.constraint_acceleration(q, v, vdot, t)
            turned = np.einsum("nmv,nv->nm", A, self.mu)
        vdot = np.where(self.given, vdot, 0.0)
        return {"efforts": efforts, "rows": rows, "turned": turned, "vdot": vdot}

    @functools.cached_property
    def sizes(self) -> dict[str, Floats]:
        """How large terms of these equations are, (N, 1), where nothing may be left of them."""
        fall = float(np.linalg.norm(self.system.gravity))
        vdot, v = (np.abs(x).max(axis=-1, initial=0.0) for x in (self.vdot, self.v))
        gain = vdot + v**2 + fall
        force = np.abs(self.system.mass_matrix(self.q)).max(axis=(-2, -1), initial=0.0) * gain
        applied = np.abs(self.system.generalized_forces(self.q, self.v, self.t))
        force = force + applied.max(axis=-1, initial=0.0)
        found = {"efforts": force, "rows": gain, "turned": np.abs(self.mu).max(-1, initial=0.0)}
        return {
            name: np.where(size > 0.0, size, 1.0)[:, None]
            for name, size in {**found, "vdot": gain}.items()
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

    def multipliers(self, missing: Floats) -> Floats:
        """Return the minimum-norm multipliers for efforts (N, nv) of the free velocities."""
        b = np.linalg.solve(self.L, missing[:, ~self.point.given, None])
        return (self.U @ (self.inverse[..., None] * (_T(self.V) @ b)))[..., 0]

    def transposed(self, adjoints: Floats) -> tuple[Floats, Floats]:
        """Return the adjoints of changes of e (N, nv, k) and r (N, m, k) by k of vdot."""
        free = ~self.point.given
        y = np.linalg.solve(self.L, adjoints[:, free])
        along = _T(self.V) @ y
        efforts = np.zeros(adjoints.shape)
        efforts[:, free] = -np.linalg.solve(_T(self.L), y - self.V @ along)
        return efforts, -self.U @ (self.inverse[..., None] * along)

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
