"""Constraints of a system: residual, Jacobian, bias, and motion with their multipliers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self

import attrs
import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import UsageError
from mbkit.solvers import ConstraintSolver
from mbkit.systems.calls.arguments import Floats, times_of
from mbkit.systems.calls.evaluations import (
    CONSTRAINED_DYNAMICS,
    CONSTRAINT_JACOBIAN,
    CONSTRAINT_SIZES,
    CONSTRAINT_STATE,
    FORWARD_DYNAMICS,
    SOLVED_DYNAMICS,
    Evaluation,
)
from mbkit.systems.calls.wrenches import Wrenches, wrench_rows
from mbkit.systems.driving import Driven
from mbkit.systems.redundancy import check_dependent, warn_of_redundant

__all__ = ["Constrained"]


@attrs.frozen(eq=False, slots=False, repr=False)
class Constrained(Driven):
    """Constraints of a system; see `System`."""

    @property
    def loop_joints(self) -> tuple[str, ...]:
        """Names of the joints that close loops: they have no entries in q and v."""
        return self._blueprint.loop_joints

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """One name a row of the constraints: "joint[k]", or "joint" where it has one."""
        return self.arrays.closure.row_names

    @property
    def num_position_constraints(self) -> int:
        """Number of rows of `constraint_residual`."""
        return self.arrays.closure.num_position_rows

    @property
    def num_velocity_constraints(self) -> int:
        """Number of rows of `constraint_jacobian`."""
        return self.arrays.closure.num_rows

    @property
    def constraint_solver(self) -> ConstraintSolver | None:
        """The strategy that finds the multipliers of the constraints; None for a tree.

        See docs/constraint-solvers.md for which one is taken where none was named.
        """
        closure = self.arrays.closure
        return closure.solver if closure else None

    def with_constraint_solver(self, solver: ConstraintSolver | None) -> Self:
        """Return a system with another strategy for its constraints; this one stays as it is.

        Parameters
        ----------
        solver : ConstraintSolver or None
            The strategy; None lets it be chosen by size and rank.

        Returns
        -------
        System
            With the same motion.

        Raises
        ------
        UsageError
            If it is none.

        Examples
        --------
        >>> import numpy as np
        >>> import mbkit as mb
        >>> mech = mb.Mechanism("two rods")
        >>> for name, x in (("left", 0.0), ("right", 1.0)):
        ...     inertia = mb.SpatialInertia.from_com(1.0, (x, 0, -1), np.eye(3))
        ...     rod = mech.add_body(mb.Body(name, inertia))
        ...     joint = mb.RevoluteJoint(f"{name} top", axis=(0, 1, 0), point=(x, 0, 0))
        ...     joint = mech.add_joint(joint, mech.world, rod)
        >>> joint = mech.add_joint(mb.RevoluteJoint("bottom", axis=(0, 1, 0)), "left", "right")
        >>> system = mech.assemble()
        >>> system.constraint_solver
        MinimumNorm(tolerance=1e-06)
        >>> system.with_constraint_solver(mb.NullSpace()).constraint_solver
        NullSpace(tolerance=1e-06)
        """
        if not isinstance(solver, ConstraintSolver | None):
            raise UsageError(
                f"A constraint solver must be an mbkit.ConstraintSolver, got {solver!r}; for "
                f"example mbkit.MinimumNorm()."
            )
        return self._with_solver(solver)  # type: ignore[return-value]

    @functools.cached_property
    def _with_solver(self) -> Callable[[ConstraintSolver | None], object]:
        """Remembers the last systems that were made from this one."""
        return functools.lru_cache(maxsize=4)(self._blueprint.with_constraint_solver)

    @property
    def equations(self) -> Evaluation:
        """What gives the accelerations: of the tree, or with its loops closed."""
        return CONSTRAINED_DYNAMICS if self.arrays.closure else FORWARD_DYNAMICS

    def constraint_residual(
        self, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return how far the loops are from being closed.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        t : array_like, shape (...), default 0
            Time, of which a constraint may be a function. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_position_constraints)
            By row, as in `constraint_names`; angles are multiplied by the length of the system. [m]
            Empty for a tree.

        Examples
        --------
        See `mbkit.RelativeCoordinates`.
        """
        return self._constraint_parts(q, None, None, t, on_error)[0]

    def constraint_velocity(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return ``A v``, the rate of the residual: zero where the loops stay closed.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        t : array_like, shape (...), default 0
            Time. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints)
            By row, as in `constraint_names`. [m/s]
        """
        return self._constraint_parts(q, v, None, t, on_error)[1]

    def constraint_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        vdot: ArrayLike,
        t: ArrayLike = 0.0,
        *,
        on_error: str = "raise",
    ) -> Floats:
        """Return ``A vdot + dA/dt v``: zero where the loops stay closed.

        Parameters
        ----------
        q, v, vdot : array_like, shape (..., nq), (..., nv), (..., nv)
            Configuration, velocity, acceleration.
        t : array_like, shape (...), default 0
            Time. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints)
            By row, as in `constraint_names`. [m/s^2]
        """
        return self._constraint_parts(q, v, vdot, t, on_error)[2]

    def constraint_bias(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return ``dA/dt v``, the part of `constraint_acceleration` that is there without vdot.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity.
        t : array_like, shape (...), default 0
            Time. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints)
            By row, as in `constraint_names`. [m/s^2]
        """
        return self._constraint_parts(q, v, None, t, on_error)[2]

    def constraint_jacobian(
        self, q: ArrayLike, t: ArrayLike = 0.0, *, on_error: str = "raise"
    ) -> Floats:
        """Return A, where ``A v`` is the rate of the residual.

        Parameters
        ----------
        q : array_like, shape (..., nq)
            Configuration.
        t : array_like, shape (...), default 0
            Time, of which a constraint may be a function. [s]
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints, nv)
            The exact derivative of the residual where the loops are closed; elsewhere off by as
            much as they are open.
        """
        if not self.arrays.closure:
            leading = self.evaluator.arguments.leading(t, on_error, q=q)
            return np.zeros((*leading, 0, self.nv))
        times = times_of(t, on_error)[..., None]
        return self.evaluator.compute(
            CONSTRAINT_JACOBIAN, q, self.evaluator.zero, times, on_error=on_error
        )

    def constraint_sizes(self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> Floats:
        """Return ``|A| |v|``, the sizes of the terms of which ``A v`` is the sum; A is not formed.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration; velocity, or anything else that A multiplies.
        t : array_like, shape (...), default 0
            Time. [s]

        Returns
        -------
        ndarray, shape (..., num_velocity_constraints)
            By row, as in `constraint_names`. Empty for a tree.
        """
        if not self.arrays.closure:
            return np.zeros((*self.evaluator.arguments.leading(t, q=q, v=v), 0))
        times = times_of(t)[..., None]
        return self.evaluator.compute(CONSTRAINT_SIZES, q, v, times)

    def _constraint_parts(
        self,
        q: ArrayLike,
        v: ArrayLike | None,
        vdot: ArrayLike | None,
        t: ArrayLike,
        on_error: str,
    ) -> tuple[Floats, Floats, Floats]:
        """Return g, A v, A vdot + dA/dt v."""
        zero = self.evaluator.zero
        v, vdot = zero if v is None else v, zero if vdot is None else vdot
        if not self.arrays.closure:
            axes = self.evaluator.arguments.leading(t, on_error, q=q, v=v, vdot=vdot)
            nothing = np.zeros((*axes, 0))
            return nothing, nothing, nothing
        given = q, v, self.evaluator.arguments.timed("vdot", vdot, t, on_error)
        found = self.evaluator.compute(CONSTRAINT_STATE, *given, on_error=on_error)
        g, rate, bias = np.split(
            found, np.cumsum([self.num_position_constraints, self.num_velocity_constraints]), -1
        )
        return g.copy(), rate.copy(), bias.copy()

    def solve_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        solver: ConstraintSolver | None = None,
        on_error: str = "raise",
    ) -> tuple[Floats, Floats]:
        """Return the acceleration of the closed mechanism and the multipliers of its constraints.

        Parameters
        ----------
        q, v : array_like, shape (..., nq), (..., nv)
            Configuration and velocity, which should satisfy the constraints: `close_loops`.
        tau : array_like, shape (..., nv), optional
            Generalized forces; zero if left out. [N m], [N]
        wrenches : array_like, shape (..., bodies + 1, 6), or mapping, optional
            As in `inverse_dynamics`.
        t : array_like, shape (...), default 0
            Time, of which constraints may be functions. [s]
        solver : ConstraintSolver, optional
            How it is solved; `constraint_solver` if left out.
        on_error : {"raise", "nan"}
            Whether a sample that fails raises, or gets NaN for a result.

        Returns
        -------
        vdot : ndarray, shape (..., nv)
        multipliers : ndarray, shape (..., num_velocity_constraints)
            ``M vdot + b - J^T W = tau + A^T multipliers`` and ``A vdot + dA/dt v = 0``. Where
            constraints are redundant they are not unique; of all that there are, the smallest: of
            least sum of squares. Those of a constraint times its rows are the wrench on it. [N]

        Warns
        -----
        RedundantConstraintsWarning
            Where rows depend on others: motion is unique, their multipliers are not.
        """
        system = self if solver is None else self.with_constraint_solver(solver)
        vdot, multipliers, kept = system.solved(q, v, tau, wrenches, t=t, on_error=on_error)
        if (kept == 0.0).any():
            whole: Any = self
            if on_error == "raise":
                check_dependent(whole, q, v, vdot, t)
            warn_of_redundant(whole, kept)
        return vdot, multipliers

    def solved(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        t: ArrayLike = 0.0,
        pull: tuple[float, float] = (0.0, 0.0),
        on_error: str = "raise",
    ) -> tuple[Floats, Floats, Floats]:
        """Return what `solve_dynamics` does, and 1.0 for each independent row; without warning.

        With ``A vdot + dA/dt v = -pull[0] g - pull[1] (A v)``; see `mbkit.Baumgarte`.
        """
        if not self.arrays.closure:
            system: Any = self
            vdot = system.forward_dynamics(q, v, tau, wrenches, t=t, on_error=on_error)
            nothing = np.zeros((*vdot.shape[:-1], 0))
            return vdot, nothing, nothing
        if self.motions:
            return self._solve_driven(q, v, tau, wrenches, t, pull, on_error)
        arguments, zero = self.evaluator.arguments, self.evaluator.zero
        given: Floats = arguments.timed("tau", zero if tau is None else tau, t, on_error)
        given = np.concatenate([given, np.broadcast_to(pull, (*given.shape[:-1], 2))], axis=-1)
        if wrenches is None:
            found = self.evaluator.compute(SOLVED_DYNAMICS, q, v, given, on_error=on_error)
        else:
            rows = wrench_rows(self, q, wrenches)
            found = self.evaluator.compute_loaded(
                SOLVED_DYNAMICS, q, v, given, wrenches=rows, out=None, on_error=on_error
            )
        m = self.num_velocity_constraints
        vdot, multipliers, kept = np.split(found, [self.nv, self.nv + m], axis=-1)
        return vdot.copy(), multipliers.copy(), kept

    def _solve_driven(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None,
        wrenches: Wrenches | None,
        t: ArrayLike,
        pull: tuple[float, float],
        on_error: str,
    ) -> tuple[Floats, Floats, Floats]:
        """Do the same where joints are prescribed."""
        system: Any = self
        q, v, vdot = self.prescribed_rows(t, q, v, on_error)
        known = system.known(tau, vdot, self.prescribed_joints)
        vdot, _, multipliers, kept = system.solve_hybrid(q, v, known, wrenches, t, on_error, pull)
        return vdot, multipliers, kept
