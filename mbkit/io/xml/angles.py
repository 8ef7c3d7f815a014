"""Roll, pitch and yaw, by which a URDF gives rotations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from mbkit.spatial.arrays import FloatArray

_DIGITS = range(1, 17)
_NEAR_PI = 3.1


def rotation_from_rpy(rpy: FloatArray) -> FloatArray:
    """Return Rz(yaw) Ry(pitch) Rx(roll), shape (3, 3), as URDF means it."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )


def rpy_from_rotation(R: FloatArray) -> FloatArray:
    """Return roll, pitch and yaw (3,) of R (3, 3), by few digits if these give it to the last bit.

    `rotation_from_rpy` of them is R to rounding. The roll is read from Rz(-yaw) R, so that it makes
    up for a yaw that is not well known: where the pitch is near a right angle both turn about the
    same axis.

    Examples
    --------
    >>> rpy_from_rotation(rotation_from_rpy(np.array([0.1, -1.5708, 3.0])))
    array([ 0.1   , -1.5708,  3.    ])
    """
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    for candidate in _typed(R):
        if np.array_equal(rotation_from_rpy(candidate), R):
            return candidate
    return np.array([roll, pitch, yaw]) + 0.0  # no negative zeros


def _typed(R: FloatArray) -> Iterator[FloatArray]:
    """Yield angles of few digits that a person may have typed to get about this rotation.

    They are those of both triples that give a rotation, (r, p, y) and (r + pi, pi - p, y + pi),
    and those that differ by a turn: pi with few digits may be a little more than pi.
    """
    cosine = math.hypot(R[0, 0], R[1, 0])
    for sign in (1.0, -1.0):
        roll = math.atan2(sign * R[2, 1], sign * R[2, 2])
        pitch = math.atan2(-R[2, 0], sign * cosine)
        yaw = math.atan2(sign * R[1, 0], sign * R[0, 0])
        turned = [
            (angle, angle - math.copysign(2.0 * math.pi, angle))
            if abs(angle) > _NEAR_PI
            else (angle,)
            for angle in (roll, pitch, yaw)
        ]
        for angles in itertools.product(*turned):
            for digits in _DIGITS:
                yield np.round(angles, digits) + 0.0
