"""Resistance of a medium to a body: at one of its points, and to its rotation."""

import math

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.bodies import point_of, push, turn, velocity_of
from mbkit.kernels.forces.form import FORCE_FORM, parameters, site
from mbkit.kernels.layout import DISSIPATED, SUPPLIED
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import dot, scale, subtract

LINEAR = 0
QUADRATIC = 1
POINT = 2
WIND = 5
ANGULAR = 8
ANGULAR_QUADRATIC = 9


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, _t, _q, _v, _tau, powers):
    """F = -(c1 + c2 |u|) u with u = v - wind, and the moment -(a1 + a2 |w|) w.

    Of F.v the medium gets (c1 + c2 |u|) u.u as heat, and the wind supplies F.wind.
    """
    p = parameters(space, k)
    body = site(space, k, 0)
    r = (p[POINT], p[POINT + 1], p[POINT + 2])
    _, velocity = point_of(space, body, r)
    wind = (p[WIND], p[WIND + 1], p[WIND + 2])
    u = subtract(velocity, wind)
    square = dot(u, u)
    factor = p[LINEAR] + p[QUADRATIC] * math.sqrt(square)
    force = scale(-factor, u)
    push(space, body, r, force)
    powers[DISSIPATED] += factor * square
    powers[SUPPLIED] += dot(force, wind)
    w, _ = velocity_of(space, body)
    square = dot(w, w)
    factor = p[ANGULAR] + p[ANGULAR_QUADRATIC] * math.sqrt(square)
    turn(space, body, scale(-factor, w))
    powers[DISSIPATED] += factor * square
    return OK
