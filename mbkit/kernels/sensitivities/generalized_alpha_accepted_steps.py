"""Accepted steps of the generalized-alpha method with an adaptive step size, and given steps."""

from typing import NamedTuple

from mbkit.kernels.compile import float64, floats, helper, int64, integers, kernel, matrix, typed
from mbkit.kernels.implicit_integrators.newton_matrix import have_matrix
from mbkit.kernels.sensitivities.generalized_alpha_steps import keep
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.generalized_alpha import alpha_of, put_aside, take_back
from mbkit.kernels.time_loops.generalized_alpha_adaptive import (
    LAST,
    StepSize,
    accept,
    accepted_step,
    choose_first,
    parts_of,
    try_step,
)
from mbkit.kernels.time_loops.records import Grid
from mbkit.kernels.time_loops.step_times import instant


class History(NamedTuple):
    """N steps: when they begin, their sizes, and where they end."""

    span: matrix  # (N, 2), when a step begins, and its size
    t: floats  # (N,), when it ends
    q: matrix  # (N, nq)
    v: matrix  # (N, nv)
    vdot: matrix  # (N, nv)
    multipliers: matrix  # (N, m)
    eta: matrix  # (N, m)


class Accepted(NamedTuple):
    """Steps that were accepted, and how many of them lead to the end of each interval of a grid."""

    history: typed(History)
    ends: integers


@helper
def keep_step(history, n, begin, end, method):
    """Keep the state, where step n has led to."""
    alpha, choice = method
    history.span[n, 0] = begin
    history.span[n, 1] = choice.sizes[LAST]
    history.t[n] = end
    keep(history, n, alpha)


@kernel(int64(int64, int64, int64, typed(StepSize), typed(Grid), typed(Accepted)), nogil=True)
def record_adaptive(space, step, method, choice, grid, accepted):
    """Go from grid point to grid point as `generalized_alpha_adaptive.advance` does; keep steps.

    Writes  the state, accepted. Where the history is full the rest of `ends` is 0, and the state
            that of the last grid point before.
    """
    history, ends = accepted
    alpha = alpha_of(step, method)
    parts = parts_of(step, alpha, choice)
    ends[:] = 0
    n = 0
    status = have_matrix(space, step)
    for k in range(grid.steps):
        t = instant(grid.t0, grid.h, grid.first + k)
        end = instant(grid.t0, grid.h, grid.first + k + 1)
        put_aside(parts, choice.kept)
        if status == OK:
            status = choose_first(space, step, alpha, choice, t, grid.h)
        while status == OK and t < end:
            if n == history.t.shape[0]:
                take_back(True, parts, choice.kept)
                return OK
            begin = t
            status, t = accepted_step(space, step, (alpha, choice), t, grid.h, end)
            if status == OK:
                keep_step(history, n, begin, t, (alpha, choice))
                n += 1
        if status != OK:
            return status
        ends[k] = n
    return OK


@kernel(int64(int64, int64, int64, typed(StepSize), float64, floats), nogil=True)
def take_given(space, step, method, choice, t, sizes):
    """Take steps of these sizes from t on, whatever their errors are.

    Writes  the state
    """
    alpha = alpha_of(step, method)
    status = have_matrix(space, step)
    for k in range(sizes.shape[0]):
        h = sizes[k]
        if status == OK:
            status, _ = try_step(space, step, (alpha, choice), t, h, t + h)
        if status != OK:
            return status
        accept(True, step, (alpha, choice), h)
        t += h
    return OK
