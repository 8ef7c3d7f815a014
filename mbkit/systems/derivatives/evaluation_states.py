"""States of a system, and accelerations and multipliers by changes of the equations of motion.

With the velocities F that are free and P whose accelerations are given, tau is that of

    e = M vdot + b - f - A^T lambda = tau,    r = A vdot + A-dot v = 0,

f the forces of the mechanism. An input changes e and r at fixed accelerations F and multipliers, so
that

    [M_FF  -A_F^T] [dvdot_F]   [dtau_F - de_F]
    [A_F      0  ] [dlambda] = [    -dr      ],    dtau = de + M_:F dvdot_F - A^T dlambda.

They are solved with the rank that the solver found. If rows depend on others, the multipliers of
least norm are lambda = A_F mu, so that dlambda = dA_F mu + A_F dmu; the part of dA_F mu outside the
range of A_F is added to the solution.
`mbkit.kernels.derivatives.closed_equations` has the factors and the solution.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import attrs
import numpy as np

from mbkit.errors import SingularMassMatrixError
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.memory.orthogonal_factors import memory_of_factors

if TYPE_CHECKING:
    from mbkit.systems.system import System


class Change(NamedTuple):
    """Changes with an input at fixed accelerations F and multipliers; the last axis is the input's.

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

    @property
    def width(self) -> int:
        """The length k of the input's axis."""
        return int(max(part.shape[-1] for part in self if not is_zero(part)))


def is_zero(part: Any) -> bool:
    """Whether a part of a change is left out, a number that is zero."""
    return part.__class__ is float or not part.ndim


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
        multipliers are zero. By default all count, up to the rank.
    turns : ndarray, shape (N, nv), optional
        In the place of `mu`, where A times other velocities is wanted.
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
    turns: Any = None

    def chosen(self, good: Any) -> Self:
        """Return some of the states."""
        if good.all():
            return self
        names = ("q", "v", "vdot", "tau", "t", "multipliers", "rank")
        return attrs.evolve(self, **{name: getattr(self, name)[good] for name in names})

    @property
    def states(self) -> TimedStates:
        """Positions, velocities and times alone."""
        return TimedStates(self.q, self.v, self.t)

    @property
    def fixed(self) -> Floats:
        """Accelerations and multipliers, (N, nv + m)."""
        return np.concatenate([self.vdot, self.multipliers], axis=-1)

    def evaluated(self, function: Callable[..., Any], *given: Any, **times: Any) -> Any:
        """Return a function of states, or several; of one state by a direct call, a tenth the time.

        `times` are t=, if it depends on them.
        """
        if len(self.q) != 1:
            return function(*given, **times)
        found = function(*(x[0] for x in given), **{name: float(t[0]) for name, t in times.items()})
        return tuple(x[None] for x in found) if isinstance(found, tuple) else found[None]

    @functools.cached_property
    def by_state(self) -> tuple[Floats, Floats]:
        """The derivatives of inverse dynamics by configuration and velocity."""
        function = self.system.inverse_dynamics_derivatives
        found: tuple[Floats, Floats] = self.evaluated(function, self.q, self.v, self.vdot, t=self.t)
        return found

    @functools.cached_property
    def mass_matrix(self) -> Floats:
        """The mass matrix M (N, nv, nv)."""
        M: Floats = self.evaluated(self.system.mass_matrix, self.q)
        return M

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
        if self.turns is not None:
            return self.turns  # type: ignore[no-any-return]
        return self.solution.mu if self.redundant else np.zeros(self.v.shape)

    @property
    def constrained(self) -> bool:
        """Whether constraints take part."""
        return bool(self.multipliers.shape[-1] > 0)

    @property
    def redundant(self) -> bool:
        """Whether rows depend on others in one of the states, or `turns` are given."""
        return self.turns is not None or bool((self.rank < self.multipliers.shape[-1]).any())

    def jacobian(self, system: System | None = None, t: Any = None) -> Floats:
        """Return A (N, m, nv)."""
        if not self.constrained:
            return np.zeros((len(self.q), 0, self.system.nv))
        function = (system or self.system).constraint_jacobian
        A: Floats = self.evaluated(function, self.q, t=self.t if t is None else t)
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

        free, given = (~point.given).nonzero()[0], point.given.nonzero()[0]
        M, A = point.mass_matrix, np.ascontiguousarray(point.jacobian())
        (n, m, _), f = A.shape, len(free)
        equations: Any = Equations(M, A, free, given)
        of_B, orthogonal = memory_of_factors((f, m), point.rank)
        factors: Any = Factors(np.empty((n, f, f)), of_B)
        memory: Any = Memory(np.empty((f, m)), orthogonal)
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
        return self.solve_each({"": change})[""]

    def solve_each(self, changes: Mapping[str, Change]) -> dict[str, dict[str, Floats]]:
        """Return the same of several changes, which are solved together, by their names."""
        from mbkit.kernels.derivatives.closed_equations import Found, Sides, solve_all

        n, m, nv = self.equations.A.shape
        most, f = self.factors.B.Q.shape[1:]
        ends = [0, *itertools.accumulate(change.width for change in changes.values())]
        places = dict(zip(changes, map(slice, ends[:-1], ends[1:]), strict=True))

        def side(size: int, parts: Sequence[Any], *, counts: bool = True) -> Floats:
            """Return parts one after another; where `counts` is not set, none if all are zero."""
            known = [not is_zero(part) for part in parts]
            whole = np.zeros((n, size if counts or any(known) else 0, ends[-1]))
            for place, part, is_known in zip(places.values(), parts, known, strict=True):
                if is_known:
                    whole[..., place] = part
            return whole

        efforts, rows, turned, vdot, tau = zip(*changes.values(), strict=True)
        given = side(nv, tau)
        sides: Any = Sides(
            side(nv, efforts) - given, side(m, rows, counts=False), side(m, turned, counts=False)
        )
        found: Any = Found(
            side(nv, vdot), given, np.empty((n, m, ends[-1])),
            np.empty((f, ends[-1])), np.empty((most, ends[-1])),
        )  # fmt: skip
        solve_all(self.equations, self.factors, sides, found)
        return {
            name: {
                "vdot": found.vdot[..., place],
                "tau": found.tau[..., place],
                "multipliers": found.multipliers[..., place],
            }
            for name, place in places.items()
        }
