"""The time loop of Runge-Kutta-Munthe-Kaas pairs that choose their steps between grid points."""

import math
from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import floats, helper, int64, kernel, records_at, typed
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.equations_of_motion import choose_rows, hold_rows
from mbkit.kernels.explicit_integrators.stages import (
    LastStep,
    Scheme,
    Stages,
    arrive,
    assign_where,
    copy,
    evaluate_stage,
    evaluate_stages,
    keep,
    take_over,
)
from mbkit.kernels.explicit_integrators.step_size import (
    EVALUATIONS,
    LEAST,
    LEAST_ERROR,
    MOST_STEPS,
    REJECTIONS,
    Control,
    error_of_step,
    first_size,
    is_of_numbers,
    larger,
    next_size,
    next_step,
)
from mbkit.kernels.explicit_integrators.uncounted_records import (
    last_of,
    scheme_of,
    stages_of,
    state_of,
    vector_of,
)
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import INACCURATE, OK, STEP_TOO_SMALL, TOO_MANY, failure
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.time_loops.records import Grid, Saved, State, Step
from mbkit.kernels.time_loops.saving import count_step, start_count
from mbkit.kernels.time_loops.step_times import step_of

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
def find_first_stage(space, scheme, control, progress, stages, fresh):
    """Let the first stage be there, and with it, where none is known, the size of the step.

    It was found for the attempt before, was the last stage of the step before, or is evaluated, in
    `fresh`: in the place of the stages themselves, and elsewhere for several runs side by side.
    """
    numbers = progress.numbers
    source = numbers[STAGE]
    last = scheme.b.shape[0] - 1
    assign_where(source == LAST, stages.xdot[0], progress.w_end)
    assign_where(source == LAST, stages.vdot[0], stages.vdot[last])
    assign_where(source == LAST, stages.powers[0], stages.powers[last])
    is_new = source == EVALUATE
    if any_lane(is_new):
        progress.counts[EVALUATIONS] += select(is_new, 1.0, 0.0)
        step = Step(numbers[TIME], 0.0, numbers[TIME])
        status = evaluate_stage(space, scheme, step, progress.now, fresh, 0)
        if status != OK:
            return status
        choose_rows(space, is_new)
        assign_where(is_new, stages.xdot[0], fresh.xdot[0])
        assign_where(is_new, stages.vdot[0], fresh.vdot[0])
        assign_where(is_new, stages.powers[0], fresh.powers[0])
    if any_lane(numbers[SIZE] == 0.0):
        find_first_size(space, control, progress, stages)
    return OK


@helper
def find_first_size(space, control, progress, stages):
    """Choose the size of a step of which nothing is known, by its first stage."""
    numbers = progress.numbers
    now = progress.now
    rates = (stages.xdot, stages.vdot, stages.powers)
    size = first_size(space, control, rates, now.q, now.v)
    is_unknown = numbers[SIZE] == 0.0
    size = select(size < control.widest, size, control.widest)
    numbers[SIZE] = select(is_unknown, size, numbers[SIZE])
    numbers[ERROR] = select(is_unknown, LEAST_ERROR, numbers[ERROR])


@helper
def attempt(space, scheme, control, progress, stages, fresh):
    """Try the step that comes next: a status, the step, and its error, infinite if there is none.

    Writes  stages, of which q_end and v are the end of the step; progress, but for what follows
            from the error.
    """
    numbers = progress.numbers
    now = progress.now
    count = scheme.b.shape[0]
    status = find_first_stage(space, scheme, control, progress, stages, fresh)
    h, end = each_lane(next_step, (numbers[TIME], numbers[SIZE], numbers[END]))
    step = Step(numbers[TIME], h, end)
    if status == OK:
        progress.counts[EVALUATIONS] += count - 1.0
        status = evaluate_stages(space, scheme, step, now, stages, 1, count)
    if status == OK:
        hold_rows(space)
        status = arrive(space, scheme.b, end, h, now, stages)
    error = math.inf
    if status == OK:
        error = error_of_step(space, control, h, now, stages)
    return status, step, error


@helper
def judge(control, step, error, reuses, progress):
    """Let the step that comes next follow from an error; whether it is small enough.

    reuses: the last stage of an accepted step is the first of the next.
    """
    numbers = progress.numbers
    accepted = error <= 1.0
    numbers[SIZE] = each_lane(
        next_size,
        (
            error, numbers[ERROR], step.h, numbers[SIZE], numbers[REJECTED],
            control.order, control.widest,
        ),
    )  # fmt: skip
    numbers[ERROR] = select(accepted, larger(error, LEAST_ERROR), numbers[ERROR])
    numbers[STAGE] = select(accepted, LAST if reuses else EVALUATE, THERE)
    numbers[REJECTED] = select(accepted, 0.0, 1.0)
    numbers[TIME] = select(accepted, step.end, numbers[TIME])
    progress.counts[REJECTIONS] += numbers[REJECTED]
    return accepted


@helper
def least_size(numbers):
    """The size that steps must exceed."""
    return LEAST * larger(abs(numbers[BEGIN]), abs(numbers[END]))


@helper
def go_to(space, scheme, control, target, progress, stages):
    """Take steps, one at least, until `target` is reached; the last one before END ends there.

    Writes  progress, of which `now` is what was reached and `last` where the last step began.
    """
    b = scheme.b
    now = progress.now
    numbers = progress.numbers
    reuses = last_is_first(space, scheme.A, b)
    least = least_size(numbers)
    for _ in range(MOST_STEPS):
        status, step, error = attempt(space, scheme, control, progress, stages, stages)
        if status != OK and (numbers[SIZE] == 0.0 or not is_of_numbers(status)):
            return status
        if judge(control, step, error, reuses, progress):
            keep(step, b.shape[0], now, progress.last)
            take_over(b, step.h, stages, now)
            assign(progress.w_end, stages.w)
            if step.end >= target:
                return OK
        else:
            if status != OK:
                numbers[STAGE] = EVALUATE
            if not numbers[SIZE] > least:
                return status if status != OK else failure(STEP_TOO_SMALL, INACCURATE)
    return failure(STEP_TOO_SMALL, TOO_MANY)


@helper
def depart(step, state, progress):
    """Leave a grid point, where the state is, for the one at the end of `step`."""
    numbers = progress.numbers
    numbers[BEGIN] = step.t
    numbers[END] = step.end
    numbers[BEGIN_SIZE] = progress.remembered[MEMORY_SIZE]
    numbers[BEGIN_ERROR] = progress.remembered[MEMORY_ERROR]
    copy(state, progress.before)
    begin(progress)


@helper
def set_out(numbers, step):
    """Be at the begin of an interval of the grid, to which nothing belongs that is there."""
    numbers[BEGIN] = step.t
    numbers[END] = step.end
    numbers[TIME] = step.t
    numbers[STAGE] = EVALUATE
    numbers[REJECTED] = 0.0


@helper
def settle_down(progress, state):
    """Let the grid point that was reached be the state, and remember the size that comes next."""
    copy(progress.now, state)
    progress.remembered[MEMORY_SIZE] = progress.numbers[SIZE]
    progress.remembered[MEMORY_ERROR] = progress.numbers[ERROR]


@helper
def begin(progress):
    """Set out from the grid point before, with the size that is remembered, if there is one."""
    numbers = progress.numbers
    copy(progress.before, progress.now)
    set_out(numbers, Step(numbers[BEGIN], 0.0, numbers[END]))
    numbers[SIZE] = numbers[BEGIN_SIZE]
    numbers[ERROR] = numbers[BEGIN_ERROR]


class Method(NamedTuple):
    """A pair of methods and what chooses its steps, where it is on its way, and its stages."""

    scheme: typed(Scheme)
    control: typed(Control)
    state: typed(State)
    progress: typed(Progress)
    stages: typed(Stages)


@helper
def method_of(method):
    """The same, whose arrays are not counted references."""
    scheme, control, state, progress, stages = method
    return Method(
        scheme_of(scheme), control_of(control), state_of(state), progress_of(progress),
        stages_of(stages),
    )  # fmt: skip


@kernel(int64(int64, typed(Method), typed(Grid), typed(Saved)), nogil=True)
def advance(space, method, grid, saved):
    """Go from grid point to grid point, t0 + k h, in steps of any size up to h.

    Writes  the method's state, progress and stages (of which q and v are what was evaluated last),
            saved (of grid points).
    Returns OK, or the status of what failed; state and what is remembered are then those of the
            last grid point.
    """
    scheme, control, state, progress, stages = method_of(method)
    now = progress.now
    start_count(saved)
    for k in range(grid.first, grid.first + grid.steps):
        step = step_of(grid, k)
        depart(step, state, progress)
        status = go_to(space, scheme, control, step.end, progress, stages)
        if status == OK:
            status = look(space, step.end, now.q, now.v)
        if status != OK:
            return status
        settle_down(progress, state)
        count_step(grid, k, state, saved)
    return OK
