"""States of a system, and accelerations and multipliers by changes of the equations of motion.

With the velocities F that are free and P whose accelerations are given, tau is that of

    e = M vdot + b - f - A^T lambda = tau,    r = A vdot + A-dot v = 0,

f the forces of the mechanism. An input changes e and r at fixed accelerations F and multipliers, so
that

    [M_FF  -A_F^T] [dvdot_F]   [dtau_F - de_F]
    [A_F      0  ] [dlambda] = [    -dr      ],    dtau = de + M_:F dvdot_F - A^T dlambda.

of the rank that the solver found. Where rows depend on others, multipliers of least norm are
lambda = A_F mu, and d(A_F mu) has no part but dA_F mu outside the columns of A_F, which is added.
`mbkit.kernels.derivatives.closed_equations` has the factors and the solution.
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
    """The factors that take changes of the equations to those of the results, for each state.

    Attributes
    ----------
    point : Point
        The states.
    equations : Equations
        Of `mbkit.kernels.derivatives.closed_equations`: M, A, and which velocities are free.
    factors : Factors
        Of these.
    """

    point: Point
    equations: Any
    factors: Any

    @classmethod
    def of(cls, point: Point) -> Self:
        """Factorise."""
        from mbkit.kernels.derivatives.closed_equations import (
            Equations,
            Factors,
            Memory,
            factorise_all,
        )

        free, given = np.flatnonzero(~point.given), np.flatnonzero(point.given)
        M, A = point.system.mass_matrix(point.q), np.ascontiguousarray(point.jacobian())
        (n, m, _), f = A.shape, len(free)
        most = min(m, f)
        equations: Any = Equations(M, A, free, given)
        factors: Any = Factors(
            np.empty((n, f, f)), np.empty((n, most, f)), np.empty((n, most, m)),
            np.empty((n, most, most)), np.minimum(point.rank, most),
        )  # fmt: skip
        memory: Any = Memory(
            np.empty((f, m)), np.empty((most, m)), np.empty((m, most)), np.empty((1, m))
        )
        if factorise_all(equations, factors, memory) < n:
            raise SingularMassMatrixError(
                f"System '{point.system.name}': derivatives need the inverse of the mass matrix, "
                f"which is not positive definite but for rounding; System.mass_factor says which "
                f"joint moves no inertia."
            )
        return cls(point, equations, factors)

    @property
    def mu(self) -> Floats:
        """The mu (N, nv) for which the multipliers are A mu, zero where accelerations are given."""
        return self.solve(Change(rows=-self.point.multipliers[..., None]))["vdot"][..., 0]

    def multipliers(self, missing: Floats) -> Floats:
        """Return the minimum-norm multipliers for efforts (N, nv) of the free velocities."""
        return self.solve(Change(missing[..., None]))["multipliers"][..., 0]

    def transposed(self, adjoints: Floats) -> tuple[Floats, Floats]:
        """Return the adjoints of changes of e (N, nv, k) and r (N, m, k) by k of vdot.

        The equations are symmetric but for signs.
        """
        found = self.solve(Change(adjoints))
        return found["vdot"], -found["multipliers"]

    def solve(self, change: Change) -> dict[str, Floats]:
        """Return the changes of vdot, tau and multipliers, (N, ..., k)."""
        from mbkit.kernels.derivatives.closed_equations import Found, Sides, solve_all

        n, m, nv = self.equations.A.shape
        k = max(np.shape(x)[-1] for x in change if np.ndim(x))

        def wide(part: Any, size: int) -> Floats:
            found = np.empty((n, size if np.ndim(part) else 0, k))
            found[...] = part
            return found

        def started(part: Any) -> Floats:
            return wide(part, nv) if np.ndim(part) else np.zeros((n, nv, k))

        efforts = change.efforts - np.asarray(change.tau) if np.ndim(change.tau) else change.efforts
        sides: Any = Sides(wide(efforts, nv), wide(change.rows, m), wide(change.turned, m))
        width = self.factors.Q.shape[1:]
        found: Any = Found(
            started(change.vdot), started(change.tau), np.empty((n, m, k)),
            np.empty((width[1], k)), np.empty((width[0], k)),
        )  # fmt: skip
        solve_all(self.equations, self.factors, sides, found)
        return {"vdot": found.vdot, "tau": found.tau, "multipliers": found.multipliers}
