"""Stops at both ends of a joint's range."""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.forces.form import FORCE_FORM, POTENTIAL_FORM, joint, parameters
from mbkit.kernels.layout import DISSIPATED
from mbkit.kernels.status import OK

LOWER = 0
UPPER = 1
STIFFNESS = 2
DAMPING = 3


@helper
def depth(p, q):
    """How far q is beyond a stop, positive beyond the upper one, negative beyond the lower."""
    if q > p[UPPER]:
        return q - p[UPPER]
    if q < p[LOWER]:
        return q - p[LOWER]
    return 0.0


@address_kernel(FORCE_FORM)
def evaluate(space, k, _t, q, v, tau, powers):
    """tau = -k x max(0, 1 + a xdot) with x the depth and xdot its growth; it never pulls.

    Of it -k x has a potential; the rest dissipates k |x| xdot (max(0, 1 + a xdot) - 1).
    Source: Hunt, Crossley 1975.
    """
    p = parameters(space, k)
    at_q, at_v, count = joint(space, k)
    for j in range(count):
        x = depth(p, q[at_q + j])
        if x != 0.0:
            growth = v[at_v + j] if x > 0.0 else -v[at_v + j]
            factor = max(0.0, 1.0 + p[DAMPING] * growth)
            tau[at_v + j] -= p[STIFFNESS] * x * factor
            powers[DISSIPATED] += p[STIFFNESS] * abs(x) * growth * (factor - 1.0)
    return OK


@address_kernel(POTENTIAL_FORM)
def potential(space, k, _t, q, out):
    """U = k x^2 / 2."""
    p = parameters(space, k)
    at_q, _, count = joint(space, k)
    for j in range(count):
        x = depth(p, q[at_q + j])
        out[0] += 0.5 * p[STIFFNESS] * x * x
    return OK
