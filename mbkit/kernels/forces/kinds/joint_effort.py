"""A force or torque along a joint that is known over time."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.forces.form import FORCE_FORM, joint, parameters
from mbkit.kernels.forces.time_table import piece_at, value_at
from mbkit.kernels.layout import SUPPLIED
from mbkit.kernels.status import OK


@address_kernel(FORCE_FORM, in_lanes=True)
def evaluate(space, k, t, _q, v, tau, powers):
    """tau = f(t), which supplies f v."""
    p = parameters(space, k)
    _, at_v, _ = joint(space, k)
    piece, s = piece_at(p, t)
    force = value_at(p, 1, 0, piece, s)
    tau[at_v] += force
    powers[SUPPLIED] += force * v[at_v]
    return OK
