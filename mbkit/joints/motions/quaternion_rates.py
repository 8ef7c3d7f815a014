"""Rates of the entries of a unit quaternion."""

from __future__ import annotations

import numpy as np

from mbkit.spatial.arrays import FloatArray


def quaternion_rate(Q: FloatArray, w: FloatArray) -> FloatArray:
    """Return Q (0, w) / 2, the rate of a unit quaternion, w the angular velocity in the body.

    Examples
    --------
    >>> quaternion_rate(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 3.0])) + 0.0
    array([0. , 0. , 0. , 1.5])
    """
    a, b, c, d = (0.5 * Q).tolist()  # numbers of Python are the faster ones here
    x, y, z = w.tolist()
    return np.array(
        [
            -b * x - c * y - d * z,
            a * x + c * z - d * y,
            a * y + d * x - b * z,
            a * z + b * y - c * x,
        ]
    )


def rotated(Q: FloatArray, u: FloatArray) -> FloatArray:
    """Return R(Q) u.

    Examples
    --------
    >>> rotated(np.array([0.0, 0.0, 0.0, 1.0]), np.array([1.0, 0.0, 2.0])) + 0.0
    array([-1.,  0.,  2.])
    """
    a, b, c, d = Q.tolist()
    x, y, z = u.tolist()
    # u + 2 a (n x u) + 2 n x (n x u), n the vector part
    p, q, r = c * z - d * y, d * x - b * z, b * y - c * x
    return np.array(
        [
            x + 2.0 * (a * p + c * r - d * q),
            y + 2.0 * (a * q + d * p - b * r),
            z + 2.0 * (a * r + b * q - c * p),
        ]
    )
