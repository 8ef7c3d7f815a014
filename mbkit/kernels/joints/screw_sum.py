"""Coordinates of the first kind: T = exp(X_1 q_1 + ... + X_n q_n), X_k constant screws.

V^b = dexp_-X Xdot gives S_k = dexp_-X X_k and S-dot v = (d/dt dexp_-X) Xdot. Source: Mueller 2018
(Screw and Lie group theory in multibody kinematics), remark 4; the differential is that of
Mueller 2021 (Review of the exponential and Cayley map on SE(3)).
"""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.joints.parameter_header import count_of, rest_of, write_pose, write_twist
from mbkit.kernels.joints.screw_product import ZERO, vector_at
from mbkit.kernels.lie.matrices import matrix_times
from mbkit.kernels.lie.se3 import se3_dexp_body, se3_dexp_body_rate
from mbkit.kernels.lie.so3 import so3_dexp_spatial, so3_exp
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, scale


@helper
def weighted_sum(parameters, first, n, q):
    """The sum of X_k q_k."""
    x = ZERO
    y = ZERO
    for k in range(n):
        x = add(x, scale(q[k], vector_at(parameters, first + 6 * k)))
        y = add(y, scale(q[k], vector_at(parameters, first + 6 * k + 3)))
    return x, y


@address_kernel("ippppppp", in_lanes=True)
def motion(slot, parameters, q, v, R, p, S, bias):
    """Pose, motion subspace and S-dot v."""
    n = count_of(parameters)
    first = rest_of(parameters)
    x, y = weighted_sum(parameters, first, n, q)
    write_pose(so3_exp(x), so3_dexp_spatial(x, y), R, p)
    diagonal, block = se3_dexp_body(x, y)
    for k in range(n):
        a = vector_at(parameters, first + 6 * k)
        b = vector_at(parameters, first + 6 * k + 3)
        u = add(matrix_times(block, a), matrix_times(diagonal, b))
        write_twist(matrix_times(diagonal, a), u, S, 6 * k)
    a, b = weighted_sum(parameters, first, n, v)
    w, u = se3_dexp_body_rate(x, y, a, b)
    write_twist(w, u, bias, 0)
    return OK
