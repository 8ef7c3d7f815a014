"""The minimum of a small quadratic function between bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbkit.spatial.arrays import FloatArray
from mbkit.systems.rank import singular_values


def bounded_step(
    H: FloatArray,
    g: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    across: FloatArray | None = None,
) -> FloatArray:
    """Return the x (n,) between bounds that minimises x.H x / 2 + g.x, by an active-set method.

    H (n, n) is symmetric and positive definite, g the gradient at zero, lower <= 0 <= upper. With a
    matrix `across` (m, n), across x = 0 holds.

    Notes
    -----
    Starting at zero, steps go to the minimum over the entries that are free, or to the first bound
    in the way; there the entry with the wrong sign of its multiplier is released. Source: Nocedal
    and Wright 2006, algorithm 16.3.
    """
    x = np.zeros(len(g))
    fixed = held(g, lower, upper)
    for _ in range(10 + 5 * len(g)):
        slope = g + H @ x
        step = _free_step(H, slope, ~fixed, across)
        share, blocking = _longest(x, step, lower, upper)
        x = x + share * step
        if blocking >= 0:
            x[blocking] = lower[blocking] if step[blocking] < 0.0 else upper[blocking]
            fixed[blocking] = True
            continue
        released = _wrong_sign(g + H @ x, x, fixed, lower, upper, across)
        if released < 0:
            break
        fixed[released] = False
    return np.clip(x, lower, upper)


def held(g: FloatArray, lower: FloatArray, upper: FloatArray) -> Any:
    """Return which entries a bound at zero keeps from following -g, booleans (n,)."""
    return ((lower >= 0.0) & (g > 0.0)) | ((upper <= 0.0) & (g < 0.0))


def along(g: FloatArray, across: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return a gradient (n,) with multipliers of across x = 0: its part along such x.

    Multipliers are those of least squares over the entries that no bound stops.
    """
    if not len(across):
        return g
    inner = (lower < 0.0) & (upper > 0.0)
    multipliers = np.linalg.lstsq(across[:, inner].T, -g[inner], rcond=1e-9)[0]
    return np.asarray(g + across.T @ multipliers)


def null_space(matrix: FloatArray, tolerance: float = 1e-9) -> FloatArray:
    """Return an orthonormal basis, by columns, of the null space of a matrix.

    Singular values below `tolerance` times the largest count as zero.
    """
    if not matrix.size:
        return np.eye(matrix.shape[1])
    _, sizes, Vt = singular_values(matrix)
    rank = int((sizes > tolerance * sizes.max(initial=0.0)).sum())
    return np.asarray(Vt[rank:].T)


def _free_step(
    H: FloatArray, slope: FloatArray, free: Any, across: FloatArray | None
) -> FloatArray:
    """Return the step to the minimum over the free entries, along the null space of `across`."""
    step = np.zeros(len(slope))
    if across is not None:
        Z = null_space(across[:, free])
        H_free = Z.T @ H[np.ix_(free, free)] @ Z
        step[free] = -Z @ np.linalg.solve(H_free, Z.T @ slope[free])
    elif free.all():
        step[:] = -np.linalg.solve(H, slope)
    else:
        step[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
    return step


def _longest(
    x: FloatArray, step: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[float, int]:
    """Return how much of a step keeps to the bounds, and which entry is in the way (-1: none)."""
    target = x + step
    beyond = (target < lower) | (target > upper)
    if not beyond.any():
        return 1.0, -1
    room = np.where(step < 0.0, lower - x, upper - x)
    shares = np.full(len(x), np.inf)
    shares[beyond] = room[beyond] / step[beyond]
    blocking = int(np.argmin(shares))
    return max(0.0, float(shares[blocking])), blocking


def _wrong_sign(
    slope: FloatArray,
    x: FloatArray,
    fixed: Any,
    lower: FloatArray,
    upper: FloatArray,
    across: FloatArray | None,
) -> int:
    """Return the held entry that would most like to leave its bound inwards, -1 if none."""
    if not fixed.any():
        return -1
    if across is not None:
        free = ~fixed
        multipliers = np.linalg.lstsq(across[:, free].T, slope[free], rcond=None)[0]
        slope = slope - across.T @ multipliers
    outward = np.where(x <= lower, slope, -slope)  # of a bound that is needed: positive
    outward[~fixed | (lower == upper)] = 0.0
    worst = int(np.argmin(outward))
    return worst if outward[worst] < -1e-12 * (1.0 + np.abs(slope).max()) else -1
