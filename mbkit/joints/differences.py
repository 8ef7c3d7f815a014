"""Motion subspace and bias from differences of poses, where tracing is not possible."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from mbkit.spatial.arrays import FloatArray

__all__ = ["PoseDifferences", "derivative"]

#: First steps that are tried, until the error is below `_ENOUGH`; halved three times each.
_STEPS = (5e-2, 1e-2, 2e-3, 4e-4, 4e-5, 4e-6)
_LEVELS = 4
_LEVELS_OF_A_SIDE = 6
_ENOUGH = 1e-12


def derivative(function: Callable[[float], Any], side: int = 0) -> Any:
    """Return the derivative of a function at 0.

    Central differences, extrapolated three times: the error is of order h^8. The first step is the
    one whose last two extrapolations agree best.

    Parameters
    ----------
    function : callable
        From a number to an array.
    side : {0, 1, -1}
        1 and -1 for the derivative from that side alone, by differences of order h^6.

    Returns
    -------
    ndarray
        The derivative.

    Examples
    --------
    >>> rate = derivative(lambda e: np.array([np.sin(e), np.exp(2.0 * e)]))
    >>> bool(abs(rate - [1, 2]).max() < 1e-12)
    True
    """
    best: tuple[float, Any] | None = None
    for h in _STEPS:
        if side:
            start = np.asarray(function(0.0))
            steps = [side * h / 2**k for k in range(_LEVELS_OF_A_SIDE)]
            table = [(np.asarray(function(e)) - start) / e for e in steps]
            rate, error = _extrapolated(table, 2.0)
        else:
            steps = [h / 2**k for k in range(_LEVELS)]
            table = [(np.asarray(function(e)) - np.asarray(function(-e))) / (2 * e) for e in steps]
            rate, error = _extrapolated(table, 4.0)
        if best is None or error < best[0]:
            best = error, rate
        if error < _ENOUGH:
            break
    assert best is not None
    return best[1]


def _extrapolated(table: list[Any], base: float) -> tuple[Any, float]:
    """Return Richardson's extrapolation of differences with halved steps, and how it moved last.

    The error is a series in powers of h where the base is 2, and of h^2 where it is 4.
    """
    last = table
    for order in range(1, len(table)):
        factor = base**order
        last, table = (
            table,
            [
                (factor * fine - coarse) / (factor - 1.0)
                for coarse, fine in itertools.pairwise(table)
            ],
        )
    return table[0], float(np.abs(table[0] - last[-1]).max(initial=0.0))


class PoseDifferences:
    """What follows from the pose of a joint, by differences of eighth order, or of one side."""

    def __init__(self, joint: Callable[[], Any], side: int = 0) -> None:
        self._reference = joint
        self._side = side

    def motion(self, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return T(q) (4, 4), S(q) (6, nv) and S-dot v (6,)."""
        joint = self._reference()
        T = np.asarray(joint.pose(q), dtype=np.float64)

        def twist(there: FloatArray, step: FloatArray) -> FloatArray:
            pose = np.asarray(joint.pose(there), dtype=np.float64)
            back = np.linalg.inv(pose) if np.isfinite(pose).all() else np.full((4, 4), np.nan)
            w = np.asarray(joint.rates(there, step))
            rate = derivative(lambda e: joint.pose(joint.retract(there, e * w)), self._side)
            return _vee(back @ rate)

        units = np.eye(joint.num_velocities)
        S = np.array([twist(q, unit) for unit in units]).reshape(-1, 6).T
        bias, size = np.zeros(6), float(np.linalg.norm(v))
        if size:
            step = v / size
            w = np.asarray(joint.rates(q, step))
            rate = derivative(lambda t: twist(joint.retract(q, t * w), step))
            bias = size**2 * rate
        return T, S, bias

    def dexp_inv(self, x: FloatArray, w: FloatArray) -> FloatArray:
        """Return the xdot with J xdot = b, as `PoseDerivatives.dexp_inv` says."""
        joint = self._reference()
        q0 = np.asarray(joint.neutral(), dtype=np.float64)
        q = np.asarray(joint.retract(q0, x), dtype=np.float64)
        if joint.num_steps != joint.num_velocities:

            def moved(unit: FloatArray) -> Any:
                return derivative(lambda e: joint.retract(q0, x + e * unit))

            columns = [moved(unit) for unit in np.eye(len(w))]
            return solved(np.array(columns).T, derivative(lambda e: joint.retract(q, e * w)))
        T, S, _ = self.motion(q, np.zeros(len(w)))
        back = np.linalg.inv(T)

        def along(unit: FloatArray) -> Any:
            return derivative(lambda e: joint.pose(joint.retract(q0, x + e * unit)))

        rates = [along(unit) for unit in np.eye(len(w))]
        return solved(np.array([_vee(back @ rate) for rate in rates]).T, S @ w)


def solved(J: FloatArray, twist: FloatArray) -> FloatArray:
    """Return the xdot with J xdot = twist; not a number where there is none."""
    if not (np.isfinite(J).all() and np.isfinite(twist).all()):
        return np.full(J.shape[1], np.nan)
    return np.asarray(np.linalg.lstsq(J, twist, rcond=None)[0])


def _vee(M: Any) -> FloatArray:
    """Return the twist of a matrix: half of what stands on either side of the diagonal."""
    w = 0.5 * np.array([M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]])
    return np.concatenate([w, M[:3, 3]])
