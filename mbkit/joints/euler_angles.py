"""Angles about three axes among x, y and z, each where the turns before have left it."""

from __future__ import annotations

import math

import numpy as np

from mbkit.lie import UnitQuaternion
from mbkit.spatial.arrays import FloatArray

__all__ = ["angles_of", "quaternion_of"]

#: Entries of quaternions below it say nothing.
_ROUNDING = 1e-15


def angles_of(Q: FloatArray, axes: tuple[int, int, int]) -> FloatArray:
    """Return the angles (3,) of a unit quaternion.

    Where the middle angle lets only the sum or the difference of the others be told (gimbal lock),
    the one that is left open is zero. Source: Bernardes, Viollet, Quaternion to Euler angles
    conversion, PLoS ONE 17 (2022).

    Parameters
    ----------
    Q : ndarray, shape (4,)
        Scalar first.
    axes : tuple of int
        0, 1, 2 for x, y, z, neighbours of which differ; the first turn is about the first.

    Returns
    -------
    ndarray, shape (3,)
        [rad]

    Examples
    --------
    >>> angles_of(quaternion_of(np.array([0.1, -0.2, 0.3]), (2, 1, 0)), (2, 1, 0)).round(12)
    array([ 0.1, -0.2,  0.3])
    """
    k, j, i = axes
    proper = i == k
    if proper:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    a, b, c, d = Q[0], Q[1 + i], Q[1 + j], sign * Q[1 + k]
    if not proper:
        a, b, c, d = a - c, b + d, c + a, d - b
    half_sum, half_difference = _direction(a, b), _direction(c, d)
    angles = np.array(
        [
            half_sum + half_difference,
            2.0 * math.atan2(math.hypot(c, d), math.hypot(a, b)),
            half_sum - half_difference,
        ]
    )
    if not proper:
        angles[0] *= sign
        angles[1] -= 0.5 * math.pi
    return angles


def _direction(x: float, y: float) -> float:
    """Return the angle of (x, y), zero where they are but rounding."""
    return 0.0 if abs(x) + abs(y) < _ROUNDING else math.atan2(y, x)


def quaternion_of(angles: FloatArray, axes: tuple[int, int, int]) -> FloatArray:
    """Return the unit quaternion (4,) of angles (3,) about axes; see `angles_of`."""
    Q = UnitQuaternion.identity()
    for axis, angle in zip(axes, angles, strict=True):
        turn = np.zeros(4)
        turn[0], turn[1 + axis] = np.cos(0.5 * angle), np.sin(0.5 * angle)
        Q = UnitQuaternion.compose(Q, turn)
    return Q
