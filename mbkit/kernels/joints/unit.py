"""Unit quaternions in the positions of joints."""

from mbkit.kernels.compile import helper
from mbkit.kernels.layout import QUATERNION_TOLERANCE
from mbkit.kernels.lie.quaternion import quaternion_rotation

#: Status of a joint whose quaternion is not of length one.
NOT_UNIT = 1


@helper
def load4(q):
    """The first four entries as a tuple."""
    return q[0], q[1], q[2], q[3]


@helper
def store4(Q, out):
    """Write a tuple of four."""
    out[0] = Q[0]
    out[1] = Q[1]
    out[2] = Q[2]
    out[3] = Q[3]


@helper
def copy(x, out):
    """Write a tuple of three."""
    out[0] = x[0]
    out[1] = x[1]
    out[2] = x[2]


@helper
def normalised(Q):
    """Whether |Q| is one (not a number passes: it is found elsewhere), and Q / |Q|.

    1 / sqrt(1 + e) = 1 - e/2 + 3 e^2/8 - 5 e^3/16 + ..., exact to rounding for e up to 2e-6, and
    10 ns faster than the root and the division.
    """
    e = Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3] - 1.0
    s = 1.0 - e * (0.5 - e * (0.375 - 0.3125 * e))
    return not abs(e) > QUATERNION_TOLERANCE, (s * Q[0], s * Q[1], s * Q[2], s * Q[3])


@helper
def write_rotation(Q, R):
    """Write the rotation matrix of Q row by row."""
    entries = quaternion_rotation(Q)
    for j in range(9):
        R[j] = entries[j]
