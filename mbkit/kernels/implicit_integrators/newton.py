"""Newton's method for the end of an implicit step.

The matrix is kept from step to step as long as the corrections shrink fast enough.
Source: Hairer and Wanner 1996, section IV.8.

Several samples side by side iterate together, until all are solved: where one is, or cannot be, it
changes no more. The matrix of each follows from where that was made alone, so that samples which
keep theirs have the same one again where others need a new one.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import (
    address_kernel,
    call_address,
    floats_at,
    helper,
    int64,
    records_at,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.constraints.workspace import closure_of
from mbkit.kernels.elementary import all_lanes, any_lane, grain, select
from mbkit.kernels.explicit_integrators.stages import assign_where
from mbkit.kernels.implicit_integrators.constraint_products import add_forces
from mbkit.kernels.implicit_integrators.layout import AGE, MOST_STEPS, NOISE, PATIENCE, STEP, VALID
from mbkit.kernels.implicit_integrators.newton_matrix import remember
from mbkit.kernels.implicit_integrators.residual import evaluate, place
from mbkit.kernels.implicit_integrators.retraction_differential import add_turned
from mbkit.kernels.implicit_integrators.step_memory import (
    fails,
    flags_at,
    largest,
    matrix_at,
    memory_of,
    square,
)
from mbkit.kernels.layout import NUM_POWERS, SPACE
from mbkit.kernels.linear_algebra.lu import solve
from mbkit.kernels.linear_algebra.pivot_orders import own_integers_at
from mbkit.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, failure
from mbkit.kernels.validation import all_finite, is_finite
from mbkit.kernels.workspace import bodies, scratch_of

#: Rates of convergence: above this, corrections stay as they are.
SLOW = 0.5

#: Above these a matrix of an earlier step is made anew: in the first iteration, of which the error
#: may be in other unknowns than in the second, and later.
FIRST = 2.0
LATER = 1.0

#: Iterations that take the time of a new matrix, 6 to 14. Those of a step grow with the age of its
#: matrix, by g a step, so that the time of all is least where sqrt(2 WORTH / g) steps have the same
#: one. That is where (iterations - 2) age exceeds 2 WORTH.
WORTH = 8.0

#: Iterations after which a matrix is made anew in any case: one that was made far from the solution
#: may leave nearly as much as it takes, over and over.
MOST_ITERATIONS = 10

#: Steps that begin with a new matrix after one in which that of the step before was of no use.
FRESH_STEPS = 10.0

#: Most steps for which a matrix is kept: where corrections are rounding, nothing else shows that it
#: leads to a wrong solution.
MOST_AGE = 50.0

#: Rounding of doubles: of positions of the constraints, by the length of the system, and of D, by
#: its largest entry.
ROUNDED = 1e-16
UNIT = 4e-16

#: How much larger corrections may be where they no longer shrink; with a new matrix more, since
#: rows may be nearly dependent.
ROUNDINGS = 1e2
STALLED = 1e5

#: How much larger they may be than what was left where a new matrix made them no smaller: rounding
#: of long chains grows with their number of bodies, and with that of those that hang on each.
NOISES = 4.0

#: What is left of equations that are solved, by their forces, and by the length of the system.
SOLVED = 1e-13

#: What a row that is not solved for may be open, by the length of the system, until it is.
OPEN = 1e-9


@helper
def move_end(space, step, t, h):
    """q_next = retract(q, h D); prescribed joints go where they must."""
    record = memory_of(step)
    q = floats_at(record.q_next, record.nq)
    v = floats_at(record.v_next, record.nv)
    D = floats_at(record.D, record.nv)
    x = floats_at(record.columns, record.nv)
    for j in range(record.nv):
        x[j] = h * D[j]
    status = retract_rows(bodies(space), scratch_of(space), floats_at(record.q, record.nq), x, q)
    return place(space, step, t, q, v) if status == OK else status


@helper
def finish(space, step, t, h):
    """The same with the last D, which has to be one, unless no sample is solved."""
    record = memory_of(step)
    failed = floats_at(record.failed, 1)
    is_failed = failed[0] != 0.0
    status = OK
    if not all_lanes(is_failed | (floats_at(record.waits, 1)[0] != 0.0)):
        status = move_end(space, step, t, h)
        q = floats_at(record.q_next, record.nq)
        v = floats_at(record.v_next, record.nv)
        if status == OK and not (all_finite(q) and all_finite(v)):
            status = failure(NOT_FINITE, 0)
    if status != OK:
        failed[0] = 0.0
        return status
    return failure(NOT_CONVERGED, 0) if any_lane(is_failed) else OK


@helper
def set_target(step, h, change):
    """Write the right side of Newton's equations: the negative residuals, in its scale."""
    record = memory_of(step)
    nv = record.nv
    m = record.m
    scale = floats_at(record.scale, 1)[0]
    left = floats_at(record.left, nv)
    prescribed = flags_at(record.prescribed, nv)
    shown = floats_at(record.residual, nv + m)
    change[:] = 0.0
    for j in range(nv):
        shown[j] = 0.0 if prescribed[j] != 0 else left[j]
        change[j] = -h * shown[j]
    position_of_row = flags_at(record.position_of_row, m)
    kept = own_integers_at(record.kept, m)
    g = floats_at(record.constraint_values, record.mp)
    rate = floats_at(record.rate, m)
    for r in range(m):
        p = position_of_row[r]
        factor = select(kept[r] != 0, -scale, 0.0)
        shown[nv + r] = rate[r] if p < 0 else g[p]
        change[nv + r] = factor * (rate[r] if p < 0 else g[p] / h)
        if record.stabilised != 0 and p >= 0:
            change[nv + m + r] = factor * rate[r]


@helper
def add_change(space, step, running, h, velocity_gain, acceleration_gain):
    """Add the change to D, lambda, eta, and to v and vdot with them; return its largest entry.

    That of h lambda is by the size of M, so that it is a velocity too. It has to be looked at: D
    may not depend on lambda at all. Of samples that are not `running` nothing changes.
    """
    record = memory_of(step)
    nv = record.nv
    m = record.m
    scale = floats_at(record.scale, 1)[0]
    change = floats_at(record.change, record.n)
    v = floats_at(record.v_next, nv)
    D = floats_at(record.D, nv)
    vdot = floats_at(record.vdot, nv)
    multipliers = floats_at(record.multipliers, m)
    shift = floats_at(record.shift, nv)
    prescribed = flags_at(record.prescribed, nv)
    shift[:] = 0.0
    most = 0.0
    for j in range(record.n):
        size = abs(change[j])
        most = select(size <= most, most, size)
        change[j] = select(running, change[j], 0.0)
    for r in range(m):
        multipliers[r] += scale * change[nv + r] / h
    if record.stabilised != 0:
        deta = change[nv + m : nv + 2 * m]
        eta = floats_at(record.eta, m)
        for r in range(m):
            eta[r] += deta[r]
        add_forces(space, step, record.A_start, deta, 1.0, shift)
    for j in range(nv):
        D[j] += change[j]
        shift[j] = 0.0 if prescribed[j] != 0 else shift[j] + change[j]
    if record.gain == 0:
        for j in range(nv):
            v[j] += velocity_gain * shift[j]
            vdot[j] += acceleration_gain / h * shift[j]
    else:
        G = matrix_at(record.gain, nv, MOST_STEPS)
        add_turned(space, G, shift, velocity_gain, v)
        add_turned(space, G, shift, acceleration_gain / h, vdot)
    return most


@helper
def solve_matrix(step, x):
    """x becomes S^-1 x."""
    record = memory_of(step)
    if record.solve != 0:
        call_address(record.solve, (step, x))
    else:
        pivots = own_integers_at(record.pivots, record.n)
        solve(square(record.matrix, record.n), pivots, x)


@helper
def solved(step, length):
    """Whether the residuals of all equations are rounding: D is far from it near change points."""
    record = memory_of(step)
    fits = True
    forces = 0.0
    applied = floats_at(record.applied, record.nv)
    multipliers = floats_at(record.multipliers, record.m)
    for j in range(record.nv):
        forces = max(forces, abs(applied[j]))
    for r in range(record.m):
        forces = max(forces, abs(multipliers[r]))
    shown = floats_at(record.residual, record.nv + record.m)
    for j in range(record.nv):
        fits = fits & (abs(shown[j]) <= SOLVED * grain(shown[j]) * forces)
    g = floats_at(record.constraint_values, record.mp)
    most = 0.0
    for r in range(record.mp):
        most = max(most, abs(g[r]))
    return fits & (most <= SOLVED * grain(length) * length)


class Correction(NamedTuple):
    """A correction of D, and the quantities that its size is compared with."""

    k: int64  # how many there were before
    running: Any  # whether the step was not solved before
    fresh: Any  # whether the matrix was made in this step
    before: Any  # size of the correction before; 0: there is none to compare with
    size: Any
    smallest: Any  # rounding of D
    rounding: Any  # the same, and that of the constraints
    noise: Any  # what may be left where a new matrix made corrections no smaller


@helper
def rate_of(size, before):
    """By how much corrections shrink, 1 where there is none to compare with."""
    return select(before > 0.0, size, 1.0) / select(before > 0.0, before, 1.0)


@helper
def is_solved(step, correction, length):
    """Whether a correction leaves as little as is wanted, or as can be.

    The error that a matrix of an earlier step leaves has one direction in all steps, and adds up in
    v. So it has to be as small as the rounding of D, even where that of constraints hides it.
    """
    record = memory_of(step)
    k, running, fresh, before, size, smallest, rounding, noise = correction
    enough = max(record.tolerance, smallest)
    done = (size <= record.tolerance) | ((k > 0) & (size <= enough))
    rate = rate_of(size, before)
    shrinks = rate <= SLOW
    done = done | (shrinks & (rate * size <= (1.0 - rate) * enough))
    stays = (before != 0.0) & fails(shrinks)
    done = done | (stays & (k > 1) & (size <= max(ROUNDINGS * rounding, noise)))
    stays = stays & fresh
    done = done | (stays & (size <= STALLED * rounding))
    left = running & stays & fails(done)
    if any_lane(left):
        done = done | (left & solved(step, length))
    return running & done


@helper
def forgotten_rows(step, length):
    """Whether a row that is not solved for is open."""
    record = memory_of(step)
    position_of_row = flags_at(record.position_of_row, record.m)
    kept = own_integers_at(record.kept, record.m)
    g = floats_at(record.constraint_values, record.mp)
    most = 0.0
    for r in range(record.m):
        p = position_of_row[r]
        if p >= 0:
            most = max(most, select(kept[r] == 0, abs(g[p]), 0.0))
    return most > OPEN * length


@helper
def note_end(record, made, done, correction):
    """Judge the matrix by the last correction of an iteration; its noise in large systems only."""
    k, _, fresh, before, size, _, rounding, noise = correction
    rate = rate_of(size, before)
    unexpected = (record.solve != 0) & (size > ROUNDINGS * rounding)
    is_noise = fresh & (before > 0.0) & (rate > SLOW) & unexpected
    found = select(is_noise, min(size, STALLED * rounding), 0.5 * made[NOISE])
    made[NOISE] = select(done & fresh, found, made[NOISE])
    # where it is noise, the matrix before was not to blame
    made[PATIENCE] = select(done & is_noise, 0.0, made[PATIENCE])
    tired = (k > 0) & (rate > SLOW) & fails(unexpected & (size <= noise))
    old = (k - 1) * made[AGE] > 2.0 * WORTH
    made[VALID] = select(done & fails(fresh) & (old | tired), 0.0, made[VALID])


@helper
def grow_older(made):
    """A step more for the matrix, which may be too many."""
    is_patient = made[PATIENCE] > 0.0
    made[PATIENCE] = select(is_patient, made[PATIENCE] - 1.0, made[PATIENCE])
    made[AGE] += 1.0
    made[VALID] = select(is_patient | (made[AGE] > MOST_AGE), 0.0, made[VALID])


@helper
def keep_powers(space, record, running):
    """Keep the powers that forces dissipate and supply, for samples that are not solved yet."""
    equations = records_at(space, 1, SPACE)[0]
    if equations.num_forces > 0:
        kept = floats_at(record.powers_kept, NUM_POWERS)
        assign_where(running, kept, floats_at(equations.powers, NUM_POWERS))


@helper
def roundings(record, size, length, h):
    """Size of a correction by rounding: of D alone, and of D and the constraints."""
    smallest = UNIT * grain(size) * largest(floats_at(record.D, record.nv))
    if record.m == 0:
        return smallest, smallest
    return smallest, max(smallest, ROUNDED * grain(size) * length / h)


@address_kernel("iidddd")
def solve_step(space, step, t, h, velocity_gain, acceleration_gain):
    """Find D, multipliers and eta such that the step ends on the equations.

    Reads   q, D, vdot, multipliers, eta as they are predicted, v_next that goes with them, A_start;
            which samples wait.
    Writes  the same, and q_next, as they are; the record of the iteration; which samples it failed
            for. It is NOT_CONVERGED if there are any; of another failure nobody knows whose it is.
    """
    record = memory_of(step)
    q = floats_at(record.q_next, record.nq)
    v = floats_at(record.v_next, record.nv)
    made = floats_at(record.made_at, record.num_made)
    history = matrix_at(record.history, record.most, 2)
    change = floats_at(record.change, record.n)
    count = flags_at(record.count, 1)
    total = own_integers_at(record.total, 2)
    length = closure_of(space).length if record.m > 0 else 1.0
    failed = floats_at(record.failed, 1)
    running = floats_at(record.waits, 1)[0] == 0.0
    fresh = running & fails(running)
    rows_at_end = before = failed[0] = select(running, 0.0, 0.0)
    grow_older(made)
    for k in range(record.most):
        count[0] = k + 1
        total[0] += select(running, 1, 0)
        status = move_end(space, step, t, h)
        stale = running & (made[VALID] == 0.0)
        if status == OK and any_lane(stale):
            is_made = stale | (made[STEP] == 0.0)  # whoever waits has one, too
            remember(step, is_made, (t, h), (velocity_gain, acceleration_gain), rows_at_end)
            status = call_address(record.make, (space, step))
            total[1] += select(stale, 1, 0)
            fresh = fresh | stale
        if status == OK:
            status = evaluate(space, step, t, q, v)
        if status != OK:
            failed[0] = 0.0
            return status
        keep_powers(space, record, running)
        set_target(step, h, change)
        history[k, 1] = largest(floats_at(record.residual, record.nv + record.m))
        solve_matrix(step, change)
        failed[0] = select(running & fails(is_finite(change)), 1.0, failed[0])
        running = running & (failed[0] == 0.0)
        size = add_change(space, step, running, h, velocity_gain, acceleration_gain)
        smallest, rounding = roundings(record, size, length, h)
        history[k, 0] = size / max(record.tolerance, rounding)
        noise = NOISES * made[NOISE]
        correction = Correction(k, running, fresh, before, size, smallest, rounding, noise)
        done = is_solved(step, correction, length)
        known = fresh & (rows_at_end != 0.0)
        again = done & fails(known) & forgotten_rows(step, length)
        done = done & fails(again)
        note_end(record, made, done, correction)
        running = running & fails(done)
        if not any_lane(running):
            return finish(space, step, t, h)
        limit = select(fresh, SLOW, LATER if k > 1 else FIRST)
        slow = (rate_of(size, before) > limit) | (k % MOST_ITERATIONS == MOST_ITERATIONS - 1)
        useless = (before > 0.0) & slow & (size > max(ROUNDINGS * rounding, noise))
        useless = running & fails(again) & useless
        at_once = useless & fails(fresh) & (made[AGE] <= 1.0)
        made[PATIENCE] = select(at_once, FRESH_STEPS, made[PATIENCE])
        made[VALID] = select(useless | again, 0.0, made[VALID])
        rows_at_end = select(again, select(fresh, 1.0, 0.0), rows_at_end)
        before = select(useless | again, 0.0, size)
    failed[0] = select(running, 1.0, failed[0])
    return finish(space, step, t, h)
