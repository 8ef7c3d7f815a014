"""The configuration nearest to a pose, of a joint that gives pose and motion subspace alone."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from mbkit.joints.defaults.poses import pose_of
from mbkit.lie import SE3, UnitQuaternion
from mbkit.spatial.arrays import FloatArray
from mbkit.spatial.frames import inverse

# The functions below are as in `mbkit.kernels.joints.general_forms`.
_NUM_STARTS = 20
_CLOSE = 1e-2
_MOST_STEPS = 60
_LEAST_DAMPING, _MOST_DAMPING = 1e-12, 1e8
_ROUNDING, _SMALL = 1e-15, 1e-6
_ROOTS: FloatArray = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0])

_BOTH, _PLACE, _ROTATION = slice(0, 6), slice(3, 6), slice(0, 3)


class _Moving(Protocol):
    """A joint, or the motion of one in its canonical frame."""

    num_positions: int
    num_velocities: int

    def pose(self, q: FloatArray) -> FloatArray: ...
    def motion_subspace(self, q: FloatArray) -> FloatArray: ...
    def retract(self, q: FloatArray, dx: FloatArray) -> FloatArray: ...
    def neutral(self) -> FloatArray: ...


def nearest(joint: _Moving, T: FloatArray, frame: FloatArray | None = None) -> FloatArray:
    """Return the configuration whose pose is nearest to T; not a number where T is not.

    Nearest is least |w|^2 + |d|^2, with w the rotation vector between them and d the way between
    their origins, radians as metres, found by steps dx with (S^T S + damping) dx = S^T (w, d). They
    start from the neutral configuration; where that does not come within 0.01 of T, from where the
    place alone is nearest, then from where the rotation alone is, then from steps from the neutral
    configuration that are evenly spread between -pi and pi. The first that comes so close is
    returned, otherwise the nearest. `frame` is the joint's canonical frame, whose origin's way
    counts. Source: J. Nocedal, S. J. Wright, *Numerical Optimization*, 2nd edition, 10.3.
    """
    best = np.full(joint.num_positions, np.nan)
    T = np.asarray(T, dtype=np.float64)
    if joint.num_velocities == 0 or not np.isfinite(T).all():
        return best
    search = _Search(joint, T, np.eye(4) if frame is None else frame)
    start = np.asarray(joint.neutral(), dtype=np.float64)
    least = math.inf
    for number in range(_NUM_STARTS):
        q = start
        if number > 2:
            spread = ((number - 2) * _ROOTS[: joint.num_velocities]) % 1.0
            q = np.asarray(joint.retract(start, 2.0 * math.pi * (spread - 0.5)))
        elif number > 0:
            q, _, _ = search.descend(q, (_PLACE, _ROTATION)[number - 1])
        q, cost, last = search.descend(q, _BOTH)
        if cost < least:
            best, least = q, cost
        if cost < _CLOSE**2 and last < 2.0 * _SMALL:
            break
    return best


class _Search:
    """Steps towards one pose."""

    def __init__(self, joint: _Moving, T: FloatArray, frame: FloatArray) -> None:
        self.joint = joint
        self.frame = frame
        self.back = inverse(frame)
        self.turn = SE3.Ad(self.back)
        self.T = self.back @ T @ frame

    def look(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return S (6, nv) and the difference to T, (w, d) (6,)."""
        C = self.back @ pose_of(self.joint, q) @ self.frame
        quaternions = (UnitQuaternion.from_rotation(X[:3, :3]) for X in (C, self.T))
        first, second = quaternions
        w = UnitQuaternion.log(UnitQuaternion.compose(UnitQuaternion.inverse(first), second))
        d = C[:3, :3].T @ (self.T[:3, 3] - C[:3, 3])
        return self.turn @ np.asarray(self.joint.motion_subspace(q)), np.concatenate([w, d])

    def descend(self, q: FloatArray, rows: slice) -> tuple[FloatArray, float, float]:
        """Return where the distance is least, near q, by some of the six rows.

        With its square, and the length of the last step: small where that place was found.
        """
        S, left = (each[rows] for each in self.look(q))
        cost = float(left @ left)
        damping, last = _LEAST_DAMPING, math.inf
        for _ in range(_MOST_STEPS):
            normal = S.T @ S
            mean = float(np.trace(normal)) / len(normal)
            if not mean > 0.0:
                break
            damped = normal + damping * mean * np.eye(len(normal))
            dx = np.asarray(np.linalg.solve(damped, S.T @ left), dtype=np.float64)
            size = math.sqrt(dx @ dx)
            if not size > _ROUNDING:
                last = size
            if not size > _ROUNDING or damping > _MOST_DAMPING:
                break
            trial = np.asarray(self.joint.retract(q, dx))
            S_trial, left_trial = (each[rows] for each in self.look(trial))
            found = float(left_trial @ left_trial)
            if size < _SMALL and not size < 0.5 * last:
                break
            if found < cost or size < _SMALL:
                q, S, left, cost, last = trial, S_trial, left_trial, found, size
                damping = max(0.01 * damping, _LEAST_DAMPING)
            else:
                damping = max(10.0 * damping, 1e-3)
        return q, cost, last
