"""Unit quaternions in the positions of joints."""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import any_lane
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
    return not any_lane(abs(e) > QUATERNION_TOLERANCE), (s * Q[0], s * Q[1], s * Q[2], s * Q[3])


@helper
def both_normalised(Q0, Q1):
    """Whether both are of length one, and both normalised."""
    is_unit0, Q0 = normalised(Q0)
    is_unit1, Q1 = normalised(Q1)
    return is_unit0 and is_unit1, Q0, Q1


@helper
def turn(q, R, S, bias, n):
    """Whether |Q| is one, and R of it; S the first n columns of the identity, S-dot = 0."""
    is_unit, Q = normalised(load4(q))
    entries = quaternion_rotation(Q)
    for j in range(9):
        R[j] = entries[j]
    for j in range(6):
        bias[j] = 0.0
    for j in range(6 * n):
        S[j] = 1.0 if j % 7 == 0 else 0.0
    return is_unit
