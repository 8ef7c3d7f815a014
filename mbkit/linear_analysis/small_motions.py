"""Equations of small motions around a state, in independent coordinates.

With x an increment of the configuration group at q, w one of v and a one of vdot, the equations of
motion ``r = M vdot + b - f - tau = A^T multipliers``, ``A v + c = 0``, ``A vdot + gamma = 0`` give

    r_x x + r_v w + M a - D(A^T multipliers) x = B u + A^T (change of multipliers)
    A w + D(A v + c) x = 0
    A a + D(A vdot + gamma) x + gamma_v w = 0.

H spans the null space of A and is 1 in the independent coordinates, whose increments are xi and
eta. Then x = H xi, w = H eta + P xi, a = H eta' + Q xi + R eta, where P, Q and R are zero in the
independent rows, and H^T times the first row has no multipliers any more. The increment is one from
the motion through the state, so that x' = w + [x, v] and xi' = eta + E xi; E is zero at rest, and
where coordinates add.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Self, final

import attrs
import numpy as np

from mbkit.closed_loops.kinematics import Partition, partition
from mbkit.errors import (
    ConstraintError,
    NotFiniteError,
    RedundantConstraintsWarning,
    UsageError,
    listed,
)
from mbkit.joints.defaults.differences import central_differences
from mbkit.linear_models.modes import SecondOrderForm
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import entries_of, velocity_scales, velocity_sizes
from mbkit.systems.derivatives.dynamics_derivatives import constraints_by_steps
from mbkit.systems.derivatives.input_changes import bias_by_velocity
from mbkit.systems.rank import Ranked, largest_row, rank_of

if TYPE_CHECKING:
    from mbkit.systems import System
    from mbkit.systems.derivatives.on_duals.exact_constraints import RowDerivatives

#: Steps of the fastest joint, in radians or lengths.
_STEPS, _WEIGHTS = central_differences(6, 1.0 / 128.0)

#: Rounding of brackets of unit motions.
_NO_BRACKET = 1e-11

#: Largest residual of balanced forces, in parts of the largest.
BALANCED = 1e-8

#: How far a configuration is away that is compared, in radians or parts of the length.
_AROUND = 1e-2

#: How far a mechanism is moved, in parts of its length, to see of what size its forces are.
_MOVED = 1e-4

#: Independent coordinates are those that move much, but the first of v rather than the last, which
#: counts by less; and those that are added rather than composed, as of ball joints.
_LATER, _COMPOSED = 0.5, 0.3


@final
@attrs.frozen(eq=False)
class State:
    """A state of a system with its acceleration, multipliers and constant efforts."""

    system: System
    q: FloatArray
    v: FloatArray
    tau: FloatArray
    t: float
    vdot: FloatArray
    multipliers: FloatArray

    @classmethod
    def of(cls, system: System, q: FloatArray, v: FloatArray, tau: FloatArray, t: float) -> Self:
        """Return a state with the acceleration that follows from it."""
        with warnings.catch_warnings():  # small motions do not depend on the choice of multipliers
            warnings.simplefilter("ignore", RedundantConstraintsWarning)
            vdot, multipliers = system.solve_dynamics(q, v, tau, t=t)
        return cls(system, q, v, tau, t, vdot, multipliers)


@final
@attrs.frozen(eq=False)
class SmallMotions:
    """``M eta' + D eta + K xi = H^T B u``, ``xi' = eta + E xi``; see the module.

    Attributes
    ----------
    state : State
        Around which.
    independent : list of int
        Entries of v whose increments xi and eta are, (m,).
    H, P, Q, R : ndarray, shape (nv, m)
        Increments of q, v and vdot: ``H xi``, ``H eta + P xi``, ``H eta' + Q xi + R eta``.
    M, D, K, E : ndarray, shape (m, m)
        The equations.
    by_q, by_v, mass : ndarray, shape (nv, nv)
        Those of all velocities, before they are reduced: ``by_q x + by_v w + mass a = B u + A^T
        (change of multipliers)``.
    """

    state: State
    independent: list[int]
    H: FloatArray
    P: FloatArray
    Q: FloatArray
    R: FloatArray
    M: FloatArray
    D: FloatArray
    K: FloatArray
    E: FloatArray
    by_q: FloatArray
    by_v: FloatArray
    mass: FloatArray

    @classmethod
    def of(cls, state: State, held: list[int], independent: Sequence[str] | None = None) -> Self:
        """Return the equations of motions in which some entries of v are held.

        ConstraintError if coordinates that are given do not determine the motion.
        """
        system, q, v, t = state.system, state.q, state.v, state.t
        A = system.constraint_jacobian(q, t)
        sizes = velocity_sizes(system, q)
        if independent is None:
            entries, split = _chosen(system, A / sizes, sizes, held)
        else:
            entries = [k for k in entries_of(system, independent, "independent") if k not in held]
            split = partition(system, A, sizes, [*entries, *held])

        def completed(rate: FloatArray) -> FloatArray:
            """Return x with A x + rate = 0, zero but for the dependent entries."""
            found = np.zeros((system.nv, len(entries)))
            found[split.dependent] = split.solve(rate)
            return found

        units = np.zeros((system.nv, len(entries)))
        units[entries, range(len(entries))] = 1.0
        H = units + completed(A @ units)
        rates = _Rates(state, H)
        P = completed(rates.velocity())
        gamma_v = bias_by_velocity(system, q, v, t)
        Q = completed(rates.acceleration() + gamma_v @ P)
        R = completed(gamma_v @ H)
        M = system.mass_matrix(q)
        by_q, by_v = system.inverse_dynamics_derivatives(q, v, state.vdot, t=t)
        by_q = by_q - system.constraint_force_derivative(q, state.multipliers, t)
        with np.errstate(all="ignore"):
            found = cls(
                state, entries, H, P, Q, R,
                M=H.T @ M @ H, D=H.T @ (by_v @ H + M @ R), K=H.T @ (by_q @ H + by_v @ P + M @ Q),
                E=(_bracket(system, v) @ H)[entries], by_q=by_q, by_v=by_v, mass=M,
            )  # fmt: skip
        if not all(np.isfinite(each).all() for each in (found.M, found.D, found.K, found.E)):
            raise NotFiniteError(
                f"Small motions of system '{system.name}' around this state are not finite: its "
                f"positions, velocities or forces are too large."
            )
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the independent coordinates."""
        return tuple(self.state.system.velocity_names[k] for k in self.independent)

    @property
    def form(self) -> SecondOrderForm:
        """The matrices in the form that a linear model keeps."""
        state, system = self.state, self.state.system
        return SecondOrderForm(
            system, state.q, state.v, state.vdot, state.t, self.names,
            H=self.H, M=self.M, D=self.D, K=self.K, E=self.E,
            sizes=velocity_sizes(system, state.q),
            units=velocity_scales(system),
        )  # fmt: skip


def check_holonomic(system: System, who: str) -> None:
    """Raise UsageError where velocities are restricted that positions are not."""
    rolling = [
        name for name, joint in system.arrays.tree_joints.items()
        if joint.ndx != joint.num_velocities
    ]  # fmt: skip
    constraints = system.arrays.closure.constraints
    if constraints is not None:
        counts = zip(system.arrays.closure.names, constraints, strict=True)
        rolling += [
            name for name, row in counts if int(row["num_rows"]) > int(row["num_position_rows"])
        ]
    if rolling:
        raise UsageError(
            f"{who} is of holonomic mechanisms, and {listed(rolling)} of system '{system.name}' "
            f"restricts velocities that positions are not restricted in, as rolling does: a small "
            f"motion has then more positions than velocities. Replace it by a holonomic joint for "
            f"this analysis."
        )


def holds(system: System) -> list[int]:
    """Return the entries of v that are prescribed."""
    return entries_of(system, system.prescribed_joints, "prescribed")


def freedoms_around(motions: SmallMotions, held: list[int], fixed: Iterable[str] = ()) -> int:
    """Return the number of freedoms at a configuration close by, with the loops closed.

    It is less than that at the state where the configuration is singular.
    """
    state, H = motions.state, motions.H
    system, m = state.system, len(motions.independent)
    if not (m and system.num_velocity_constraints):
        return m
    step = H @ np.random.default_rng(0).uniform(0.5, 1.0, m)
    step *= _AROUND / np.abs(step / velocity_scales(system)).max()
    try:
        near = system.close_loops(system.retract(state.q, step), fixed=fixed, t=state.t)
    except ConstraintError:
        return m
    A = system.constraint_jacobian(near, state.t) / velocity_sizes(system, near)
    free = np.setdiff1d(np.arange(system.nv), held)
    return int(len(free) - rank_of(A[:, free], largest_row(A)))


def unbalanced(state: State, held: list[int]) -> tuple[FloatArray, float, FloatArray]:
    """Return the residual force ``b - f - tau - A^T multipliers``, its size, and the multipliers.

    The multipliers are those of least norm of all that leave least in the entries that are not
    held. The size is the largest of the terms and the weight, in newton: moments in parts of the
    length of the system. It is at least the change of forces over 1e-4 of that length: q is a
    rounded number.
    """
    system, q, v, t = state.system, state.q, state.v, state.t
    sizes = velocity_sizes(system, q)
    free = np.setdiff1d(np.arange(system.nv), held)
    A = system.constraint_jacobian(q, t) / sizes
    b, f = system.bias_force(q, v), system.generalized_forces(q, v, t)
    left = (b - f - state.tau) / sizes
    multipliers = Ranked.of(A[:, free].T, largest_row(A)).solve(left[free])
    K = system.inverse_dynamics_derivatives(q, v, np.zeros(system.nv), t=t)[0]
    K = K / np.outer(sizes, sizes)
    terms = [each / sizes for each in (b, f, state.tau)]
    terms += [np.abs(A.T) @ np.abs(multipliers), system.mass * system.gravity]
    terms += [_MOVED * system.arrays.closure.length * K]
    size = max(float(np.abs(each).max(initial=0.0)) for each in terms)
    return (left - A.T @ multipliers) * sizes, size, multipliers


def _chosen(
    system: System, A: FloatArray, sizes: FloatArray, held: list[int]
) -> tuple[list[int], Partition]:
    """Return independent entries of v, pivots of the null space of A in metres, and the others."""
    from scipy.linalg import qr

    free = np.setdiff1d(np.arange(A.shape[1]), held)
    largest = largest_row(A)
    N = Ranked.of(A[:, free], largest).null if len(A) else np.eye(len(free))
    weights = 1.0 - (1.0 - _LATER) * np.arange(system.nv) / max(system.nv, 1)
    for name, joint in system.arrays.tree_joints.items():
        if not joint.positions_add:
            weights[system.velocity_slice(name)] *= _COMPOSED
    pivots = qr(N.T * weights[free], mode="r", pivoting=True)[1] if N.size else np.zeros(0, int)
    entries = sorted(int(free[k]) for k in pivots[: N.shape[1]])
    dependent = [int(k) for k in free if k not in entries]
    return entries, Partition(dependent, Ranked.of(A[:, dependent], largest), sizes[dependent])


@final
@attrs.frozen(eq=False, slots=False)
class _Rates:
    """How the constraints of a state change along the columns of H, (rows, m).

    Exact where constraints are compiled for dual numbers. Where they are not, A v and A vdot are
    differentiated as in `System.constraint_jacobian_velocity_derivative`. The rates that do not
    depend on v, and the bias of accelerations, are zero at rest where constraints do not depend on
    time; elsewhere they are differentiated by differences there, along motions that keep the loops
    closed: within 1e-12.
    """

    state: State
    H: FloatArray

    def velocity(self) -> FloatArray:
        """Return ``D(A v + c) H``."""
        s, rows = self.state, self._rows
        if rows is not None:
            return np.asarray(rows.rate @ self.H)
        exact = s.system.constraint_jacobian_velocity_derivative(s.q, s.v, s.t) @ self.H
        zero = np.zeros(s.system.nv)
        return exact + self._along(lambda q: s.system.constraint_velocity(q, zero, s.t))

    def acceleration(self) -> FloatArray:
        """Return ``D(A vdot + gamma) H``."""
        s, rows = self.state, self._rows
        if rows is not None:
            return np.asarray(rows.acceleration @ self.H)
        exact = s.system.constraint_jacobian_velocity_derivative(s.q, s.vdot, s.t) @ self.H
        return exact + self._along(lambda q: s.system.constraint_bias(q, s.v, s.t))

    @functools.cached_property
    def _rows(self) -> RowDerivatives | None:
        s = self.state
        return constraints_by_steps(s.system, s.q, s.v, s.t, vdot=s.vdot)

    def _along(self, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        s = self.state
        speed = np.abs(self.H / velocity_scales(s.system)[:, None]).max(axis=0, initial=0.0)
        steps = np.multiply.outer(_STEPS, (self.H / speed).T)
        values = function(s.system.retract(s.q, steps))
        return np.asarray(np.einsum("s,smr->rm", _WEIGHTS, values) * speed)


def _bracket(system: System, v: FloatArray) -> FloatArray:
    """Return the matrix of ``x -> [x, v]``, (nv, nv).

    With c(x, w) the derivative of ``dexp_inv(s x, w)`` by s at 0, it is c(x, v) - c(v, x): steps
    that are no exponentials add to c terms symmetric in x and w.
    """
    if not v.any():
        return np.zeros((system.nv, system.nv))
    unit, speed = np.eye(system.nv), np.abs(v).max()
    ahead = system.dexp_inv(np.multiply.outer(_STEPS, unit), v / speed)
    along = system.dexp_inv(np.multiply.outer(_STEPS, v / speed)[:, None], unit)
    found = np.einsum("s,skj->jk", _WEIGHTS, ahead - along)
    found[np.abs(found) < _NO_BRACKET] = 0.0
    return np.asarray(found * speed)
