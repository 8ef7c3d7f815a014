"""Maps from vectors to rotations, scaled so that a small vector is the rotation vector itself.

Each has psi(-x) = psi(x)^-1, and dpsi_x is right-trivialised: w^s = dpsi_x xdot. They are

    EXPONENTIAL  x the rotation vector: Mueller (36), (38), (39), (60), (61)
    CAYLEY       x = 2 c, c = n tan(angle / 2): Mueller (41)-(43), (47)
    CAYLEY2      x = 4 w, w = n tan(angle / 4), psi(x) = cay(w)^2: Wiener-Milenkovic parameters

with the formulas of the last two for c and w, by the factors 2 and 4.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.joints.absolute.kinds import CAYLEY, EXPONENTIAL
from mbkit.kernels.lie.matrices import skew_plus_outer, skew_polynomial
from mbkit.kernels.lie.quaternion import quaternion_exp, quaternion_log
from mbkit.kernels.lie.se3 import se3_dexp_inv_block
from mbkit.kernels.lie.so3 import so3_dexp, so3_dexp_inv
from mbkit.kernels.vectors import dot, scale


@helper
def map_quaternion(kind, x):
    """psi(x)."""
    if kind == EXPONENTIAL:
        return quaternion_exp(x)
    if kind == CAYLEY:
        c = scale(0.5, x)
        p0 = 1.0 / sqrt(1.0 + dot(c, c))
        return p0, p0 * c[0], p0 * c[1], p0 * c[2]
    w = scale(0.25, x)
    m = dot(w, w)
    factor = 2.0 / (1.0 + m)
    return (1.0 - m) / (1.0 + m), factor * w[0], factor * w[1], factor * w[2]


@helper
def map_vector(kind, Q):
    """The x of a unit quaternion, the same for Q and -Q; infinite where the map has none."""
    if kind == EXPONENTIAL:
        return quaternion_log(Q)
    if kind == CAYLEY:
        factor = 2.0 / Q[0]
    elif Q[0] < 0.0:
        factor = 4.0 / (Q[0] - 1.0)
    else:
        factor = 4.0 / (Q[0] + 1.0)
    return factor * Q[1], factor * Q[2], factor * Q[3]


@helper
def map_differential(kind, x):
    """dpsi_x, the matrix: (I + c~) / (1 + c.c); ((1 - m) I + 2 w~ + 2 w w^T) / (1 + m)^2."""
    if kind == EXPONENTIAL:
        return so3_dexp(x)
    if kind == CAYLEY:
        c = scale(0.5, x)
        s = 1.0 / (1.0 + dot(c, c))
        return skew_polynomial(s, s, 0.0, c)
    w = scale(0.25, x)
    m = dot(w, w)
    s = 1.0 / ((1.0 + m) * (1.0 + m))
    return skew_plus_outer(s * (1.0 - m), 2.0 * s, 2.0 * s, w)


@helper
def map_differential_inv(kind, x):
    """dpsi_x^-1, the matrix: I - c~ + c c^T; (1 - m) I - 2 w~ + 2 w w^T."""
    if kind == EXPONENTIAL:
        return so3_dexp_inv(x)
    if kind == CAYLEY:
        return skew_plus_outer(1.0, -1.0, 1.0, scale(0.5, x))
    w = scale(0.25, x)
    return skew_plus_outer(1.0 - dot(w, w), -2.0, 2.0, w)


@helper
def map_differential_inv_change(kind, x, y):
    """D dpsi_x^-1 [y], the matrix.

    c d^T + d c^T - d~; 2 (w u^T + u w^T - u~ - (w.u) I), with d and u of y as c and w of x.
    """
    if kind == EXPONENTIAL:
        return se3_dexp_inv_block(x, y)
    if kind == CAYLEY:
        return symmetric_less_skew(1.0, 0.0, scale(0.5, x), scale(0.5, y))
    w = scale(0.25, x)
    u = scale(0.25, y)
    return symmetric_less_skew(2.0, -2.0 * dot(w, u), w, u)


@helper
def symmetric_less_skew(factor, p0, a, b):
    """Factor (a b^T + b a^T - b~) + p0 I."""
    m01 = factor * (a[0] * b[1] + a[1] * b[0])
    m02 = factor * (a[0] * b[2] + a[2] * b[0])
    m12 = factor * (a[1] * b[2] + a[2] * b[1])
    s = scale(factor, b)
    return (
        p0 + 2.0 * factor * a[0] * b[0],
        m01 + s[2],
        m02 - s[1],
        m01 - s[2],
        p0 + 2.0 * factor * a[1] * b[1],
        m12 + s[0],
        m02 + s[1],
        m12 - s[0],
        p0 + 2.0 * factor * a[2] * b[2],
    )
