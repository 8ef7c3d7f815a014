"""Cayley maps of SO(3), Sp(1) and SE(3), their inverses and differentials.

Coordinates are Rodrigues parameters c = n tan(phi/2), with sigma = 2 / (1 + c.c), singular at
phi = pi, and extended Rodrigues parameters X = (c, d) of the 4x4 Cayley map of SE(3).
Algebraic throughout; near 0, c ~ x/2, so that dcay_0 = 2 I.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.lie.matrices import (
    hat,
    matrix_product,
    matrix_times,
    skew_plus_outer,
    skew_polynomial,
)
from mbkit.kernels.vectors import dot, scale


@helper
def sigma_of(c):
    """2 / (1 + c.c)."""
    return 2.0 / (1.0 + dot(c, c))


@helper
def so3_cay(c):
    """cay c = (I - c~)^-1 (I + c~) = I + sigma (c~ + c~^2). Mueller (41)."""
    sigma = sigma_of(c)
    return skew_polynomial(1.0, sigma, sigma, c)


@helper
def so3_dcay(c):
    """dcay_c = sigma (I + c~). Mueller (42)."""
    sigma = sigma_of(c)
    return skew_polynomial(sigma, sigma, 0.0, c)


@helper
def so3_dcay_inv(c):
    """dcay_c^-1 = 1/2 (I - c~ + c c^T). Mueller (43)."""
    return skew_plus_outer(0.5, -0.5, 0.5, c)


@helper
def quaternion_cay(c):
    """(1, c) / sqrt(1 + c.c). Mueller (47), with p = sqrt(sigma/2) c."""
    p0 = 1.0 / sqrt(1.0 + dot(c, c))
    return p0, p0 * c[0], p0 * c[1], p0 * c[2]


@helper
def quaternion_cay_inv(q):
    """c = p / p0; infinite where the rotation is by pi."""
    return q[1] / q[0], q[2] / q[0], q[3] / q[0]


@helper
def identity_plus_cay(c):
    """I + cay c = 2 (I - c~)^-1 = sigma (I + c~ + c c^T)."""
    sigma = sigma_of(c)
    return skew_plus_outer(sigma, sigma, sigma, c)


@helper
def se3_cay(c, d):
    """cay X = (cay c, (I + cay c) d), as matrix and translation. Mueller (62)."""
    return so3_cay(c), matrix_times(identity_plus_cay(c), d)


@helper
def se3_cay_inv(quaternion, r):
    """X = (c, 1/2 (I - c~) r)."""
    c = quaternion_cay_inv(quaternion)
    return c, matrix_times(skew_polynomial(0.5, -0.5, 0.0, c), r)


@helper
def se3_dcay(c, d):
    """dcay_X as its blocks (upper left, lower left, lower right).

    [[sigma (I + c~), 0], [sigma d~ (I + c~), I + cay c]].
    """
    upper = so3_dcay(c)
    return upper, matrix_product(hat(d), upper), identity_plus_cay(c)


@helper
def se3_dcay_inv(c, d):
    """dcay_X^-1 as its blocks (upper left, lower left, lower right).

    [[1/2 (I - c~ + c c^T), 0], [-1/2 (I - c~) d~, 1/2 (I - c~)]]. Mueller (63), with d~ for the
    printed d.
    """
    lower = skew_polynomial(0.5, -0.5, 0.0, c)
    return so3_dcay_inv(c), matrix_product(lower, hat(scale(-1.0, d))), lower
