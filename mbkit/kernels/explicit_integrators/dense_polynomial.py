"""States within a step that was taken, from polynomials in coordinates of the group."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import helper
from mbkit.kernels.explicit_integrators.stages import HELD_SIZE, HELD_TIME, add_work, arrive
from mbkit.kernels.prescribed_motion import drive
from mbkit.kernels.status import OK


@helper
def between(space, dense, t, last, stages, out):
    """The state at t in the last step: its start q exp(h sum b_i(theta) k_i), and so on.

    Writes  out, a state.
    Source: Hairer, Norsett, Wanner 1993, II.6, in coordinates of the group about the start.
    """
    b, weights = dense
    start, span = last
    h = span[HELD_SIZE]
    theta = (t - span[HELD_TIME]) / h
    for i in range(b.shape[0]):
        value = 0.0
        for j in range(b.shape[1]):
            value = (value + b[i, b.shape[1] - 1 - j]) * theta
        weights[i] = value
    status = arrive(space, weights, t, h, start, stages)
    if status == OK:
        status = drive(space, t, stages.q_end, stages.v)
    assign(out.q, stages.q_end)
    assign(out.v, stages.v)
    assign(out.work, start.work)
    add_work(h, weights, stages.powers, out.work)
    return status
