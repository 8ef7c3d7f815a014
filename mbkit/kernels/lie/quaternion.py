"""Unit quaternions Q = (p0, p), scalar first: product, rotation vector, rotation matrix."""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import (
    all_lanes,
    any_lane,
    arctan2,
    limit_of,
    select,
    sqrt,
)
from mbkit.kernels.lie.matrices import skew_polynomial
from mbkit.kernels.lie.series import a1_a2
from mbkit.kernels.vectors import add, cross, dot, scale


@helper
def quaternion_product(a, b):
    """Hamilton's product, (p0 q0 - p.q, p0 q + q0 p + p cross q)."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
        a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1],
    )


@helper
def quaternion_conjugate(q):
    """(p0, -p), the inverse of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


@helper
def quaternion_normalised(q):
    """Q / |Q|."""
    factor = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return factor * q[0], factor * q[1], factor * q[2], factor * q[3]


@helper
def quaternion_exp(x):
    """Quaternion of a rotation vector, (cos(phi/2), 1/2 sinc(phi/2) x). Mueller (45)."""
    quarter = 0.25 * dot(x, x)
    a1, a2 = a1_a2(quarter)
    # cos phi = 1 - z a_2: without a root and a cosine
    return 1.0 - quarter * a2, 0.5 * a1 * x[0], 0.5 * a1 * x[1], 0.5 * a1 * x[2]


@helper
def quaternion_log(q):
    """Principal rotation vector, |x| <= pi, the same for Q and -Q.

    2 atan2(|p|, |p0|) has all digits at every angle; an arc cosine has half of them near 0 and pi.
    """
    square = q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    # Here |p| equals its angle to all digits, and its square may underflow.
    small = square < limit_of(square, 1e-200, 1e-30)
    if all_lanes(small):
        return _scaled(2.0 / q[0], q)
    sign = select(q[0] < 0.0, -1.0, 1.0)
    sine = sqrt(square)
    factor = 2.0 * sign * arctan2(sine, sign * q[0]) / sine
    if any_lane(small):
        factor = select(small, 2.0 / q[0], factor)
    return _scaled(factor, q)


@helper
def _scaled(factor, q):
    """The vector part, times a factor."""
    return factor * q[1], factor * q[2], factor * q[3]


@helper
def quaternion_rotation(q):
    """Rotation matrix, I + 2 (p0 p~ + p~^2)."""
    return skew_polynomial(1.0, 2.0 * q[0], 2.0, (q[1], q[2], q[3]))


@helper
def quaternion_from_rotation(R):
    """Quaternion of a rotation matrix, p0 >= 0 (Shepperd, J. Guid. Control 1, 1978).

    The largest of 4 p_k^2 - 1, the trace and the diagonal, belongs to the row 4 p_k (p0, p)
    of the quaternion's outer product that has the most digits.
    """
    trace = R[0] + R[4] + R[8]
    q = (1.0 + trace, R[7] - R[5], R[2] - R[6], R[3] - R[1])
    by_trace = (trace >= R[0]) & (trace >= R[4]) & (trace >= R[8])
    if not all_lanes(by_trace):
        by_x = (R[0] >= R[4]) & (R[0] >= R[8])
        by_y = R[4] >= R[8]
        x = (R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6])
        y = (R[2] - R[6], R[1] + R[3], 1.0 + R[4] - R[0] - R[8], R[5] + R[7])
        z = (R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 + R[8] - R[0] - R[4])
        q = _either(by_trace, q, _either(by_x, x, _either(by_y, y, z)))
    q = quaternion_normalised(q)
    return _either(q[0] < 0.0, (-q[0], -q[1], -q[2], -q[3]), q)


@helper
def _either(condition, a, b):
    """One of two quaternions."""
    return (
        select(condition, a[0], b[0]),
        select(condition, a[1], b[1]),
        select(condition, a[2], b[2]),
        select(condition, a[3], b[3]),
    )


@helper
def quaternion_rotate(Q, a):
    """R(Q) a = a + 2 (w p x a + p x (p x a)), Q = (w, p) of length one."""
    p = (Q[1], Q[2], Q[3])
    b = cross(p, a)
    return add(a, scale(2.0, add(scale(Q[0], b), cross(p, b))))
