"""Rolling without slip on a plane: a ball, a thin disc.

With the contact at x on both bodies, g = n.(x - x_a) is how far the body is above the plane, and
its rate, n.(v_b(x) - v_a(x)), is the first row; the other two are the slip, along two directions of
the plane. These have no g: they cannot be integrated.
"""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.constraints.kinds.form import (
    CONSTRAINT_FORM,
    bias,
    body,
    parameters,
    residual,
    wrenches,
)
from mbkit.kernels.constraints.kinds.points import point_of, put_force, vector_of
from mbkit.kernels.elementary import any_lane, sqrt
from mbkit.kernels.status import CALLBACK_FAILED, OK
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    rotate,
    scale,
    subtract,
)

RADIUS = 0
POINT_A = 1  # of the plane
DIRECTIONS = 4  # normal, and two in the plane
CENTER = 13
AXIS = 16  # of the disc

#: The least sine of a disc's inclination: flat on the plane it touches everywhere.
LEAST_SINE = 1e-6


@helper
def put_rows(space, c, x, x_dot):
    """Rows e.(v_b(x) - v_a(x)) for the contact at x, which moves with x_dot."""
    p = parameters(space, c)
    a = body(space, c, 0)
    b = body(space, c, 1)
    arm_a = subtract(x, load(a.p))
    arm_b = subtract(x, load(b.p))
    slip = subtract(
        add(linear(b.V), cross(angular(b.V), arm_b)), add(linear(a.V), cross(angular(a.V), arm_a))
    )
    # how the slip changes by that of the arms
    turned = subtract(
        cross(angular(b.V), subtract(x_dot, linear(b.V))),
        cross(angular(a.V), subtract(x_dot, linear(a.V))),
    )
    W = wrenches(space, c)
    second = bias(space, c)
    for r in range(3):
        e = rotate(a.R, vector_of(p, DIRECTIONS + 3 * r))
        put_force(W[2 * r], arm_a, scale(-1.0, e))
        put_force(W[2 * r + 1], arm_b, e)
        second[r] = dot(cross(angular(a.V), e), slip) + dot(e, turned)


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def sphere(space, c, _t, _q, _v):
    """The contact is a radius below the centre: x = x_c - rho n."""
    p = parameters(space, c)
    a = body(space, c, 0)
    _, origin, _, _ = point_of(a, vector_of(p, POINT_A))
    _, center, velocity, _ = point_of(body(space, c, 1), vector_of(p, CENTER))
    n = rotate(a.R, vector_of(p, DIRECTIONS))
    x = subtract(center, scale(p[RADIUS], n))
    x_dot = subtract(velocity, scale(p[RADIUS], cross(angular(a.V), n)))
    residual(space, c)[0] = dot(n, subtract(x, origin))
    put_rows(space, c, x, x_dot)
    return OK


@address_kernel(CONSTRAINT_FORM, in_lanes=True)
def disc(space, c, _t, _q, _v):
    """The contact is the lowest point: x = x_c - rho m / |m|, m = n - (n.k) k, k the axis."""
    p = parameters(space, c)
    a = body(space, c, 0)
    b = body(space, c, 1)
    _, origin, _, _ = point_of(a, vector_of(p, POINT_A))
    _, center, velocity, _ = point_of(b, vector_of(p, CENTER))
    n = rotate(a.R, vector_of(p, DIRECTIONS))
    k = rotate(b.R, vector_of(p, AXIS))
    n_dot = cross(angular(a.V), n)
    k_dot = cross(angular(b.V), k)
    cosine = dot(n, k)
    m = subtract(n, scale(cosine, k))
    size = sqrt(dot(m, m))
    if any_lane(size < LEAST_SINE):
        return CALLBACK_FAILED
    m_dot = subtract(subtract(n_dot, scale(dot(n_dot, k) + dot(n, k_dot), k)), scale(cosine, k_dot))
    unit = scale(1.0 / size, m)
    unit_dot = scale(1.0 / size, subtract(m_dot, scale(dot(unit, m_dot), unit)))
    x = subtract(center, scale(p[RADIUS], unit))
    x_dot = subtract(velocity, scale(p[RADIUS], unit_dot))
    residual(space, c)[0] = dot(n, subtract(x, origin))
    put_rows(space, c, x, x_dot)
    return OK
