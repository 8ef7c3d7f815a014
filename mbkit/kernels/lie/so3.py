"""SO(3) in rotation vectors x: exponential, logarithm, differentials."""

from mbkit.kernels.compile import helper
from mbkit.kernels.lie.matrices import skew_polynomial, skew_polynomial_times
from mbkit.kernels.lie.quaternion import quaternion_from_rotation, quaternion_log
from mbkit.kernels.lie.series import a1_a2, a2_a3, e_of
from mbkit.kernels.vectors import cross, dot


@helper
def so3_exp(x):
    """exp x~ = I + a1 x~ + a2 x~^2. Mueller (36)."""
    a1, a2 = a1_a2(dot(x, x))
    return skew_polynomial(1.0, a1, a2, x)


@helper
def so3_log(R):
    """Principal rotation vector, |x| <= pi, by way of the quaternion."""
    return quaternion_log(quaternion_from_rotation(R))


@helper
def so3_dexp(x):
    """dexp_x = I + a2 x~ + a3 x~^2, the matrix. Mueller (38)."""
    a2, a3 = a2_a3(dot(x, x))
    return skew_polynomial(1.0, a2, a3, x)


@helper
def so3_dexp_inv(x):
    """dexp_x^-1 = I - 1/2 x~ + e x~^2, the matrix; singular at |x| = 2 pi. Mueller (39)."""
    return skew_polynomial(1.0, -0.5, e_of(x, dot(x, x)), x)


@helper
def so3_dexp_spatial(x, u):
    """dexp_x u: the spatial angular velocity w^s of exp x~ where xdot = u."""
    a2, a3 = a2_a3(dot(x, x))
    return skew_polynomial_times(1.0, a2, a3, x, u)


@helper
def so3_dexp_spatial_inv(x, w):
    """dexp_x^-1 w: the xdot of a spatial angular velocity w."""
    return skew_polynomial_times(1.0, -0.5, e_of(x, dot(x, x)), x, w)


@helper
def so3_dexp_body_inv(x, w):
    """dexp_-x^-1 w: the xdot of a body-fixed angular velocity w."""
    return skew_polynomial_times(1.0, 0.5, e_of(x, dot(x, x)), x, w)


@helper
def rotation_error(R):
    """Largest entry of |R R^T - I|, or 1 for a reflection; nan where R has one."""
    determinant = dot((R[0], R[1], R[2]), cross((R[3], R[4], R[5]), (R[6], R[7], R[8])))
    if determinant < 0.0:
        return 1.0
    error = 0.0
    for i in range(0, 9, 3):
        row = (R[i], R[i + 1], R[i + 2])
        for j in range(0, i + 3, 3):
            unit = 1.0 if i == j else 0.0
            deviation = abs(dot(row, (R[j], R[j + 1], R[j + 2])) - unit)
            # Written so that a nan, which compares false, is kept.
            error = error if deviation <= error else deviation
    return error
