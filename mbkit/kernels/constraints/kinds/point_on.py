"""A point of one body that stays on a line, or on a plane, of another."""

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
from mbkit.kernels.vectors import add, angular, cross, dot, rotate, scale, subtract

POINT_A = 0
POINT_B = 3
DIRECTIONS = 6


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def evaluate(space, c, _t, _q, _v):
    """g = e.(x_b - x_a) for each direction e of body a: e' = w_a x e."""
    p = parameters(space, c)
    a = body(space, c, 0)
    b = body(space, c, 1)
    arm_a, x_a, v_a, c_a = point_of(a, vector_of(p, POINT_A))
    arm_b, x_b, v_b, c_b = point_of(b, vector_of(p, POINT_B))
    d = subtract(x_b, x_a)
    d_dot = subtract(v_b, v_a)
    w = angular(a.V)
    g = residual(space, c)
    second = bias(space, c)
    W = wrenches(space, c)
    for r in range(g.shape[0]):
        e = rotate(a.R, vector_of(p, DIRECTIONS + 3 * r))
        e_dot = cross(w, e)
        g[r] = dot(e, d)
        # on a it acts where the point of b is
        put_force(W[2 * r], add(arm_a, d), scale(-1.0, e))
        put_force(W[2 * r + 1], arm_b, e)
        second[r] = dot(e, subtract(c_b, c_a)) + 2.0 * dot(e_dot, d_dot) + dot(cross(w, e_dot), d)
    return OK
