"""Steps of the generalized-alpha method that are kept, for derivatives of a run."""

from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    helper,
    int64,
    kernel,
    matrix,
    typed,
)
from mbkit.kernels.implicit_integrators.newton_matrix import have_matrix
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.generalized_alpha import alpha_of
from mbkit.kernels.time_loops.implicit_steps import take_step
from mbkit.kernels.time_loops.records import Grid
from mbkit.kernels.time_loops.step_times import instant


class History(NamedTuple):
    """The states where N steps end, and the first of them begins."""

    q: matrix  # (N + 1, nq)
    v: matrix  # (N + 1, nv)
    vdot: matrix  # (N + 1, nv)
    multipliers: matrix  # (N + 1, m)
    eta: matrix  # (N + 1, m)


@helper
def keep(history, k, alpha):
    """Keep the state."""
    assign(history.q[k], alpha.q)
    assign(history.v[k], alpha.v)
    assign(history.vdot[k], alpha.vdot)
    assign(history.multipliers[k], alpha.multipliers)
    assign(history.eta[k], alpha.eta)


@kernel(int64(int64, int64, int64, typed(Grid), typed(History)), nogil=True)
def record(space, step, method, grid, history):
    """Take the steps of the grid as `mbkit.kernels.time_loops.implicit_steps` does, and keep them.

    Writes  the state, history.
    """
    status = have_matrix(space, step)
    alpha = alpha_of(step, method)
    keep(history, 0, alpha)
    for n in range(grid.steps):
        if status != OK:
            return status
        t = instant(grid.t0, grid.h, grid.first + n)
        end = instant(grid.t0, grid.h, grid.first + n + 1)
        status = take_step(space, step, method, t, grid.h, end)
        keep(history, n + 1, alpha)
    return status
