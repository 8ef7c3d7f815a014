"""Dry friction in a joint, smooth."""

import math

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.form import FORCE_FORM, joint, parameters
from mbkit.kernels.layout import DISSIPATED
from mbkit.kernels.status import OK

FRICTION = 0
SMOOTHING = 1


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, _t, _q, v, tau, powers):
    """tau = -f tanh(v / v_s), which dissipates f v tanh(v / v_s)."""
    p = parameters(space, k)
    _, at_v, count = joint(space, k)
    for j in range(count):
        u = v[at_v + j]
        force = p[FRICTION] * math.tanh(u / p[SMOOTHING])
        tau[at_v + j] -= force
        powers[DISSIPATED] += force * u
    return OK
