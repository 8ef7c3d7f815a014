"""Rates of the joints that constraints and prescribed motions allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, final

import attrs
import numpy as np

from mbkit.closed_loops.constraint_series import constraint_jerk, prescribed_jerk
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_sizes
from mbkit.systems.constraint_checks import check_solved, free_rows, largest_terms
from mbkit.systems.memory.body_tree import Integers
from mbkit.systems.rank import Ranked, largest_row

if TYPE_CHECKING:
    from mbkit.closed_loops.constraint_series import Motion
    from mbkit.systems import System


@final
@attrs.frozen(eq=False)
class AllowedRates:
    """All x = known + basis y: velocities or accelerations that keep the constraints."""

    known: FloatArray  # (nv,): of all of them the smallest beside the prescribed entries
    # (nv, k): orthonormal columns: the motions that constraints and prescribed joints leave free
    basis: FloatArray

    @classmethod
    def velocities(cls, system: System, q: FloatArray, t: float) -> Self:
        """Return those of v at a configuration; ConstraintError if there are none."""
        held = _held(system, 1, t)
        if not system.num_velocity_constraints:
            return cls._beside(system, held)
        return cls._of(system, q, held, system.constraint_velocity(q, held, t), more=0.0, t=t)

    @classmethod
    def accelerations(cls, system: System, q: FloatArray, v: FloatArray, t: float) -> Self:
        """Return those of vdot; ConstraintError if there are none, or `v` breaks constraints."""
        held = _held(system, 2, t)
        if not system.num_velocity_constraints:
            return cls._beside(system, held)
        system.check_motion(q, v, None, t)
        rest = system.constraint_acceleration(q, v, held, t)
        speed = float(largest_terms(system.constraint_jacobian(q, t), v))
        return cls._of(system, q, held, rest, more=speed**2 / system.arrays.closure.length, t=t)

    @classmethod
    def jerks(
        cls, system: System, q: FloatArray, v: FloatArray, vdot: FloatArray, t: float
    ) -> Self:
        """Return those of vddot; ConstraintError if there are none, or the motion is not allowed.

        See `constraint_jerk`.
        """
        held = prescribed_jerk(system, t)
        if not system.num_velocity_constraints:
            return cls._beside(system, held)
        system.check_motion(q, v, vdot, t)
        rest = constraint_jerk(system, q, v, vdot, held, t)
        A = system.constraint_jacobian(q, t)
        length = system.arrays.closure.length
        speed, gain = (float(largest_terms(A, x)) for x in (v, vdot))
        more = speed**3 / length**2 + speed * gain / length
        return cls._of(system, q, held, rest, more=more, t=t)

    @classmethod
    def going_on(cls, system: System, q: FloatArray, t: float, motion: Motion | None) -> Self:
        """Return those of the next derivative of v along a motion; all if nothing constrains it."""
        zero = np.zeros(system.nv)
        if motion is None:
            return cls._beside(system, zero)
        return cls._of(system, q, zero, motion.constraints(zero), more=motion.terms, t=t)

    @classmethod
    def _beside(cls, system: System, held: FloatArray) -> Self:
        """Return all rates of a system without constraints, but of prescribed joints."""
        basis = np.eye(system.nv)
        for name in system.prescribed_joints:
            basis = basis[:, ~basis[system.velocity_slice(name)].any(axis=0)]
        return cls(held, basis)

    @classmethod
    def _of(
        cls,
        system: System,
        q: FloatArray,
        held: FloatArray,
        rest: FloatArray,
        *,
        more: float,
        t: float,
    ) -> Self:
        """Return the solutions of A x + rest = 0 with x as held besides; `more` is their size."""
        A, free, every = free_rows(system, q, t)
        sizes = velocity_sizes(system, q)[free]
        ranked = Ranked.of(A, largest_row(every))
        change = -ranked.solve(rest)
        left = np.abs(A @ change + rest)
        terms = float(largest_terms(A, change)) + np.abs(rest).max(initial=0.0) + more
        check_solved(system, left, terms, "rates")
        basis = np.zeros((system.nv, ranked.null.shape[1]))
        basis[free] = np.linalg.qr(ranked.null / sizes[:, None])[0]
        known = held.copy()
        known[free] = change / sizes
        known[free] -= basis[free] @ (basis[free].T @ known[free])
        return cls(known, basis)


def allowed_motions(system: System, q: FloatArray, t: float, free: Integers) -> FloatArray:
    """Return an orthonormal basis (nv, k) of the velocities along which constraints hold.

    Of the entries `free` alone; prescribed functions of time in constraints are left out.
    """
    basis = np.eye(system.nv)[:, free]
    if not system.num_velocity_constraints:
        return basis
    sizes = velocity_sizes(system, q)
    A = system.constraint_jacobian(q, t) / sizes
    null = Ranked.of(A[:, free], largest_row(A)).null
    return np.asarray(basis @ np.linalg.qr(null / sizes[free, None])[0])


def _held(system: System, which: int, t: float) -> FloatArray:
    """Return the velocities (which = 1) or accelerations (2) of prescribed joints, zero beside."""
    held = np.zeros(system.nv)
    for name in system.prescribed_joints:
        own = system.velocity_slice(name)
        held[own] = system.prescribed_state(t)[which][own]
    return held
