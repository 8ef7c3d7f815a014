"""Descent to a stable equilibrium, as a mechanism with friction settles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mbkit.errors import ConstraintError
from mbkit.linear_analysis.balance import Balance
from mbkit.linear_analysis.small_motions import BALANCED, SmallMotions, unbalanced
from mbkit.spatial.arrays import FloatArray
from mbkit.systems.calls.entries import velocity_sizes

#: Steps of a descent; the largest one and the least, and the way after which a descent is one
#: without end, in parts of the length of the system.
_STEPS, _LARGEST, _LEAST, _FAR = 300, 0.3, 1e-12, 1e4

#: Forces that a step changes by less, in parts of the residual, are constant along it.
_CONSTANT = 1e-9

#: Stiffness that counts as none, in parts of the largest.
_NONE = 1e-9


def stiffness_in_metres(motions: SmallMotions) -> tuple[Any, Any]:
    """Return R and the symmetric part of ``R^-T K R^-1``.

    ``R xi`` are coordinates in which motions of all joints have their lengths: rotations count by
    the length of the system.
    """
    state, K = motions.state, motions.K
    R: Any = np.linalg.qr(motions.H * velocity_sizes(state.system, state.q)[:, None], mode="r")
    return R, np.linalg.solve(R.T, np.linalg.solve(R.T, (K + K.T) / 2.0).T)


def settled(balance: Balance, start: FloatArray, fixed: Iterable[str]) -> tuple[FloatArray, float]:
    """Return where a descent from a closed configuration ends, and its way if it has no end.

    Newton steps with the absolute values of the eigenvalues of the stiffness, which go downhill
    also where it is negative (saddle-free Newton, Dauphin et al. 2014). A step is taken if the work
    of the residual forces, by the mean of both ends, is positive. Where the forces are
    constant steps follow them, and double. The way [m] is 0 unless the descent was given up.
    """
    system, length = balance.system, balance.system.arrays.closure.length
    q, radius, way = start, _LARGEST * length, 0.0
    left, size, multipliers = unbalanced(balance.state(q), balance.held)
    for _ in range(_STEPS):
        motions = SmallMotions.of(balance.state(q, multipliers), balance.held)
        R, K = stiffness_in_metres(motions)
        step = _downhill(np.linalg.solve(R.T, motions.H.T @ left), K, BALANCED * size, radius)
        if step is None:
            break
        if way > _FAR * length:
            return q, way
        dx = motions.H @ np.linalg.solve(R, step)
        while radius > _LEAST * length:
            try:
                near = system.close_loops(system.retract(q, dx), fixed=fixed, t=balance.t)
            except ConstraintError:
                near = q
            found = unbalanced(balance.state(near), balance.held)
            if near is not q and (left + found[0]) @ dx <= 0.0:
                break
            dx, step, radius = dx / 2.0, step / 2.0, radius / 2.0
        else:
            break
        change = np.abs(found[0] - left).max() > _CONSTANT * np.abs(left).max()
        way += float(np.linalg.norm(step))
        q, (left, size, multipliers) = near, found
        radius = min(2.0 * radius, _LARGEST * length) if change else 2.0 * radius
    return balance.ended(q, multipliers / balance.force)[0], 0.0


def _downhill(slope: FloatArray, K: Any, limit: float, radius: float) -> FloatArray | None:
    """Return a step of at most the radius that goes down, None at a minimum."""
    k, V = np.linalg.eigh(K)
    largest = np.abs(k).max(initial=0.0)
    if np.abs(slope).max(initial=0.0) <= limit:
        if not len(k) or k[0] >= -_NONE * largest:
            return None
        return np.asarray(V[:, 0] * radius)
    flat = np.linalg.norm(slope) / radius  # along less stiff directions the step is -slope
    step = -V @ ((V.T @ slope) / np.maximum(np.abs(k), max(_NONE * largest, flat)))
    return np.asarray(step * min(1.0, radius / np.linalg.norm(step)))
