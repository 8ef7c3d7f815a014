"""Certainty of accelerations: the rounding of forces may move light bodies between heavy ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mbkit.errors import ConstraintError
from mbkit.systems.calls.arguments import Floats
from mbkit.systems.calls.entries import velocity_sizes
from mbkit.systems.rank import Ranked, largest_row
from mbkit.systems.redundancy import free_rows

if TYPE_CHECKING:
    from mbkit.systems.system import System

__all__ = ["check_certain"]

#: Rounding; what it may do to accelerations, in parts of the largest; and how many velocities a
#: system may have for which dense matrices are made to look at that.
_ROUNDING, _CERTAIN, _FEW = 2e-16, 1e-5, 600

#: Accelerations below this are rounding. [m/s^2]
_SMALLEST = 1e-3


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

    with the largest entry of A by joint and row: what is zero in one posture is rounding in
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
            worst = system.evaluator.joint_of_velocity(int(np.argmax(noise)))
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
    """Return what rounding does to accelerations, (nv,), and the largest of these; in m/s^2."""
    A, free, every = free_rows(system, q, t)
    sizes = velocity_sizes(system, q)
    M = system.mass_matrix(q)[np.ix_(free, free)] / np.outer(sizes[free], sizes[free])
    N = Ranked.of(A, largest_row(every)).null
    largest = np.abs(A.T)
    for name in system.joint_names:
        own = np.zeros(system.nv, dtype=bool)
        own[system.velocity_slice(name)] = True
        largest[own[free]] = largest[own[free]].max(axis=0, initial=0.0)
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
