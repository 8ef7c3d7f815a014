"""Rates of the joints that constraints and prescribed motions allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self, final

import attrs
import numpy as np

from mbkit.errors import ConstraintError
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_sizes
from mbkit.systems.constraint_checks import HOLDS, free_rows, largest_terms
from mbkit.systems.rank import Ranked, largest_row

if TYPE_CHECKING:
    from mbkit.systems import System

__all__ = ["AllowedRates"]

#: Differences of sixth order: weights of steps ahead, less those behind.
_WEIGHTS = {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}

#: How far such a step moves the fastest joint, in radians or lengths of the system: errors by
#: truncation and by rounding are both about 1e-13.
_STEP = 1e-2


@final
@attrs.frozen(eq=False)
class AllowedRates:
    """All x = known + basis y: velocities or accelerations that keep the constraints.

    Attributes
    ----------
    known : ndarray, shape (nv,)
        Of all of them the smallest beside the prescribed entries.
    basis : ndarray, shape (nv, k)
        Orthonormal columns: the motions that constraints and prescribed joints leave free.
    """

    known: FloatArray
    basis: FloatArray

    @classmethod
    def velocities(cls, system: System, q: FloatArray, t: float) -> Self:
        """Return those of v at a configuration; ConstraintError if there are none."""
        held = _held(system, 1, t)
        if not system.num_velocity_constraints:
            return cls._beside(system, held)
        return cls._of(system, q, held, system.constraint_velocity(q, held, t), 0.0, t)

    @classmethod
    def accelerations(cls, system: System, q: FloatArray, v: FloatArray, t: float) -> Self:
        """Return those of vdot; ConstraintError if there are none, or `v` breaks constraints."""
        held = _held(system, 2, t)
        if not system.num_velocity_constraints:
            return cls._beside(system, held)
        system.check_motion(q, v, None, t)
        rest = system.constraint_acceleration(q, v, held, t)
        speed = float(largest_terms(system.constraint_jacobian(q, t), v))
        return cls._of(system, q, held, rest, speed**2 / system.arrays.closure.length, t)

    @classmethod
    def jerks(
        cls, system: System, q: FloatArray, v: FloatArray, vdot: FloatArray, t: float
    ) -> Self:
        """Return those of vddot; ConstraintError if there are none, or the motion is not allowed.

        The rate of A vdot + c is computed by differences along the motion, since constraints have
        no second derivatives; so are the rates of prescribed accelerations.
        """
        h = _time_step(system, v, vdot)
        held = _differentiated(lambda s: _held(system, 2, t + s), h)
        if not system.num_velocity_constraints:
            return cls._beside(system, held)
        system.check_motion(q, v, vdot, t)
        along = system.rates(q, v)

        def constraint(s: float) -> FloatArray:
            at = system.retract(q, s * along)
            return system.constraint_acceleration(at, v + s * vdot, vdot + s * held, t + s)

        A = system.constraint_jacobian(q, t)
        length = system.arrays.closure.length
        speed, gain = (float(largest_terms(A, x)) for x in (v, vdot))
        more = speed**3 / length**2 + speed * gain / length
        return cls._of(system, q, held, _differentiated(constraint, h), more, t)

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
        if left.max(initial=0.0) > HOLDS * terms:
            worst = system.constraint_names[int(np.argmax(left))]
            raise ConstraintError(
                f"System '{system.name}': no rates satisfy all constraints at this configuration "
                f"and time: '{worst}' is left with {left.max():.3g}. Constraints that depend on "
                f"time, or prescribed joints, contradict each other."
            )
        basis = np.zeros((system.nv, ranked.null.shape[1]))
        basis[free] = np.linalg.qr(ranked.null / sizes[:, None])[0]
        known = held.copy()
        known[free] = change / sizes
        known[free] -= basis[free] @ (basis[free].T @ known[free])
        return cls(known, basis)


def _held(system: System, which: int, t: float) -> FloatArray:
    """Return the velocities (which = 1) or accelerations (2) of prescribed joints, zero beside."""
    held = np.zeros(system.nv)
    for name in system.prescribed_joints:
        own = system.velocity_slice(name)
        held[own] = system.prescribed_state(t)[which][own]
    return held


def _time_step(system: System, v: FloatArray, vdot: FloatArray) -> float:
    """Return the time in which the fastest joint moves by `_STEP`; 1 s at rest."""
    sizes = np.where(system.arrays.turning, 1.0, 1.0 / system.arrays.closure.length)
    rate = np.abs(v * sizes).max(initial=0.0)
    gain = np.abs(vdot * sizes).max(initial=0.0)
    fastest = max(float(rate), float(gain) ** 0.5)
    return _STEP / fastest if fastest > 0.0 else 1.0


def _differentiated(function: Callable[[float], FloatArray], h: float) -> FloatArray:
    """Return the derivative of a function of time at 0."""
    changes = (w * (function(k * h) - function(-k * h)) for k, w in _WEIGHTS.items())
    return np.asarray(sum(changes) / h)
