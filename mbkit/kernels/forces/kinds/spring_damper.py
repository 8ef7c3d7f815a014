"""A spring and a damper between points of two bodies, called by its address as any force.

Recursions compute the same in place: `mbkit.kernels.forces.spring_damper_table`.
"""

import math

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.elementary import select
from mbkit.kernels.forces.bodies import point_of, push
from mbkit.kernels.forces.form import FORCE_FORM, POTENTIAL_FORM, parameters, site
from mbkit.kernels.layout import DISSIPATED
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import dot, scale, subtract

STIFFNESS = 0
REST_LENGTH = 1
DAMPING = 2
POINT_A = 3
POINT_B = 6


@helper
def ends(p):
    """Both points, each in its body."""
    return (
        (p[POINT_A], p[POINT_A + 1], p[POINT_A + 2]),
        (p[POINT_B], p[POINT_B + 1], p[POINT_B + 2]),
    )


@helper
def direction(x_a, x_b):
    """e = (x_b - x_a) / l, zero where the points meet, and l."""
    d = subtract(x_b, x_a)
    length = math.sqrt(dot(d, d))
    return scale(1.0 / select(length != 0.0, length, 1.0), d), length


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, _t, _q, _v, _tau, powers):
    """Tension k (l - l0) + d ldot along e = (x_b - x_a) / l; none where the points meet."""
    p = parameters(space, k)
    a = site(space, k, 0)
    b = site(space, k, 1)
    r_a, r_b = ends(p)
    x_a, v_a = point_of(space, a, r_a)
    x_b, v_b = point_of(space, b, r_b)
    e, length = direction(x_a, x_b)
    rate = dot(e, subtract(v_b, v_a))
    tension = p[STIFFNESS] * (length - p[REST_LENGTH]) + p[DAMPING] * rate
    push(space, a, r_a, scale(tension, e))
    push(space, b, r_b, scale(-tension, e))
    powers[DISSIPATED] += p[DAMPING] * rate * rate
    return OK


@address_kernel(POTENTIAL_FORM, in_lanes=True)
def potential(space, k, _t, _q, out):
    """U = k (l - l0)^2 / 2."""
    p = parameters(space, k)
    r_a, r_b = ends(p)
    x_a, _ = point_of(space, site(space, k, 0), r_a)
    x_b, _ = point_of(space, site(space, k, 1), r_b)
    _, length = direction(x_a, x_b)
    x = length - p[REST_LENGTH]
    out[0] += 0.5 * p[STIFFNESS] * x * x
    return OK
