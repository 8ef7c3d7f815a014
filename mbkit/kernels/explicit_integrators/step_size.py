"""The size of adaptive steps: the error of a step on the group, by its tolerances, and the next."""

import math
from typing import NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import float64, floats, helper
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import select, sqrt
from mbkit.kernels.explicit_integrators.stages import combine
from mbkit.kernels.layout import SCREW
from mbkit.kernels.status import (
    CONSTRAINT_NOT_FINITE,
    FORCE_NOT_FINITE,
    NOT_CLOSED,
    NOT_FINITE,
    code_of,
)
from mbkit.kernels.workspace import bodies

#: Bounds of the ratio of a step to the one before, and how much less is taken than would do.
SMALLEST_RATIO = 0.2
LARGEST_RATIO = 5.0
SAFETY = 0.9

#: What is left of a step that failed, or turned too far.
CUT = 0.25

#: The controller takes smaller errors as equal to this.
LEAST_ERROR = 1e-4

#: Square of the angle by which a joint may turn within one step; coordinates end at 2 pi, and
#: rotations are unique up to pi.
MOST_TURN = (0.9 * math.pi) ** 2

#: Steps between two grid points, rejected ones among them.
MOST_STEPS = 100_000

#: Steps are not smaller than this many units in the last place of the time.
LEAST = 16.0 * 2.0**-52

#: What is counted since the start: evaluations of the equations of motion, rejected steps.
EVALUATIONS = 0
REJECTIONS = 1

#: A step that comes so near to the grid point, by its size, ends there.
NEAR = 1.0 + 1e-9


class Control(NamedTuple):
    """Tolerances and weights that choose the steps of a pair, and memory for their errors."""

    b_error: floats  # (s,), weights less the embedded ones
    order: float64  # of the error
    rtol: float64
    atol: float64
    widest: float64  # no step is larger
    angular: floats  # (d,), 1 for entries that turn a joint on a group
    errors: floats  # (d + nv,)


@helper
def larger(a, b):
    """The larger of two numbers."""
    return select(b > a, b, a)


@helper
def size_of(row, j, q, q_next):
    """The size of entry j of a joint's step: that of the coordinate where these add, else 1."""
    if row.kind == SCREW or row.retract == 0:
        a = row.first_position + j
        return larger(abs(q[a]), abs(q_next[a]))
    return 1.0


@helper
def norm(space, control, change, start, end):
    """The root mean square of a change (dx, dv) in units of the tolerances of `control`.

    start, end: states (q, v) between which it happens.
    Source: Hairer, Norsett, Wanner 1993, equations II.4.10 and II.4.11.
    """
    dx, dv = change
    q, v = start
    q_next, v_next = end
    rtol = control.rtol
    atol = control.atol
    model = bodies(space)
    total = 0.0
    for i in range(1, model.shape[0]):
        row = model[i]
        for j in range(row.ndx):
            ratio = dx[row.first_step + j] / (atol + rtol * size_of(row, j, q, q_next))
            total += ratio * ratio
    for j in range(v.shape[0]):
        ratio = dv[j] / (atol + rtol * larger(abs(v[j]), abs(v_next[j])))
        total += ratio * ratio
    return sqrt(total / max(1, dx.shape[0] + dv.shape[0]))


@helper
def error_of_step(space, control, h, start, stages):
    """The norm of h sum (b_i - b^_i) k_i, which is in the algebra, and the same of l_i.

    Infinite where a joint turns too far.
    """
    b_error = control.b_error
    d = stages.xdot.shape[1]
    dx = control.errors[:d]
    dv = control.errors[d:]
    combine(h, b_error, stages.xdot, b_error.shape[0], dx)
    combine(h, b_error, stages.vdot, b_error.shape[0], dv)
    error = norm(space, control, (dx, dv), (start.q, start.v), (stages.q_end, stages.v))
    return select(turns_too_far(space, control.angular, stages.x), math.inf, error)


@helper
def first_size(space, control, rates, q, v):
    """A step in which the state changes by a hundredth of its size, by its rates at the start.

    Source: Hairer, Norsett, Wanner 1993, section II.4, starting step size, steps a and b.
    """
    xdot, vdot, _ = rates
    errors = control.errors
    model = bodies(space)
    d = xdot.shape[1]
    for i in range(1, model.shape[0]):
        row = model[i]
        for j in range(row.ndx):
            errors[row.first_step + j] = size_of(row, j, q, q)
    assign(errors[d:], v)
    here = norm(space, control, (errors[:d], errors[d:]), (q, v), (q, v))
    rate = norm(space, control, (xdot[0], vdot[0]), (q, v), (q, v))
    return each_lane(hundredth, (here, rate))


@helper
def hundredth(here, rate):
    """The time in which a hundredth of a size passes."""
    return 1e-6 if here < 1e-5 or rate < 1e-5 else 0.01 * here / rate


@helper
def turns_too_far(space, angular, x):
    """Whether a joint on a group turns by more than its coordinates bear in one step."""
    model = bodies(space)
    most = 0.0
    for i in range(1, model.shape[0]):
        row = model[i]
        square = 0.0
        for k in range(row.first_step, row.first_step + row.ndx):
            square += angular[k] * x[k] * x[k]
        most = larger(most, square)
    return most > MOST_TURN


@helper
def ratio_after(error, last_error, order, rejected):
    """By how much the step changes after one that was accepted, with errors of O(h^order).

    Source: Gustafsson 1991; Hairer, Norsett, Wanner 1993, section II.4, PI controller.
    """
    if error == 0.0:
        ratio = LARGEST_RATIO
    else:
        ratio = SAFETY * error ** (-0.7 / order) * last_error ** (0.4 / order)
    return min(1.0 if rejected else LARGEST_RATIO, max(SMALLEST_RATIO, ratio))


@helper
def ratio_rejected(error, order):
    """The part to which a step is reduced whose error is too large, or not a number."""
    if not error < math.inf:
        return CUT
    return max(SMALLEST_RATIO, SAFETY * error ** (-1.0 / order))


@helper
def next_step(t, size, end):
    """How far a step goes on the way to the end, and where it ends: there, or half way at most."""
    rest = end - t
    h = rest if size * NEAR >= rest else min(size, 0.5 * rest)
    return h, end if h == rest else t + h


@helper
def next_size(error, last_error, h, size, rejected, order, widest):
    """The size that comes after a step h of that error, of which the size was to be `size`."""
    if error <= 1.0:
        wanted = h * ratio_after(error, last_error, order, rejected != 0.0)
        return min(widest, max(size, wanted) if h < size else wanted)
    return h * ratio_rejected(error, order)


@helper
def is_of_numbers(status):
    """Whether a failure is one of numbers, which smaller steps may mend."""
    return code_of(status) in (NOT_FINITE, FORCE_NOT_FINITE, NOT_CLOSED, CONSTRAINT_NOT_FINITE)
