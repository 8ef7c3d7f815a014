"""SE(3) in screw coordinates X = (x, y): exponential, logarithm, differentials.

A pose is a rotation (quaternion, or matrix where the name says so) and a translation r.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.lie.exact_products import dot_near_pole
from mbkit.kernels.lie.matrices import (
    matrix_times,
    skew_polynomial,
    skew_polynomial_derivative,
    skew_polynomial_times,
)
from mbkit.kernels.lie.quaternion import quaternion_exp, quaternion_log
from mbkit.kernels.lie.series import a2_a3, b2_b3, c2_c3, e_f_of
from mbkit.kernels.lie.so3 import so3_dexp_spatial, so3_dexp_spatial_inv
from mbkit.kernels.vectors import add, cross, dot, scale


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


@helper
def se3_dexp_body(x, y):
    """(diagonal, lower left block) of dexp_-X, as matrices: V^b = dexp_-X Xdot."""
    z = dot(x, x)
    a2, a3 = a2_a3(z)
    b2, b3 = b2_b3(z)
    block = skew_polynomial_derivative(-a2, a3, -b2, b3, x, y, dot(x, y))
    return skew_polynomial(1.0, -a2, a3, x), block


@helper
def se3_dexp_body_rate(x, y, u, t):
    """(d/dt dexp_-X) Xdot, where X = (x, y) and Xdot = (u, t).

    With D the derivative along Xdot of the two blocks of dexp_-X, D1 of the diagonal and D2 of the
    lower left one, it is (D1 u, D1 t + D2 u).
    """
    z = dot(x, x)
    a2, a3 = a2_a3(z)
    b2, b3 = b2_b3(z)
    c2, c3 = c2_c3(z)
    xu = dot(x, u)
    xy = dot(x, y)
    yu = dot(y, u)
    diagonal = skew_polynomial_derivative(-a2, a3, -b2, b3, x, u, xu)
    block = skew_polynomial_derivative(-a2, a3, -b2, b3, x, t, dot(x, t))
    # the second derivative of dexp_-x along u and y, times u
    w = scale(a3, _anticommutator(y, u, u))
    w = add(w, scale(xu, add(scale(-b2, cross(y, u)), scale(b3, _anticommutator(x, y, u)))))
    w = add(w, scale(xy * b3, _anticommutator(x, u, u)))  # u x u = 0
    w = add(w, skew_polynomial_times(0.0, -b2 * yu - c2 * xy * xu, b3 * yu + c3 * xy * xu, x, u))
    linear = add(matrix_times(diagonal, t), add(matrix_times(block, u), w))
    return matrix_times(diagonal, u), linear


@helper
def _anticommutator(a, b, u):
    """(a~ b~ + b~ a~) u."""
    return add(cross(a, cross(b, u)), cross(b, cross(a, u)))
