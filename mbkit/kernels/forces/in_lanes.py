"""Forces of joints on several runs side by side: they come before the forward dynamics.

Alone, a run has them evaluated between the passes of the forward dynamics, where poses of bodies
are known. Linear springs and dampers in joints need none, and are the same sums before it.
"""

from mbkit.kernels.compile import call_address, records_at
from mbkit.kernels.evaluation import velocities
from mbkit.kernels.forces.linear import add_linear
from mbkit.kernels.layout import DISSIPATED, SPACE, SUPPLIED
from mbkit.kernels.space import bodies, powers_of
from mbkit.kernels.status import OK


def sprung_dynamics(space, _option, q, v, efforts, vdot):
    """efforts += those of springs and dampers in joints, then the forward dynamics.

    The address of that is in the place of `force_pass`, which nothing else here asks for.
    """
    record = records_at(space, 1, SPACE)[0]
    tau = velocities(bodies(space), efforts)
    powers = powers_of(space)
    powers[DISSIPATED] = add_linear(space, q, v, tau)
    powers[SUPPLIED] = 0.0
    return call_address(record.force_pass, (space, 0, q, v, efforts, vdot))


def no_search(space, _option, q, v, time, efforts):
    """In the place of the search for a force that is not finite: runs are taken alone for that."""
    return OK
