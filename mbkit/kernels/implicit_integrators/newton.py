"""Newton's method for the end of an implicit step.

The matrix is kept from step to step while it does its work; what tells is how fast the corrections
shrink. Source: Hairer and Wanner 1996, section IV.8.
"""

from typing import NamedTuple

from mbkit.kernels.compile import (
    address_kernel,
    boolean,
    call_address,
    float64,
    floats_at,
    helper,
    int64,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.constraints.workspace import closure_of
from mbkit.kernels.elementary import grain
from mbkit.kernels.implicit_integrators.constraint_products import add_forces
from mbkit.kernels.implicit_integrators.layout import AGE, MOST_STEPS, NOISE, PATIENCE, VALID
from mbkit.kernels.implicit_integrators.lu import solve
from mbkit.kernels.implicit_integrators.newton_matrix import remember
from mbkit.kernels.implicit_integrators.residual import evaluate, place
from mbkit.kernels.implicit_integrators.retraction_differential import add_turned
from mbkit.kernels.implicit_integrators.step_memory import (
    flags_at,
    largest,
    matrix_at,
    memory_of,
    square,
)
from mbkit.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, failure
from mbkit.kernels.validation import all_finite
from mbkit.kernels.workspace import bodies, scratch_of

#: Rates of convergence: from where on a matrix is made anew for the next step, and within a step.
TIRED = 0.1
SLOW = 0.5

#: Iterations after which a matrix is made anew in any case: one that was made far from the solution
#: may leave nearly as much as it takes, over and over.
MOST_ITERATIONS = 10

#: Steps that begin with a new matrix after one in which an old one was of no use.
FRESH_STEPS = 10.0

#: Steps for which a matrix is kept at most: where corrections are rounding nothing else tells that
#: it leads elsewhere.
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
    code = retract_rows(bodies(space), scratch_of(space), floats_at(record.q, record.nq), x, q)
    return place(space, step, t, q, v) if code == OK else code


@helper
def finish(space, step, t, h):
    """The same with the last D, which has to be one."""
    record = memory_of(step)
    code = move_end(space, step, t, h)
    q = floats_at(record.q_next, record.nq)
    v = floats_at(record.v_next, record.nv)
    if code == OK and not (all_finite(q) and all_finite(v)):
        return failure(NOT_FINITE, 0)
    return code


@helper
def set_target(step, h, change):
    """What Newton's method solves for: the residuals, negative, in its scale."""
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
    kept = flags_at(record.kept, m)
    g = floats_at(record.constraint_values, record.mp)
    rate = floats_at(record.rate, m)
    for r in range(m):
        p = position_of_row[r]
        shown[nv + r] = rate[r] if p < 0 else g[p]
        if kept[r] != 0:
            change[nv + r] = -scale * (rate[r] if p < 0 else g[p] / h)
            if record.stabilised != 0 and p >= 0:
                change[nv + m + r] = -scale * rate[r]


@helper
def add_change(space, step, h, velocity_gain, acceleration_gain):
    """Add the change to D, lambda, eta, and to v and vdot with them; return its largest entry.

    That of h lambda is by the size of M, so that it is a velocity too. It has to be looked at: D
    may not depend on lambda at all.
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
    for r in range(m):
        multipliers[r] += scale * change[nv + r] / h
    if record.stabilised != 0:
        deta = change[nv + m : nv + 2 * m]
        eta = floats_at(record.eta, m)
        for r in range(m):
            eta[r] += deta[r]
        add_forces(space, step, record.A_start, deta, 1.0, shift)
    most = 0.0
    for j in range(record.n):
        size = abs(change[j])
        if not size <= most:
            most = size
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
        solve(square(record.matrix, record.n), flags_at(record.pivots, record.n), x)


@helper
def solved(step, length):
    """Whether what is left of all equations is rounding: near change points D is not, by far."""
    record = memory_of(step)
    forces = 0.0
    applied = floats_at(record.applied, record.nv)
    multipliers = floats_at(record.multipliers, record.m)
    for j in range(record.nv):
        forces = max(forces, abs(applied[j]))
    for r in range(record.m):
        forces = max(forces, abs(multipliers[r]))
    shown = floats_at(record.residual, record.nv + record.m)
    for j in range(record.nv):
        if abs(shown[j]) > SOLVED * grain(shown[j]) * forces:
            return False
    g = floats_at(record.constraint_values, record.mp)
    most = 0.0
    for r in range(record.mp):
        most = max(most, abs(g[r]))
    return most <= SOLVED * grain(length) * length


class Correction(NamedTuple):
    """A correction of D, and what its size is held against."""

    k: int64  # how many there were before
    fresh: boolean  # whether the matrix was made in this step
    before: float64  # size of the correction before; 0: there is none to compare with
    size: float64
    smallest: float64  # rounding of D
    rounding: float64  # the same, and that of the constraints
    noise: float64  # what may be left where a new matrix made corrections no smaller


@helper
def is_solved(step, correction, length):
    """Whether a correction leaves as little as is wanted, or as can be.

    What a matrix of an earlier step leaves has one direction, step after step, and adds up in v. So
    it has to be as small as D can be told, even where the constraints' rounding hides it.
    """
    record = memory_of(step)
    k, fresh, before, size, smallest, rounding, noise = correction
    enough = max(record.tolerance, smallest)
    if size <= record.tolerance or (k > 0 and size <= enough):
        return True
    if before == 0.0:
        return False
    rate = size / before
    if rate <= SLOW:
        return rate / (1.0 - rate) * size <= enough
    if k > 1 and size <= max(ROUNDINGS * rounding, noise):
        return True
    return fresh and (size <= STALLED * rounding or solved(step, length))


@helper
def forgotten_rows(step, length):
    """Whether a row that is not solved for is open."""
    record = memory_of(step)
    position_of_row = flags_at(record.position_of_row, record.m)
    kept = flags_at(record.kept, record.m)
    g = floats_at(record.constraint_values, record.mp)
    for r in range(record.m):
        p = position_of_row[r]
        if kept[r] == 0 and p >= 0 and abs(g[p]) > OPEN * length:
            return True
    return False


@helper
def note_end(record, made, correction):
    """What the end of an iteration says of its matrix; of noise only in large systems."""
    k, fresh, before, size, _, rounding, noise = correction
    rate = size / before if before > 0.0 else 1.0
    unexpected = record.solve != 0 and size > ROUNDINGS * rounding
    if fresh and before > 0.0 and rate > SLOW and unexpected:
        made[NOISE] = min(size, STALLED * rounding)
        made[PATIENCE] = 0.0  # the matrix before was not to blame
    elif fresh:
        made[NOISE] *= 0.5
    elif k > 4 or (k > 0 and rate > TIRED and not (unexpected and size <= noise)):
        made[VALID] = 0.0


@helper
def grow_older(made):
    """A step more for the matrix, which may be too many."""
    if made[PATIENCE] > 0.0:
        made[PATIENCE] -= 1.0
        made[VALID] = 0.0
    made[AGE] += 1.0
    if made[AGE] > MOST_AGE:
        made[VALID] = 0.0


@helper
def roundings(record, size, length, h):
    """What is left of a correction by rounding: of D alone, and of constraints as well."""
    smallest = UNIT * grain(size) * largest(floats_at(record.D, record.nv))
    if record.m == 0:
        return smallest, smallest
    return smallest, max(smallest, ROUNDED * grain(size) * length / h)


@address_kernel("iidddd")
def solve_step(space, step, t, h, velocity_gain, acceleration_gain):
    """Find D, multipliers and eta such that the step ends on the equations.

    Reads   q, D, vdot, multipliers, eta as they are predicted, v_next that goes with them, A_start.
    Writes  the same, and q_next, as they are; the record of the iteration.
    """
    record = memory_of(step)
    q = floats_at(record.q_next, record.nq)
    v = floats_at(record.v_next, record.nv)
    made = floats_at(record.made_at, record.num_made)
    history = matrix_at(record.history, record.most, 2)
    change = floats_at(record.change, record.n)
    count = flags_at(record.count, 1)
    total = flags_at(record.total, 2)
    length = closure_of(space).length if record.m > 0 else 1.0
    fresh = False
    rows_at_end = 0.0
    before = 0.0
    grow_older(made)
    for k in range(record.most):
        count[0] = k + 1
        total[0] += 1
        code = move_end(space, step, t, h)
        if code == OK and made[VALID] == 0.0:
            remember(step, t, h, velocity_gain, acceleration_gain, rows_at_end)
            code = call_address(record.make, (space, step))
            fresh = True
        if code == OK:
            code = evaluate(space, step, t, q, v)
        if code != OK:
            return code
        set_target(step, h, change)
        residual = floats_at(record.residual, record.nv + record.m)
        history[k, 1] = largest(residual)
        solve_matrix(step, change)
        size = add_change(space, step, h, velocity_gain, acceleration_gain)
        smallest, rounding = roundings(record, size, length, h)
        history[k, 0] = size / max(record.tolerance, rounding)
        if not all_finite(change):
            return failure(NOT_CONVERGED, 0)
        rate = size / before if before > 0.0 else 1.0
        noise = NOISES * made[NOISE]
        correction = Correction(k, fresh, before, size, smallest, rounding, noise)
        done = is_solved(step, correction, length)
        known = fresh and rows_at_end != 0.0
        if done and not known and record.m > 0 and forgotten_rows(step, length):
            rows_at_end = 1.0 if fresh else 0.0
            made[VALID] = 0.0
            before = 0.0
            continue
        if done:
            note_end(record, made, correction)
            return finish(space, step, t, h)
        slow = rate > SLOW or k % MOST_ITERATIONS == MOST_ITERATIONS - 1
        if before > 0.0 and slow and size > max(ROUNDINGS * rounding, noise):
            if not fresh:
                made[PATIENCE] = FRESH_STEPS
            made[VALID] = 0.0
            before = 0.0
        else:
            before = size
    return failure(NOT_CONVERGED, 0)
