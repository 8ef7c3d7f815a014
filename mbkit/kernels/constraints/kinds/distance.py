"""A fixed distance between points of two bodies."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.constraints.kinds.form import (
    CONSTRAINT_FORM,
    bias,
    body,
    parameters,
    residual,
    wrenches,
)
from mbkit.kernels.constraints.kinds.points import point_of, put_force, vector_of
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import dot, scale, subtract

LENGTH = 0
POINT_A = 1
POINT_B = 4


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def evaluate(space, c, _t, _q, _v):
    """g = (d.d - l^2) / (2 l): as smooth as d, and of the size of the change of the distance."""
    p = parameters(space, c)
    a = body(space, c, 0)
    b = body(space, c, 1)
    arm_a, x_a, v_a, c_a = point_of(a, vector_of(p, POINT_A))
    arm_b, x_b, v_b, c_b = point_of(b, vector_of(p, POINT_B))
    length = p[LENGTH]
    d = subtract(x_b, x_a)
    d_dot = subtract(v_b, v_a)
    residual(space, c)[0] = (dot(d, d) - length * length) / (2.0 * length)
    W = wrenches(space, c)
    put_force(W[0], arm_a, scale(-1.0 / length, d))
    put_force(W[1], arm_b, scale(1.0 / length, d))
    bias(space, c)[0] = (dot(d_dot, d_dot) + dot(d, subtract(c_b, c_a))) / length
    return OK
