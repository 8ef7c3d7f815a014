"""Branches of closed configurations that meet at one, and the rank of the constraints on each."""

from __future__ import annotations

import numpy as np

from mbkit.closed_loops.closing import close
from mbkit.closed_loops.loop_equations import Loops
from mbkit.results.diagnosis import Branch
from mbkit.results.diagnosis_text import MOST_BRANCHES
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import rank_of, singular_values

#: Length of the steps that find branches, so small that these look straight, and of those that
#: lead along them, in radians or lengths.
_SMALL = 0.01
_LARGE = 0.2
#: Directions that are tried, beside as many as there are velocities left; steps along a branch.
_DIRECTIONS = 12
_STEPS = 4
#: The sine of the angle between the velocities of two branches, at least.
_APART = 0.15
#: Part of a step that loop closure must leave, or the step is along no motion.
_MOVED = 0.2


def branches(loops: Loops, q: FloatArray) -> tuple[Branch, ...]:
    """Return the branches that meet at a closed configuration.

    After a step along a velocity that the constraints allow the loops are closed again; if this
    leads back, the velocity belongs to no motion. Nearby configurations with the same velocities
    are on one branch. Each branch is followed further; the highest rank on it is its generic rank.
    """
    rng = np.random.default_rng(0)
    Z = _free(loops, q)[1]
    count = Z.shape[1]
    near: list[tuple[FloatArray, FloatArray]] = []
    for k in range(_DIRECTIONS + 2 * count if count else 0):
        if len(near) == MOST_BRANCHES:
            break
        direction = np.eye(count)[k] if k < count else rng.normal(size=count)
        there = _step(loops, q, Z @ direction, _SMALL)
        if there is None:
            continue
        own = _free(loops, there)[1]
        if own.shape == Z.shape:
            near = [(there, own)]  # rank cannot fall nearby: q is regular
            break
        if not any(_same(own, other) for _, other in near):
            near.append((there, own))
    return tuple(_followed(loops, q, there, rng) for there, _ in near)


def _free(loops: Loops, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the singular values of the Jacobian, and an orthonormal basis of its null space."""
    J = loops.velocity_jacobian(q)
    _, sizes, Vt = singular_values(J)
    return sizes, Vt[rank_of(J) :].T


def _step(loops: Loops, q: FloatArray, direction: FloatArray, length: float) -> FloatArray | None:
    """Return the closed configuration by a step, None where closing undoes it."""
    y = direction * (length / max(float(np.abs(direction).max(initial=0.0)), 1e-300))
    found = close(loops, loops.moved(q, y), most=60)
    moved = loops.size(loops.system.difference(q, found.q))
    return found.q if found.is_closed and _MOVED * length < moved < 5.0 * length else None


def _same(one: FloatArray, other: FloatArray) -> bool:
    """Whether two orthonormal bases span nearly the same."""
    if one.shape != other.shape:
        return False
    cosines = singular_values(one.T @ other, compute_uv=False)
    return bool(1.0 - cosines.min(initial=1.0) ** 2 < _APART**2)


def _followed(loops: Loops, q: FloatArray, there: FloatArray, rng: np.random.Generator) -> Branch:
    """Return the branch of a configuration, with one of the highest rank on it."""
    best = there
    best_sizes, Z = _free(loops, there)
    most = len(loops.free) - Z.shape[1]
    away = loops.system.difference(q, there)
    for _ in range(_STEPS):
        _, Z = _free(loops, there)
        direction = rng.normal(size=Z.shape[1])
        if loops.system.ndx == loops.system.nv:  # not back through q
            forward = float(direction @ (Z.T @ (away / loops.scales)[loops.free])) >= 0.0
            direction = direction if forward else -direction
        ahead = _step(loops, there, Z @ direction, _LARGE)
        if ahead is None:
            break
        there = ahead
        sizes, Z = _free(loops, there)
        rank = len(loops.free) - Z.shape[1]
        if (rank, sizes[rank - 1 : rank].sum()) > (most, best_sizes[most - 1 : most].sum()):
            best, best_sizes, most = there, sizes, rank
    return Branch(len(loops.free) - most, best, best_sizes)
