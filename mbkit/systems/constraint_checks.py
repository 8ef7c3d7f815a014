"""Checks of constraints: motions that satisfy them, redundant rows, certain accelerations."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError, RedundantConstraintsWarning, listed
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import (
    broadcast,
    by_sample,
    prescribed_velocities,
    velocities_of,
    velocity_sizes,
)
from mbkit.systems.rank import LEFT, Ranked, largest_row
from mbkit.users_line import users_line

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = [
    "HOLDS",
    "check_certain",
    "check_dependent",
    "check_motion",
    "check_solved",
    "free_rows",
    "largest_terms",
    "warn_of_redundant",
]

#: Largest residual of a constraint that holds, in parts of the largest term of all.
HOLDS = LEFT

#: How much of the largest velocity or acceleration counts as a term, wherever it is: parts of a
#: mechanism that stand still are left with its rounding.
ELSEWHERE = 1e-4


def largest_terms(A: Floats, x: Floats) -> Floats:
    """Return the size of the largest terms of ``A x``, and of their rounding errors."""
    A, x = np.abs(A), np.abs(x)
    sums = (A @ x[..., None]).max(axis=(-2, -1), initial=0.0)
    elsewhere = A.max(axis=(-2, -1), initial=0.0) * x.max(axis=-1, initial=0.0)
    found: Floats = sums + ELSEWHERE * elsewhere
    return found


def check_solved(system: System, left: Floats, terms: float, what: str) -> None:
    """Raise ConstraintError where more is left of a row than rounding of terms of a size.

    Of the equations that rates of q satisfy, `what`, at one state.
    """
    if left.max(initial=0.0) > HOLDS * terms:
        worst = system.constraint_names[int(np.argmax(left))]
        raise ConstraintError(
            f"System '{system.name}' has no {what} that satisfy all constraints at this "
            f"configuration and time: '{worst}' is left with {left.max():.3g}. Constraints that "
            f"depend on time, or prescribed joints, contradict each other."
        )


def check_motion(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike | None = None,
    t: ArrayLike = 0.0,
    on_error: str = "raise",
) -> Any:
    """See `System.check_motion`."""
    given = broadcast(system, t, q=q, v=v, vdot=v if vdot is None else vdot)
    leading = given[-1].shape
    good = np.ones(leading, dtype=bool)
    if not system.num_velocity_constraints:
        return good
    checks = _motion_checks(system, *given, on_error=on_error)[: 2 if vdot is None else 3]

    limits = [HOLDS * np.broadcast_to(size, leading) for _, _, size, _, _ in checks]
    for (_, found, *_), limit in zip(checks, limits, strict=True):
        good &= (np.abs(found) <= limit[..., None]).all(axis=-1)

    def compute(index: tuple[int, ...]) -> None:
        for (level, found, _, unit, remedy), limit in zip(checks, limits, strict=True):
            here = np.abs(found[index])
            if not (here <= limit[index]).all():
                worst = int(np.argmax(here))
                raise ConstraintError(
                    f"System '{system.name}': the motion does not satisfy the constraints: at "
                    f"{level} level '{_row_name(system, level, worst)}' is off by "
                    f"{here[worst]:.3g} {unit}. Make it fit by System.{remedy}."
                )

    if on_error == "raise" and not good.all():
        by_sample(leading, on_error, compute)
    return good


def _motion_checks(
    system: System, q: Floats, v: Floats, vdot: Floats, t: Floats, *, on_error: str
) -> list[tuple[str, Floats, Any, str, str]]:
    """Return by level: its name, residuals of the rows, the size of the terms, unit, remedy."""
    A = system.constraint_jacobian(q, t, on_error=on_error)
    zero, length = np.zeros(system.nv), system.arrays.closure.length
    drift = np.abs(system.constraint_velocity(q, zero, t, on_error=on_error))
    speed = largest_terms(A, v) + drift.max(axis=-1)
    bias = np.abs(system.constraint_bias(q, v, t, on_error=on_error)).max(axis=-1)
    gain = largest_terms(A, vdot) + bias + speed**2 / length
    left = (
        system.constraint_residual(q, t, on_error=on_error),
        system.constraint_velocity(q, v, t, on_error=on_error),
        system.constraint_acceleration(q, v, vdot, t, on_error=on_error),
    )
    return [
        ("position", left[0], length, "m", "close_loops"),
        ("velocity", left[1], speed, "m/s", "dependent_velocity"),
        ("acceleration", left[2], gain, "m/s^2", "dependent_acceleration"),
    ]


def _row_name(system: System, level: str, row: int) -> str:
    closure = system.arrays.closure
    return (closure.position_row_names if level == "position" else closure.row_names)[row]


#: Terms and accelerations below this are rounding. [m/s^2]
_SMALLEST = 1e-3


def check_dependent(system: System, q: ArrayLike, v: ArrayLike, vdot: Floats, t: ArrayLike) -> None:
    """Raise ConstraintError if dependent rows are not satisfied.

    The message states whether rows contradict each other, or the solver has lost a row.
    """
    if system.motions:
        q, v, _ = system.prescribed_rows(t, q, v)
    signed = system.constraint_acceleration(q, v, vdot, t)
    left = np.abs(signed)
    size = system.constraint_sizes(q, vdot, t) + np.abs(system.constraint_bias(q, v, t))
    # at rest under load constraints take gravity away: the rest of that is rounding, too
    fall = float(np.linalg.norm(system.arrays.bodies[0]["gravity"]))
    limit = LEFT * np.maximum(size.max(axis=-1, keepdims=True), _SMALLEST + fall)
    off = left > limit
    if not off.any():
        return
    place = np.unravel_index(int(np.argmax(left * off)), left.shape)
    index = tuple(map(int, place[:-1]))
    sample = f" in sample {index}" if index else ""
    name = system.constraint_names[place[-1]]
    leading = left.shape[:-1]
    q = np.broadcast_to(q, (*leading, system.nq))[index]
    time = np.broadcast_to(t, leading)[index]
    if _solvable(system, q, signed[index], time, float(limit[index][0])):
        raise ConstraintError(
            f"System '{system.name}': its constraint solver{sample} leaves {left[place]:.3g} m/s^2 "
            f"in '{name}', though there are accelerations that satisfy all constraints: rows "
            f"depend nearly on each other, and one was taken for redundant. Solve with a smaller "
            f"tolerance: mb.NullSpace(tolerance=1e-8)."
        )
    raise ConstraintError(
        f"System '{system.name}': its constraints contradict each other{sample}: no "
        f"acceleration satisfies '{name}' beside the others, "
        f"{left[place]:.3g} m/s^2 are left. Drop one of them, or give a velocity that the "
        f"constraints allow: system.close_loops(q, v)."
    )


def free_rows(system: System, q: Any, t: Any) -> tuple[Floats, Any, Floats]:
    """Return A in metres of free velocities, which these are (nv,), and all of A, of one sample."""
    free = ~prescribed_velocities(system)
    A = system.constraint_jacobian(q, t) / velocity_sizes(system, q)
    return A[:, free], free, A


def _solvable(system: System, q: Any, left: Floats, t: Any, limit: float) -> bool:
    """Return whether some accelerations satisfy all constraints, whatever the masses."""
    A, _, every = free_rows(system, q, t)
    change = Ranked.of(A, largest_row(every)).solve(-left)
    return float(np.abs(A @ change + left).max()) <= limit


def warn_of_redundant(system: System, q: ArrayLike, kept: Floats) -> None:
    """Warn, once for the same rows, of those that are not among the kept ones in a sample.

    Where the joints of the loops explain their number, the warning states that it is normal.
    """
    lost = np.flatnonzero((kept.reshape(-1, kept.shape[-1]) == 0.0).any(axis=0))
    key = tuple(lost.tolist())
    if not key or key in system.evaluator.warned:
        return
    system.evaluator.warned.add(key)
    labels = system.constraint_names
    names = listed(labels[row] for row in lost)
    one = np.asarray(q, dtype=np.float64).reshape(-1, system.nq)[0]
    warnings.warn(
        f"System '{system.name}' has {len(lost)} redundant constraints: {names}. "
        f"{system._usual_redundancy(one, len(lost))}Motion and what is unique among the reactions "
        f"do not depend on it; multipliers are those of least norm. See System.diagnose.",
        RedundantConstraintsWarning,
        stacklevel=users_line(),
    )


#: Rounding; its largest effect on accelerations, in parts of the largest; and the most velocities
#: of a system for which dense matrices are made to check that.
_ROUNDING, _CERTAIN, _FEW = 2e-16, 1e-5, 600


def check_certain(
    system: System, q: ArrayLike, vdot: Floats, multipliers: Floats, t: ArrayLike
) -> None:
    """Raise ConstraintError where rounding of the constraints' forces moves light bodies.

    The force on a light body between heavy ones is the difference of large forces. Motions of the
    light body alone, such as a rotation about the line between two ball joints, are accelerated by
    their rounding, with every strategy: the posture itself is not known better. With N the motions
    that the constraints allow, forces f accelerate by N (N^T M N)^-1 N^T f; with M = L L^T and L^T
    N = Q R rounding does so by at most

        |N R^-1 R^-T N^T| eps |A^T| |lambda|,

    with the largest entry of A by joint and row: a zero of one posture is rounding in
    another.
    Cost: O(nv^3) a sample, and nothing where inertias do not differ by 1e10 and more.
    """
    spread = system.arrays.inertia_spread
    if system.nv > _FEW or _ROUNDING * spread.ratio < _CERTAIN:
        return
    leading = vdot.shape[:-1]
    at = np.broadcast_to(q, (*leading, system.nq))
    times = np.broadcast_to(t, leading)
    for index in np.ndindex(leading):
        noise, size = _noise(system, at[index], vdot[index], multipliers[index], times[index])
        if not noise.max(initial=0.0) <= _CERTAIN * size:
            worst = system.evaluator.arrays.joint_of_velocity(int(np.argmax(noise)))
            names = system.arrays.joint_names
            sample = f" in sample {index}" if index else ""
            raise ConstraintError(
                f"System '{system.name}'{sample}: rounding of the forces of its constraints "
                f"accelerates joint '{worst}' by up to {noise.max() / size:.1e} of the largest "
                f"acceleration. Inertias differ by a ratio of {spread.ratio:.1e}, the least beyond "
                f"joint '{names[spread.least]}' and the largest beyond "
                f"'{names[spread.greatest]}', and a light body can move on its own between heavy "
                f"ones. Make the ratio smaller, or hold that motion by a joint."
            )


def _noise(
    system: System, q: Any, vdot: Floats, multipliers: Floats, t: Any
) -> tuple[Floats, float]:
    """Return the effect of rounding on accelerations, (nv,), and the largest of these; in m/s^2."""
    A, free, every = free_rows(system, q, t)
    sizes = velocity_sizes(system, q)
    M = system.mass_matrix(q)[np.ix_(free, free)] / np.outer(sizes[free], sizes[free])
    N = Ranked.of(A, largest_row(every)).null
    largest = np.abs(A.T)
    for name in system.joint_names:
        own = velocities_of(system, [name])[free]
        largest[own] = largest[own].max(axis=0, initial=0.0)
    forces = _ROUNDING * largest @ np.abs(multipliers)
    noise = np.zeros(system.nv)
    try:
        R: Any = np.linalg.qr(np.linalg.cholesky(M).T @ N, mode="r")
        moved = np.linalg.solve(R.T, N.T)
        noise[free] = np.abs(moved.T @ moved) @ forces
    except np.linalg.LinAlgError:  # M is singular but for rounding
        noise[free] = np.inf
    fall = float(np.linalg.norm(system.arrays.bodies[0]["gravity"]))
    return noise, max(float(np.abs(vdot * sizes).max(initial=0.0)), _SMALLEST + fall)
