"""Resistance of a medium at a point of a body."""

import math

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.bodies import point_of, push
from mbkit.kernels.forces.form import FORCE_FORM, parameters, site
from mbkit.kernels.layout import DISSIPATED
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import dot, scale

LINEAR = 0
QUADRATIC = 1
POINT = 2


@address_kernel(FORCE_FORM)
def evaluate(space, k, _t, _q, _v, _tau, powers):
    """F = -(c1 + c2 |v|) v, which dissipates (c1 + c2 |v|) v.v."""
    p = parameters(space, k)
    body = site(space, k, 0)
    r = (p[POINT], p[POINT + 1], p[POINT + 2])
    _, velocity = point_of(space, body, r)
    square = dot(velocity, velocity)
    factor = p[LINEAR] + p[QUADRATIC] * math.sqrt(square)
    push(space, body, r, scale(-factor, velocity))
    powers[DISSIPATED] += factor * square
    return OK
