"""Implicit steps from grid point to grid point: the loop of methods that keep Newton's matrix."""

import numpy as np

from mbkit.kernels.compile import call_address, floats_at, helper, int64, kernel, records_at, typed
from mbkit.kernels.implicit_integrators.newton_matrix import have_matrix
from mbkit.kernels.implicit_integrators.step_memory import memory_of
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.records import Grid, Saved, State
from mbkit.kernels.time_loops.saving import count_taken, save_constrained, start_count
from mbkit.kernels.time_loops.step_times import instant

#: What the record of a method begins with: the address of ``take_step(space, step, method, t, h,
#: end)``. Called by its address, it is compiled once, and not again with the loop.
METHOD = np.dtype([("take_step", np.int64)])


@helper
def state_of(step):
    """The state that a step goes on from."""
    record = memory_of(step)
    return State(
        floats_at(record.q, record.nq),
        floats_at(record.v, record.nv),
        floats_at(record.work, NUM_POWERS),
    )


@helper
def take_steps(take_step, space, step, method, grid, saved):
    """Take the steps of the grid by ``take_step(space, step, method, t, h, end)``.

    Writes  the state, what the method remembers, where the matrix was made; saved; q_next and
            v_next, what was evaluated last.
    Returns OK, or the status of what failed; the state is then that of the last complete step.
    """
    start_count(saved)
    record = memory_of(step)
    status = have_matrix(space, step)
    for k in range(grid.first, grid.first + grid.steps):
        if status != OK:
            return status
        end = instant(grid.t0, grid.h, k + 1)
        status = take_step(space, step, method, instant(grid.t0, grid.h, k), grid.h, end)
        if status != OK:
            return status
        state = state_of(step)
        count_taken(k, state, saved)
        if (k + 1) % grid.save_every == 0:
            save_constrained(end, state, floats_at(record.multipliers, record.m), saved)
    return status


@helper
def take_step(space, step, method, t, h, end):
    """A step of the method, by address."""
    function = records_at(method, 1, METHOD)[0].take_step
    return call_address(function, (space, step, method, t, h, end))


@kernel(int64(int64, int64, int64, typed(Grid), typed(Saved)), nogil=True)
def advance(space, step, method, grid, saved):
    """Take the steps of the grid; see `take_steps`.

    step    an `IMPLICIT` record, method one that begins as `METHOD`, by address
    """
    return take_steps(take_step, space, step, method, grid, saved)
