"""Viscous friction in a joint."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.form import FORCE_FORM, joint, parameters
from mbkit.kernels.layout import DISSIPATED
from mbkit.kernels.status import OK

DAMPING = 0


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, _t, _q, v, tau, powers):
    """tau = -d v, which dissipates d v^2."""
    p = parameters(space, k)
    _, at_v, count = joint(space, k)
    for j in range(count):
        u = v[at_v + j]
        tau[at_v + j] -= p[DAMPING] * u
        powers[DISSIPATED] += p[DAMPING] * u * u
    return OK
