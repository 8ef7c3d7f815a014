"""Steps of Runge-Kutta-Munthe-Kaas pairs that were accepted, kept with their stages."""

import math
from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import floats_at, helper, int64, integers, kernel, typed
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.constraints.workspace import chosen_rows, closure_of
from mbkit.kernels.equations_of_motion import stage_acceleration
from mbkit.kernels.explicit_integrators.stages import (
    HELD_SIZE,
    HELD_TIME,
    combine,
    combine_velocities,
)
from mbkit.kernels.layout import DISSIPATED, SUPPLIED
from mbkit.kernels.sensitivities.recorded_steps import History, history_of
from mbkit.kernels.status import OK
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.munthe_kaas_adaptive import (
    END,
    TIME,
    Method,
    depart,
    go_to,
    method_of,
    settle_down,
)
from mbkit.kernels.time_loops.records import Grid
from mbkit.kernels.time_loops.step_times import step_of
from mbkit.kernels.workspace import bodies, scratch_of

#: A stage behind the first: the rows that were chosen there hold.
FOLLOWS = 1


@helper
def keep_coordinates(space, weights, progress, stages, places, count):
    """Write x, q and v that the first `count` rates of the last step lead to with some weights."""
    x, q, v = places
    h = progress.last.span[HELD_SIZE]
    start = progress.last.start
    combine(h, weights, stages.xdot, count, x)
    combine_velocities(h, weights, stages.vdot, count, start.v, v)
    return retract_rows(bodies(space), scratch_of(space), start.q, x, q)


@helper
def keep_multipliers(space, scheme, progress, stages, history, n):
    """Keep the multipliers of the stages of step n, and which rows held in it.

    The stages are evaluated once more: the loop has kept their rates alone. The end of the step
    before loops are closed is memory.
    """
    m = history.kept.shape[1]
    if m == 0:
        return OK
    closure = closure_of(space)
    chosen = chosen_rows(closure)
    for r in range(m):
        history.kept[n, r] = chosen[r]
    span = progress.last.span
    for i in range(history.q.shape[1]):
        dissipated, supplied = stages.powers[i, DISSIPATED], stages.powers[i, SUPPLIED]
        t = span[HELD_TIME] + scheme.c[i] * span[HELD_SIZE]
        q, v = history.q[n, i], history.v[n, i]
        status = stage_acceleration(space, FOLLOWS, t, q, v, history.open_v[n], stages.powers[i])
        if status != OK:
            return status
        stages.powers[i, DISSIPATED], stages.powers[i, SUPPLIED] = dissipated, supplied
        assign(history.multipliers[n, i], floats_at(closure.multipliers, m))
    return OK


@helper
def keep_accepted(space, scheme, progress, stages, history, n):
    """Keep the step that was accepted last, as step n: its stages follow from its rates."""
    last = progress.last
    count = history.q.shape[1]
    for i in range(count):
        places = (history.x[n, i], history.q[n, i], history.v[n, i])
        status = keep_coordinates(space, scheme.A[i], progress, stages, places, i)
        if status != OK:
            return status
        assign(history.vdot[n, i], stages.vdot[i])
    status = keep_multipliers(space, scheme, progress, stages, history, n)
    if status != OK:
        return status
    places = (history.x[n, count], history.open_q[n], history.open_v[n])
    status = keep_coordinates(space, scheme.b, progress, stages, places, count)
    history.span[n, 0] = last.span[HELD_TIME]
    history.span[n, 1] = last.span[HELD_SIZE]
    history.t[n] = progress.numbers[TIME]
    assign(history.end_q[n], progress.now.q)
    assign(history.end_v[n], progress.now.v)
    return status


class Accepted(NamedTuple):
    """Steps that were accepted, and how many of them lead to the end of each interval of a grid."""

    history: typed(History)
    ends: integers


@kernel(int64(int64, typed(Method), typed(Grid), typed(Accepted)), nogil=True)
def record_adaptive(space, method, grid, accepted):
    """Go from grid point to grid point as `munthe_kaas_adaptive.advance` does; keep all steps.

    Writes  the method's state, accepted. Where the history is full the rest of `ends` is 0, and the
            state that of the last grid point before.
    """
    scheme, control, state, progress, stages = method_of(method)
    history, ends = accepted
    history = history_of(history)
    numbers = progress.numbers
    now = progress.now
    ends[:] = 0
    n = 0
    for k in range(grid.steps):
        step = step_of(grid, grid.first + k)
        depart(step, state, progress)
        status = OK
        while status == OK and numbers[TIME] < numbers[END]:
            if n == history.t.shape[0]:
                return OK
            status = go_to(space, scheme, control, -math.inf, progress, stages)  # one step
            if status == OK:
                status = keep_accepted(space, scheme, progress, stages, history, n)
                n += 1
        if status == OK:
            status = look(space, step.end, now.q, now.v)
        if status != OK:
            return status
        settle_down(progress, state)
        ends[k] = n
    return OK
