"""The time loop of Runge-Kutta-Munthe-Kaas pairs that choose their steps between grid points."""

import math
from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, helper, int64, kernel, records_at, typed
from mbkit.kernels.explicit.dense_output import between
from mbkit.kernels.explicit.error_control import (
    EVALUATIONS,
    LEAST,
    MOST_STEPS,
    NEAR,
    REJECTIONS,
    Control,
    error_of_step,
    first_size,
    is_of_numbers,
    ratio_after,
    ratio_rejected,
    turns_too_far,
)
from mbkit.kernels.explicit.references import (
    last_of,
    scheme_of,
    stages_of,
    state_of,
    vector_of,
)
from mbkit.kernels.explicit.stages import (
    HELD_TIME,
    DenseOutput,
    LastStep,
    Scheme,
    Stages,
    arrive,
    copy,
    evaluate_stages,
    keep,
    take_over,
)
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import INACCURATE, OK, STEP_TOO_SMALL, TOO_MANY, failure
from mbkit.kernels.time_loops.records import Grid, Saved, State, Step
from mbkit.kernels.time_loops.saving import count_step, start_count
from mbkit.kernels.time_loops.times import step_of
from mbkit.kernels.time_loops.watch import look

#: Numbers of a method on its way from one grid point to the next.
TIME = 0  # what it has reached
SIZE = 1  # the step that comes next
ERROR = 2  # of the last step, for the controller
STAGE = 3  # where the first stage comes from: EVALUATE, THERE, LAST
REJECTED = 4  # whether the step that comes next is a second attempt
BEGIN = 5  # time, SIZE and ERROR at the grid point before, and the time of that behind
BEGIN_SIZE = 6
BEGIN_ERROR = 7
END = 8
NUM_PROGRESS = 9

EVALUATE = 0.0
THERE = 1.0
LAST = 2.0

#: What an integrator remembers: SIZE and ERROR at a grid point.
MEMORY_SIZE = 0
MEMORY_ERROR = 1


class Progress(NamedTuple):
    """Where a method is on its way from one grid point to the next."""

    numbers: floats  # (NUM_PROGRESS,)
    remembered: floats  # (2,), MEMORY_SIZE and MEMORY_ERROR
    before: typed(State)  # at the grid point before
    last: typed(LastStep)
    now: typed(State)
    w_end: floats  # (d,), rates of steps at the last stage of the last step
    counts: floats  # (2,), EVALUATIONS and REJECTIONS since the start


@helper
def progress_of(progress):
    """The same, whose arrays are not counted references."""
    return Progress(
        vector_of(progress.numbers), vector_of(progress.remembered), state_of(progress.before),
        last_of(progress.last), state_of(progress.now), vector_of(progress.w_end),
        vector_of(progress.counts),
    )  # fmt: skip


@helper
def control_of(control):
    """The same, whose arrays are not counted references."""
    b_error, order, rtol, atol, widest, angular, errors = control
    return Control(
        vector_of(b_error), order, rtol, atol, widest, vector_of(angular), vector_of(errors)
    )


@helper
def last_is_first(space, A, b):
    """Whether the last stage of a step is the first of the next: at its end, if nothing moves it.

    Projection and prescribed joints do.
    """
    record = records_at(space, 1, SPACE)[0]
    if record.project != 0 or record.drive != 0:
        return False
    difference = 0.0
    for j in range(b.shape[0]):
        difference += abs(A[b.shape[0] - 1, j] - b[j])
    return difference == 0.0


@helper
def go_to(space, scheme, control, target, progress, stages):
    """Take steps, one at least, until `target` is reached; the last one before END ends there.

    Writes  progress, of which `now` is what was reached and `last` where the last step began.
    """
    b = scheme.b
    order = control.order
    now = progress.now
    numbers = progress.numbers
    count = b.shape[0]
    reuses = last_is_first(space, scheme.A, b)
    end = numbers[END]
    least = LEAST * max(abs(numbers[BEGIN]), abs(end))
    for _ in range(MOST_STEPS):
        t = numbers[TIME]
        size = numbers[SIZE]
        rest = end - t
        h = rest if size * NEAR >= rest else min(size, 0.5 * rest)
        step = Step(t, h, end if h == rest else t + h)
        if numbers[STAGE] == LAST:
            assign(stages.xdot[0], progress.w_end)
            assign(stages.vdot[0], stages.vdot[count - 1])
            assign(stages.powers[0], stages.powers[count - 1])
        first = 0 if numbers[STAGE] == EVALUATE else 1
        progress.counts[EVALUATIONS] += count - first
        code = evaluate_stages(space, scheme, step, now, stages, first, count)
        if code == OK:
            code = arrive(space, b, step.end, h, now, stages)
        error = math.inf
        if code == OK and not turns_too_far(space, control.angular, stages.x):
            error = error_of_step(space, control, h, now, stages)
        if error <= 1.0:
            keep(step, count, now, progress.last)
            take_over(b, h, stages, now)
            assign(progress.w_end, stages.w)
            wanted = h * ratio_after(error, numbers[ERROR], order, numbers[REJECTED] != 0.0)
            numbers[SIZE] = min(control.widest, max(size, wanted) if h < size else wanted)
            numbers[ERROR] = max(error, 1e-4)
            numbers[STAGE] = LAST if reuses else EVALUATE
            numbers[REJECTED] = 0.0
            numbers[TIME] = step.end
            if step.end >= target:
                return OK
        elif code != OK and not is_of_numbers(code):
            return code
        else:
            progress.counts[REJECTIONS] += 1.0
            numbers[SIZE] = h * ratio_rejected(error, order)
            numbers[STAGE] = THERE if code == OK else EVALUATE
            numbers[REJECTED] = 1.0
            if not numbers[SIZE] > least:
                return code if code != OK else failure(STEP_TOO_SMALL, INACCURATE)
    return failure(STEP_TOO_SMALL, TOO_MANY)


@helper
def depart(space, scheme, control, step, state, progress, stages):
    """Leave a grid point, where the state is, for the one at the end of `step`."""
    numbers = progress.numbers
    numbers[BEGIN] = step.t
    numbers[BEGIN_SIZE] = progress.remembered[MEMORY_SIZE]
    numbers[BEGIN_ERROR] = progress.remembered[MEMORY_ERROR]
    numbers[END] = step.end
    copy(state, progress.before)
    return begin(space, scheme, control, progress, stages)


@helper
def settle_down(progress, state):
    """Let the grid point that was reached be the state, and remember the size that comes next."""
    copy(progress.now, state)
    progress.remembered[MEMORY_SIZE] = progress.numbers[SIZE]
    progress.remembered[MEMORY_ERROR] = progress.numbers[ERROR]


@helper
def begin(space, scheme, control, progress, stages):
    """Set out from the grid point before, with the size that is remembered, if there is one."""
    numbers = progress.numbers
    now = progress.now
    copy(progress.before, now)
    numbers[TIME] = numbers[BEGIN]
    numbers[SIZE] = numbers[BEGIN_SIZE]
    numbers[ERROR] = numbers[BEGIN_ERROR]
    numbers[STAGE] = EVALUATE
    numbers[REJECTED] = 0.0
    if numbers[SIZE] == 0.0:
        step = Step(numbers[BEGIN], 0.0, numbers[BEGIN])
        progress.counts[EVALUATIONS] += 1.0
        code = evaluate_stages(space, scheme, step, now, stages, 0, 1)
        if code != OK:
            return code
        rates = (stages.xdot, stages.vdot, stages.powers)
        size = first_size(space, rates, control.errors, now.q, now.v, control.rtol, control.atol)
        numbers[SIZE] = min(control.widest, size)
        numbers[ERROR] = 1e-4
        numbers[STAGE] = THERE
    return OK


@kernel(
    int64(
        int64, typed(Scheme), typed(Control), typed(State), typed(Progress), typed(Stages),
        typed(Grid), typed(Saved),
    ),
    nogil=True,
)  # fmt: skip
def advance(space, scheme, control, state, progress, stages, grid, saved):
    """Go from grid point to grid point, t0 + k h, in steps of any size up to h.

    Writes  state, saved (of grid points), progress, stages (of which q and v are what was
            evaluated last).
    Returns OK, or the status of what failed; state and what is remembered are then those of the
            last grid point.
    """
    scheme = scheme_of(scheme)
    control = control_of(control)
    state = state_of(state)
    progress = progress_of(progress)
    stages = stages_of(stages)
    now = progress.now
    start_count(saved)
    for k in range(grid.first, grid.first + grid.steps):
        step = step_of(grid, k)
        code = depart(space, scheme, control, step, state, progress, stages)
        if code == OK:
            code = go_to(space, scheme, control, step.end, progress, stages)
        if code == OK:
            code = look(space, step.end, now.q, now.v)
        if code != OK:
            return code
        settle_down(progress, state)
        count_step(grid, k, state, saved)
    return OK


@kernel(
    int64(
        int64, typed(Scheme), typed(Control), typed(DenseOutput), float64, typed(State),
        typed(Progress), typed(Stages),
    ),
    nogil=True,
)  # fmt: skip
def interpolate(space, scheme, control, dense, t, out, progress, stages):
    """Write the state at t, between the last two grid points; loops are closed there.

    The last step is at hand. For a time before it the steps are taken again, from the grid point
    up to that time; later times go on from there.
    """
    code = OK
    again = t < progress.last.span[HELD_TIME]
    if again:
        code = begin(space, scheme, control, progress, stages)
    if code == OK and (again or t > progress.numbers[TIME]):
        code = go_to(space, scheme, control, t, progress, stages)
    if code != OK:
        return code
    return between(space, dense, t, progress.last, stages, out)
