"""SE(3) in screw coordinates X = (x, y): exponential, logarithm, differentials.

A pose is a rotation (quaternion, or matrix where the name says so) and a translation r.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.lie.exact import dot_near_pole
from mbkit.kernels.lie.matrices import (
    matrix_times,
    skew_polynomial_derivative,
    skew_polynomial_times,
)
from mbkit.kernels.lie.quaternion import quaternion_exp, quaternion_log
from mbkit.kernels.lie.series import a2_a3, b2_b3, e_f_of
from mbkit.kernels.lie.so3 import so3_dexp_spatial, so3_dexp_spatial_inv
from mbkit.kernels.vectors import add, dot


@helper
def se3_exp(x, y):
    """exp X = (exp x~, dexp_x y), as quaternion and translation. Mueller (52)."""
    return quaternion_exp(x), so3_dexp_spatial(x, y)


@helper
def se3_log(quaternion, r):
    """X = (log R, dexp_x^-1 r), principal."""
    x = quaternion_log(quaternion)
    return x, so3_dexp_spatial_inv(x, r)


@helper
def se3_dexp_block(x, y):
    """D dexp(x)[y], the lower left block of dexp_X; dexp_x stands twice on the diagonal."""
    z = dot(x, x)
    a2, a3 = a2_a3(z)
    b2, b3 = b2_b3(z)
    return skew_polynomial_derivative(a2, a3, b2, b3, x, y, dot(x, y))


@helper
def se3_dexp_inv_block(x, y):
    """D dexp^-1(x)[y], the lower left block of dexp_X^-1. Mueller (60), (61)."""
    z = dot(x, x)
    e, f = e_f_of(x, z)
    return skew_polynomial_derivative(-0.5, e, 0.0, f, x, y, dot_near_pole(x, z, y))


@helper
def se3_dexp_body_inv(x, y, w, v):
    """dexp_-X^-1 (w, v): the (xdot, ydot) of a body-fixed twist (w, v). Mueller (60), (61)."""
    z = dot(x, x)
    e, f = e_f_of(x, z)
    block = skew_polynomial_derivative(0.5, e, 0.0, f, x, y, dot_near_pole(x, z, y))
    x_dot = skew_polynomial_times(1.0, 0.5, e, x, w)
    y_dot = add(matrix_times(block, w), skew_polynomial_times(1.0, 0.5, e, x, v))
    return x_dot, y_dot
