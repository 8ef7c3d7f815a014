"""Stops at both ends of a joint's range."""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.elementary import any_lane, select
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
    return select(q > p[UPPER], q - p[UPPER], select(q < p[LOWER], q - p[LOWER], 0.0))


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, _t, q, v, tau, powers):
    """tau = -k x max(0, 1 + a xdot) with x the depth and xdot its growth; it never pulls.

    Of it -k x has a potential; the rest dissipates k |x| xdot (max(0, 1 + a xdot) - 1).
    Source: Hunt, Crossley 1975.
    """
    p = parameters(space, k)
    at_q, at_v, count = joint(space, k)
    for j in range(count):
        x = depth(p, q[at_q + j])
        if any_lane(x != 0.0):  # the others are pushed by zero
            growth = select(x > 0.0, v[at_v + j], -v[at_v + j])
            factor = 1.0 + p[DAMPING] * growth
            factor = select(factor > 0.0, factor, 0.0)
            tau[at_v + j] -= p[STIFFNESS] * x * factor
            powers[DISSIPATED] += p[STIFFNESS] * abs(x) * growth * (factor - 1.0)
    return OK


@address_kernel(POTENTIAL_FORM, in_lanes=True)
def potential(space, k, _t, q, out):
    """U = k x^2 / 2."""
    p = parameters(space, k)
    at_q, _, count = joint(space, k)
    for j in range(count):
        x = depth(p, q[at_q + j])
        out[0] += 0.5 * p[STIFFNESS] * x * x
    return OK
