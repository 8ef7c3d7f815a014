"""A frame of a body that follows a table of poses over time.

Its place is a cubic spline, its rotation a cubic spline of quaternions that is normalised. With p
the quaternion and s = p.p, the angular velocity and acceleration are

    w = 2 vec(p' p*) / s,    w' = (2 vec(p'' p*) - 2 (p.p') w) / s:

what changes the length of p alone is in the scalar part of the products.
"""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.constraints.kinds.form import (
    CONSTRAINT_FORM,
    bias,
    body,
    parameters,
    rate,
    residual,
    wrenches,
)
from mbkit.kernels.constraints.kinds.points import point_of, put_force, vector_of
from mbkit.kernels.constraints.kinds.spline import curve_at, is_within
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import all_lanes
from mbkit.kernels.lie.matrices import matrix_product, matrix_times, transposed_times
from mbkit.kernels.lie.quaternion import (
    quaternion_conjugate,
    quaternion_normalised,
    quaternion_product,
    quaternion_rotation,
)
from mbkit.kernels.lie.series import e_f_of
from mbkit.kernels.lie.so3 import so3_dexp_body_inv, so3_dexp_spatial_inv, so3_log
from mbkit.kernels.status import CALLBACK_FAILED, OK
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    rotate,
    scale,
    store,
    subtract,
)

POINT = 0  # the frame's origin on the body, then its rotation, row by row
ROTATION = 3
CURVE = 12  # four entries of the quaternion, then three of the place
WIDTH = 7

_ZERO = (0.0, 0.0, 0.0)
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@helper
def rotation_at(curve, t):
    """The quaternion, of length one, and angular velocity and acceleration in world axes."""
    a, a1, a2 = each_lane(curve_at, (curve, WIDTH, 0, t))
    b, b1, b2 = each_lane(curve_at, (curve, WIDTH, 1, t))
    c, c1, c2 = each_lane(curve_at, (curve, WIDTH, 2, t))
    d, d1, d2 = each_lane(curve_at, (curve, WIDTH, 3, t))
    p = (a, b, c, d)
    back = quaternion_conjugate(p)
    reach = 2.0 / (a * a + b * b + c * c + d * d)
    _, x, y, z = quaternion_product((a1, b1, c1, d1), back)
    w = scale(reach, (x, y, z))
    _, x, y, z = quaternion_product((a2, b2, c2, d2), back)
    longer = a * a1 + b * b1 + c * c1 + d * d1
    return quaternion_normalised(p), w, scale(reach, subtract((x, y, z), scale(longer, w)))


@helper
def log_rate(x, e, f, w, w_dot):
    """The second derivative of x, where x' = J w, J = 1 + x~/2 + e x~^2."""
    x_dot = each_lane(so3_dexp_body_inv, (x, w))
    inner = cross(x, w)
    turned = add(cross(x_dot, inner), cross(x, cross(x_dot, w)))
    change = add(scale(0.5, cross(x_dot, w)), scale(e, turned))
    change = add(change, scale(f * dot(x, x_dot), cross(x, inner)))
    return add(each_lane(so3_dexp_body_inv, (x, w_dot)), change)


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def evaluate(space, c, t, _q, _v):
    """g = log(R_f^T R) in the frame's axes, and x - x_f in world axes."""
    p = parameters(space, c)
    curve = p[CURVE:]
    if not all_lanes(each_lane(is_within, (curve, t))):
        return CALLBACK_FAILED
    site = body(space, c, 0)
    Q, w_f, alpha_f = rotation_at(curve, t)
    # the columns of the frame's rotation: in world axes, then in those it should have
    back = quaternion_rotation(quaternion_conjugate(Q))
    first = rotate(site.R, (p[ROTATION], p[ROTATION + 3], p[ROTATION + 6]))
    second = rotate(site.R, (p[ROTATION + 1], p[ROTATION + 4], p[ROTATION + 7]))
    third = rotate(site.R, (p[ROTATION + 2], p[ROTATION + 5], p[ROTATION + 8]))
    R = (
        first[0], second[0], third[0], first[1], second[1], third[1], first[2], second[2], third[2],
    )  # fmt: skip
    x = each_lane(so3_log, (matrix_product(back, R),))
    e, f = each_lane(e_f_of, (x, dot(x, x)))
    spin = angular(site.V)
    w = transposed_times(R, subtract(spin, w_f))
    # without the body's own acceleration
    w_dot = transposed_times(R, subtract(cross(spin, w_f), alpha_f))
    lag = each_lane(so3_dexp_body_inv, (x, transposed_times(R, scale(-1.0, w_f))))
    second_rate = log_rate(x, e, f, w, w_dot)
    arm, place, _, centripetal = point_of(site, vector_of(p, POINT))
    g = residual(space, c)
    g_t = rate(space, c)
    rest = bias(space, c)
    W = wrenches(space, c)
    for r in range(3):
        axis = _AXES[r]
        # J^T is J of -x
        store(W[r], matrix_times(R, each_lane(so3_dexp_spatial_inv, (x, axis))), _ZERO)
        g[r] = x[r]
        g_t[r] = lag[r]
        rest[r] = second_rate[r]
        x_f, v_f, a_f = each_lane(curve_at, (curve, WIDTH, 4 + r, t))
        put_force(W[3 + r], arm, axis)
        g[3 + r] = place[r] - x_f
        g_t[3 + r] = -v_f
        rest[3 + r] = centripetal[r] - a_f
    return OK
