"""Back to the constraints after a step: positions and velocities, by least motion.

dq = -M^-1 A^T (A M^-1 A^T)^+ g, a step on the group, then v -= M^-1 A^T (A M^-1 A^T)^+ (A v + g_t):
the corrections that are smallest when measured by the kinetic energy they would have. Source:
Hairer and Wanner, Solving Ordinary Differential Equations II, 2nd edition, section VII.2.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.constraints.evaluate import rows_of_motion, set_time
from mbkit.kernels.constraints.solve.dynamics import correct, linearise
from mbkit.kernels.constraints.workspace import closure_of, constraints, kept_rows, rows_of
from mbkit.kernels.elementary import all_lanes, grain, select, sqrt
from mbkit.kernels.layout import KINEMATICS, SPACE
from mbkit.kernels.prescribed_motion import drive
from mbkit.kernels.status import NOT_CLOSED, OK, failure
from mbkit.kernels.workspace import bodies, scratch_of

#: Corrections that are tried. In parts of the length of the system: from where on one correction
#: closes the loops to rounding, which squares what is left; and what may be left where corrections
#: help no more. Both for doubles.
MOST = 30
NEAR = 1e-12
ROUNDED = 1e-10
INFINITE = 1e300


@helper
def largest_residual(closure, which):
    """max |g| of the rows that count (1), or of the others (0)."""
    residual = floats_at(closure.residual, closure.num_position_rows)
    kept = kept_rows(closure)
    every = constraints(closure)
    most = 0.0
    for c in range(every.shape[0]):
        constraint = every[c]
        for r in range(constraint.num_position_rows):
            size = abs(residual[constraint.first_position_row + r])
            counts = select(kept[constraint.first_row + r] != 0, 1, 0)
            larger = select(size <= most, most, size)  # a size that is no number, too
            most = select(counts == which, larger, most)
    return most


@helper
def set_position_target(closure, target):
    """g by rows of velocity level, zero where a row has none."""
    residual = floats_at(closure.residual, closure.num_position_rows)
    every = constraints(closure)
    for c in range(every.shape[0]):
        constraint = every[c]
        for r in range(constraint.num_rows):
            target[constraint.first_row + r] = 0.0
        for r in range(constraint.num_position_rows):
            target[constraint.first_row + r] = residual[constraint.first_position_row + r]


@helper
def correct_positions(space, q, stays):
    """q becomes q exp(dq), but for those of several side by side that stay where they are."""
    closure = closure_of(space)
    model = bodies(space)
    totals = model[0]
    target = rows_of(closure, closure.bias)
    set_position_target(closure, target)
    change = floats_at(closure.change, totals.num_velocities)
    status = correct(space, target, rows_of(closure, closure.multipliers), change)
    step = floats_at(closure.step, totals.ndx)
    record = records_at(space, 1, SPACE)[0]
    if status == OK and record.rates != 0:
        status = call_address(record.rates, (space, 0, q, change, change, step))
    elif status == OK:
        assign(step, change)
    next_q = floats_at(closure.next_q, totals.num_positions)
    if status == OK:
        status = retract_rows(model, scratch_of(space), q, step, next_q)
    if status == OK:
        for k in range(q.shape[0]):
            q[k] = select(stays, q[k], next_q[k])
    return status


@helper
def correct_velocities(space, v):
    """v becomes v - M^-1 A^T (A M^-1 A^T)^+ (A v + g_t)."""
    closure = closure_of(space)
    change = floats_at(closure.change, v.shape[0])
    status = correct(
        space, rows_of(closure, closure.rate), rows_of(closure, closure.multipliers), change
    )
    for k in range(v.shape[0]):
        v[k] += change[k]
    return status


@helper
def finish(space, q, v):
    """One more correction of q, which is exact to rounding, then of v, by the same factor."""
    closure = closure_of(space)
    status = correct_positions(space, q, False)
    if status == OK:
        status = rows_of_motion(space, KINEMATICS, q, v, floats_at(closure.change, v.shape[0]))
    return correct_velocities(space, v) if status == OK else status


@helper
def close(space, t, q, v):
    """Close the loops at (q, v), at the time t, in place.

    Where several are side by side, those whose loops are closed wait for the others, with the
    factor that their q has.
    """
    closure = closure_of(space)
    model = bodies(space)
    q = as_array(q, model[0].num_positions)
    v = as_array(v, model[0].num_velocities)
    nv = v.shape[0]
    unloaded = floats_at(closure.unloaded, nv)
    change = floats_at(closure.change, nv)
    set_time(space, t)
    status = drive(space, t, q, v)
    if status != OK:
        return status
    finer = grain(closure.length)
    near = NEAR * sqrt(finer)
    rounded = ROUNDED * finer
    left = max(rounded, sqrt(closure.tolerance))
    before = INFINITE
    for _ in range(MOST):
        status = linearise(space, 0, q, v, unloaded, change)
        if status != OK:
            return status
        error = largest_residual(closure, 1) / closure.length
        helps = error < 0.5 * before
        is_closed = (error <= near) | ((error <= rounded) & (error >= 0.5 * before))
        if all_lanes(is_closed):
            # what no motion closes: rows that depend on others but for less than they count by
            if not all_lanes(largest_residual(closure, 0) / closure.length <= left):
                return failure(NOT_CLOSED, 0)
            return finish(space, q, v)
        if not all_lanes(is_closed | helps):
            return failure(NOT_CLOSED, 0)
        status = correct_positions(space, q, is_closed)
        if status != OK:
            return status
        before = select(is_closed, before, error)
    return failure(NOT_CLOSED, 0)


@address_kernel("idpp")
def project(space, t, q, v):
    """The same, by address.

    The rows that counted where the step began, if these were found, come first: loops are open, and
    what these leave of a row cannot be told from what a light body leaves.
    """
    closure = closure_of(space)
    closure.follows = closure.decided
    status = close(space, t, q, v)
    closure.follows = 0
    closure.decided = 0
    return status
