"""Several runs of the generalized-alpha method in lanes, each with its own time and step size.

All of them try a step at once, by the functions of a single run. Newton's method goes on until the
last of them is solved, or has failed; a step that fails, or is not accurate enough, is tried again
with a smaller size in the next attempt, beside the next steps of the others.
"""

import math

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.explicit_integrators.step_size import REJECTIONS, next_step
from mbkit.kernels.implicit_integrators.layout import ALPHA
from mbkit.kernels.implicit_integrators.step_memory import fails, memory_of
from mbkit.kernels.status import OK, STEP_TOO_SMALL, UNSOLVED, failure
from mbkit.kernels.time_loops.generalized_alpha import alpha_of
from mbkit.kernels.time_loops.generalized_alpha_adaptive import (
    NUM_SIZES,
    SIZE,
    StepSize,
    accept,
    choose_first,
    error_of_step,
    forget_matrix,
    judge,
    least_size,
    solve,
)
from mbkit.kernels.time_loops.munthe_kaas_adaptive import END, NUM_PROGRESS, REJECTED, TIME

#: What steps are chosen by, the same for all runs.
RTOL = 0
ATOL = 1
WIDEST = 2  # no step is larger
NUM_CONTROL = 3

#: What is counted of a run: evaluations of the equations of motion before, rejected steps.
NUM_COUNTS = 2


@helper
def choice_of(own, nv):
    """The choice of step sizes, from a record that has the fields of `ALPHA`."""
    control = floats_at(own.control, NUM_CONTROL)
    errors = floats_at(own.errors, 2 * nv)
    return StepSize(
        rtol=control[RTOL], atol=control[ATOL], angular=floats_at(own.angular, nv),
        rate=floats_at(own.rate, nv), sizes=floats_at(own.sizes, NUM_SIZES), errors=errors,
        kept=errors, counts=floats_at(own.counts, NUM_COUNTS),
    )  # fmt: skip


def attempt_in_lanes(space, method, _memory):
    """Try a step of each run; who has reached the end of its interval waits there.

    Returns a status of all runs together. Where Newton's method fails for some of them alone it is
    OK: these have smaller steps then.
    """
    own = records_at(method, 1, ALPHA)[0]
    step = own.step
    alpha = alpha_of(step, method)
    record = memory_of(step)
    choice = choice_of(own, record.nv)
    both = (alpha, choice)
    sizes = choice.sizes
    widest = floats_at(own.control, NUM_CONTROL)[WIDEST]
    progress = floats_at(own.progress, NUM_PROGRESS)
    t = progress[TIME]
    end = progress[END]
    goes = t < end
    failed = floats_at(record.failed, 1)
    floats_at(record.waits, 1)[0] = select(goes, 0.0, 1.0)
    failed[0] = select(goes, 0.0, 0.0)
    status = choose_first(space, step, alpha, choice, t, widest)
    if status != OK:
        return status
    size = sizes[SIZE]
    h, stop = each_lane(next_step, (t, size, end))
    h = select(goes, h, size)
    status = solve(space, step, both, t, h, stop)
    has_failed = failed[0] != 0.0
    if status != OK and not any_lane(has_failed):
        return status
    status, error = error_of_step(space, step, alpha, choice, h)
    if status != OK:
        return status
    error = select(has_failed, math.inf, error)
    is_accepted = goes & (error <= 1.0)
    is_rejected = goes & fails(is_accepted)
    accept(is_accepted, step, both, h)
    forget_matrix(has_failed, step)
    judge(sizes, h, error, progress[REJECTED], widest)
    sizes[SIZE] = select(goes, sizes[SIZE], size)
    choice.counts[REJECTIONS] += select(is_rejected, 1.0, 0.0)
    progress[REJECTED] = select(is_rejected, 1.0, 0.0)
    progress[TIME] = select(is_accepted, stop, t)
    if any_lane(is_rejected & fails(sizes[SIZE] > least_size(t, end))):
        return failure(STEP_TOO_SMALL, UNSOLVED)
    return OK
