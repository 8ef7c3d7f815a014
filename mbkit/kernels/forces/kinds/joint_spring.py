"""A spring in a joint."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.form import FORCE_FORM, POTENTIAL_FORM, joint, parameters
from mbkit.kernels.status import OK

STIFFNESS = 0
REST = 1


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, _t, q, _v, tau, _powers):
    """tau = -k (q - q0)."""
    p = parameters(space, k)
    at_q, at_v, count = joint(space, k)
    for j in range(count):
        tau[at_v + j] -= p[STIFFNESS] * (q[at_q + j] - p[REST])
    return OK


@address_kernel(POTENTIAL_FORM, in_lanes=True)
def potential(space, k, _t, q, out):
    """U = k (q - q0)^2 / 2."""
    p = parameters(space, k)
    at_q, _, count = joint(space, k)
    for j in range(count):
        x = q[at_q + j] - p[REST]
        out[0] += 0.5 * p[STIFFNESS] * x * x
    return OK
