"""Weights times the derivatives of equations of motion and of constraints at many states.

What `mbkit.kernels.sensitivities.closed_passes` sums by parameters, without what it finds by
states.
"""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    call_address,
    floats,
    int64,
    kernel,
    matrix,
    records_at,
    stack,
    typed,
)
from mbkit.kernels.sensitivities.closed_passes import factors_at, passes_at
from mbkit.kernels.status import OK
from mbkit.kernels.vector_jacobian_products.forces import CALLED


class Weighted(NamedTuple):
    """N states, and the weights of their equations."""

    t: floats  # (N,)
    q: matrix  # (N, nq)
    v: matrix  # (N, nv)
    vdot: matrix  # (N, nv)
    x: matrix  # (N, nv), of efforts
    residuals: int64  # OPEN or CLOSED, or 0: G counts for nothing
    closes: int64  # whether rows of accelerations are A vdot alone
    factors: stack  # (N, 4, m): L, Y, Z, G of `mbkit.kernels.vector_jacobian_products.loops`


@kernel(int64(int64, int64, typed(Weighted), floats, floats), nogil=True)
def add_weighted_equations(space, memory, given, by_q, by_v):
    """Add x . de and the rows times their factors, by parameters, to the sums of `memory`.

    by_q (ndx,) and by_v (nv,) are memory.
    """
    record = passes_at(memory)
    record.closes = given.closes
    table = factors_at(record)
    for n in range(given.t.shape[0]):
        record.time = given.t[n]
        if record.called != 0:
            records_at(record.called, 1, CALLED)[0].time = given.t[n]
        for k in range(4):
            assign(table[k], given.factors[n, k])
        record.with_residuals = given.residuals
        status = call_address(
            record.back_through_equations,
            (space, memory, given.q[n], given.v[n], given.vdot[n], given.x[n], by_q, by_v),
        )
        if status != OK:
            return status
    record.with_residuals = 0
    record.closes = 0
    return OK
