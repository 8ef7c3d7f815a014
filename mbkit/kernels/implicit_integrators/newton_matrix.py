"""Newton's matrix of an implicit step, by increments of D, h lambda and eta.

With  v = v_0 + a w,  vdot = a_0 + (b/h) w,  w = D + A_n^T eta,  q = retract(q_n, h D),

    S = [ P + h^2 K T    -A^T    P A_n^T   ]    P = b M + h a C, or times T where velocities do,
        [ A T             0      0         ]    K = D_q(M vdot + b - f - A^T lambda),
        [ a A + h Z T     0      a A A_n^T ]    C = D_v(b - f),   Z = D_q(A v),

and T the differential of the retraction at h D: the residuals are h (M vdot + ...), g/h and
A v + g_t. So scaled no entry grows or falls with h. Multipliers and rows of constraints are
multiplied by the size of M besides, so that units do not matter either. Source: Arnold, Bruels and
Cardona 2015, section 4; Bottasso, Bauchau and Cardona 2007 on scaling.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    at,
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.constraints.evaluate import set_time
from mbkit.kernels.constraints.solve.dynamics import linearise
from mbkit.kernels.constraints.workspace import closure_of, kept_rows
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.explicit_integrators.stages import assign_where
from mbkit.kernels.implicit_integrators.constraint_products import (
    add_force_change,
    clear_columns,
    take_places,
)
from mbkit.kernels.implicit_integrators.independent_rows import are_clearly_independent
from mbkit.kernels.implicit_integrators.layout import (
    ACCELERATION_GAIN,
    AGE,
    MADE_HEAD,
    MOST_STEPS,
    NOISE,
    PATIENCE,
    ROWS_AT_END,
    STEP,
    TIME,
    VALID,
    VELOCITY_GAIN,
)
from mbkit.kernels.implicit_integrators.residual import jacobian_at, place
from mbkit.kernels.implicit_integrators.retraction_differential import (
    multiply_blocks,
    set_differential,
)
from mbkit.kernels.implicit_integrators.step_memory import flags_at, matrix_at, memory_of, square
from mbkit.kernels.layout import SPACE
from mbkit.kernels.linear_algebra.lu import factorise
from mbkit.kernels.linear_algebra.pivot_orders import own_integers_at
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies, columns_of, scratch_of, trials

#: Steps of central differences, for constraints whose derivatives are not there in closed form: an
#: error of 1e-8 of the matrix slows Newton's method down by nothing.
DIFFERENCE = 1e-5


@helper
def made_vectors(step):
    """Where a matrix was made: q_n, q, v, vdot, D, multipliers."""
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    a = MADE_HEAD
    b = a + record.nq
    c = b + record.nq
    d = c + record.nv
    e = d + record.nv
    f = e + record.nv
    return made[a:b], made[b:c], made[c:d], made[d:e], made[e:f], made[f : f + record.m]


@helper
def remember(step, stale, where, gains, rows_at_end):
    """Let the matrix be made where the step is now, if it is stale.

    where: (t, h); gains: of velocity and of acceleration; rows_at_end: see `set_kept`.
    """
    t, h = where
    velocity_gain, acceleration_gain = gains
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    made[VALID] = select(stale, 1.0, made[VALID])
    made[AGE] = select(stale, 0.0, made[AGE])
    made[TIME] = select(stale, t, made[TIME])
    made[STEP] = select(stale, h, made[STEP])
    made[VELOCITY_GAIN] = select(stale, velocity_gain, made[VELOCITY_GAIN])
    made[ACCELERATION_GAIN] = select(stale, acceleration_gain, made[ACCELERATION_GAIN])
    made[ROWS_AT_END] = select(stale, rows_at_end, made[ROWS_AT_END])
    start, end, velocity, acceleration, increment, multipliers = made_vectors(step)
    assign_where(stale, start, floats_at(record.q, record.nq))
    assign_where(stale, end, floats_at(record.q_next, record.nq))
    assign_where(stale, velocity, floats_at(record.v_next, record.nv))
    assign_where(stale, acceleration, floats_at(record.vdot, record.nv))
    assign_where(stale, increment, floats_at(record.D, record.nv))
    assign_where(stale, multipliers, floats_at(record.multipliers, record.m))


@helper
def set_derivatives(space, step, q, v, vdot, multipliers):
    """K and C into `derivatives`, Z."""
    record = memory_of(step)
    equations = records_at(space, 1, SPACE)[0]
    size = record.nv * record.width
    time = floats_at(equations.time, 1)
    both = floats_at(record.derivatives, 3 * size)
    status = call_address(record.dynamics_derivatives, (space, 0, q, v, vdot, both))
    if status == OK and equations.num_forces > 0:
        more = floats_at(record.more, 2 * size)
        status = call_address(record.force_derivatives, (space, 0, q, v, time, more))
        for j in range(2 * size):
            both[j] -= more[j]
    if status != OK or record.m == 0:
        return status
    if record.velocity_derivative == 0:
        return constraint_differences(space, step, q, v, time[0], multipliers)
    Z = matrix_at(record.Z, record.m, record.width)
    more = floats_at(record.more, size)
    status = call_address(record.force_derivative, (space, 0, q, multipliers, time, more))
    if status == OK:
        status = call_address(record.velocity_derivative, (space, 0, q, v, time, at(Z, 0)))
    for j in range(size):
        both[j] -= more[j]
    return status


@helper
def constraint_differences(space, step, q, v, t, multipliers):
    """K -= D_q(A^T lambda), Z = D_q(A v), by central differences of A.

    All that share a column are moved at once: no constraint moves two of them.
    """
    record = memory_of(step)
    Z = matrix_at(record.Z, record.m, record.width)
    trial, _, dx = trials(space)
    column_of = columns_of(space)
    dx[:] = 0.0
    Z[:, :] = 0.0
    for k in range(record.width):
        for sign in range(-1, 2, 2):
            for j in range(record.nv):
                if column_of[j] == k:
                    dx[j] = sign * DIFFERENCE
            status = retract_rows(bodies(space), scratch_of(space), q, dx, trial)
            if status == OK:
                A = floats_at(record.more, record.m * record.width)
                status = jacobian_at(space, record, t, trial, A)
            if status != OK:
                return status
            factor = sign / (2.0 * DIFFERENCE)
            add_force_change(space, step, k, factor, v, multipliers)
        for j in range(record.nv):
            if column_of[j] == k:
                dx[j] = 0.0
    return OK


@helper
def set_kept(space, step):
    """Which rows are independent, as the forward dynamics sees it where the step begins.

    There loops are closed. Where they are open, as at the predicted end, rows that depend on others
    by design are independent by as much as that, and the block of eta, a A A_n^T, is singular. A
    step that begins at a singular posture needs rows that count at its end alone.
    """
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    start, end, v, _, _, _ = made_vectors(step)
    late = made[ROWS_AT_END] != 0.0
    if not any_lane(late) and are_clearly_independent(space, step):
        independent = own_integers_at(record.kept, record.m)
        for r in range(record.m):
            independent[r] = 1
        return OK
    q, _, _ = trials(space)
    assign(q, start)
    assign_where(late, q, end)
    set_time(space, select(late, made[TIME], made[TIME] - made[STEP]))
    memory = floats_at(record.columns, 3 * record.nv)
    memory[:] = 0.0
    status = linearise(space, 0, at(q, 0), at(v, 0), at(memory, 0), at(memory, record.nv))
    if status == OK:
        kept = own_integers_at(record.kept, record.m)
        own = kept_rows(closure_of(space))
        for r in range(record.m):
            kept[r] = own[r]
    return status


@helper
def set_dynamics_rows(space, step, S, h, a, b):
    """P + h^2 K T; P stays in `mass`, times T where velocities follow in another gain than one."""
    record = memory_of(step)
    nv = record.nv
    M = square(record.mass, nv)
    both = matrix_at(record.derivatives, 2 * nv, nv)
    T = matrix_at(record.differential, nv, MOST_STEPS)
    top = 0.0
    for i in range(nv):
        for j in range(nv):
            M[i, j] = b * M[i, j] + h * a * both[nv + i, j]
        top = max(top, abs(M[i, i]))
    floats_at(record.scale, 1)[0] = top
    if record.gain != 0:
        multiply_blocks(space, M, T, 1.0, S[:nv])
        for i in range(nv):
            for j in range(nv):
                M[i, j] = S[i, j]
    for i in range(nv):
        for j in range(nv):
            S[i, j] = M[i, j]
    multiply_blocks(space, both[:nv], T, h * h, S[:nv])


@helper
def set_velocity_row(space, step, S, i, r, weights):
    """Row i: a A + h Z T by D, and a A A_n^T by eta, of row r; A times T with a gain.

    The weights are a and h.
    """
    a, h = weights
    record = memory_of(step)
    nv = record.nv
    m = record.m
    A = matrix_at(record.A, m, nv)
    A_n = matrix_at(record.A_made, m, nv)
    T = matrix_at(record.differential, nv, MOST_STEPS)
    Z = matrix_at(record.Z, m, nv)
    row = S[i]
    if record.gain != 0:
        multiply_blocks(space, A[r : r + 1], T, a, S[i : i + 1, :nv])
    else:
        for j in range(nv):
            row[j] = a * A[r, j]
    if record.stabilised != 0:
        for k in range(m):
            total = 0.0
            for j in range(nv):
                total += row[j] * A_n[k, j]
            row[nv + m + k] = total
    multiply_blocks(space, Z[r : r + 1], T, h, S[i : i + 1, :nv])


@helper
def leave_out(S, i, condition, scale):
    """Unknown i is not solved for where the condition holds."""
    if any_lane(condition):
        for j in range(S.shape[0]):
            S[i, j] = select(condition, 0.0, S[i, j])
            S[j, i] = select(condition, 0.0, S[j, i])
        S[i, i] = select(condition, scale, S[i, i])


@helper
def set_constraint_rows(space, step, S, h, a):
    """All that belongs to multipliers and eta."""
    record = memory_of(step)
    nv = record.nv
    m = record.m
    scale = floats_at(record.scale, 1)[0]
    A = matrix_at(record.A, m, nv)
    A_n = matrix_at(record.A_made, m, nv)
    T = matrix_at(record.differential, nv, MOST_STEPS)
    P = square(record.mass, nv)
    kept = own_integers_at(record.kept, m)
    position_of_row = flags_at(record.position_of_row, m)
    weights = (scale * a, scale * h)
    for r in range(m):
        i = nv + r
        for j in range(nv):
            S[j, i] = -scale * A[r, j]
        if position_of_row[r] >= 0:
            multiply_blocks(space, A[r : r + 1], T, scale, S[i : i + 1, :nv])
        else:
            set_velocity_row(space, step, S, i, r, weights)
        leave_out(S, i, kept[r] == 0, scale)
    if record.stabilised == 0:
        return
    for r in range(m):
        i = nv + m + r
        if position_of_row[r] < 0:
            continue
        for j in range(nv):
            total = 0.0
            for k in range(nv):
                total += P[j, k] * A_n[r, k]
            S[j, i] = total
        set_velocity_row(space, step, S, i, r, weights)
    for r in range(m):  # after all rows, which write into the columns of eta
        leave_out(S, nv + m + r, (kept[r] == 0) | (position_of_row[r] < 0), scale)


@helper
def clear_prescribed_rows(step, S):
    """D of prescribed joints is not solved for."""
    record = memory_of(step)
    prescribed = flags_at(record.prescribed, record.nv)
    for k in range(record.nv):
        if prescribed[k] != 0:
            S[k, :] = 0.0
            S[:, k] = 0.0
            S[k, k] = floats_at(record.scale, 1)[0]


@helper
def linearise_equations(space, step):
    """Find which rows count, A_n, A, K, C, Z and T at the state `made_at`; mark it as made."""
    record = memory_of(step)
    size = record.m * record.width
    made = floats_at(record.made_at, record.num_made)
    q_n, q, v, vdot, D, multipliers = made_vectors(step)
    h = made[STEP]
    t = made[TIME]
    status = place(space, step, t, q, v)
    if status == OK:
        status = jacobian_at(space, record, t - h, q_n, floats_at(record.A_made, size))
    if status == OK and record.m > 0:
        status = set_kept(space, step)
    if status == OK:
        status = jacobian_at(space, record, t, q, floats_at(record.A, size))
    if status == OK:
        set_time(space, t)
        status = set_derivatives(space, step, q, v, vdot, multipliers)
    if status == OK:
        status = set_differential(space, step, h, D)
    if status != OK:
        return status
    clear_columns(space, step, matrix_at(record.A, record.m, record.width))
    clear_columns(space, step, matrix_at(record.A_made, record.m, record.width))
    assign(floats_at(record.made, record.num_made), made)
    return OK


@address_kernel("ii")
def make(space, step):
    """Make the matrix at the state `made_at`, and factorise it."""
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    h = made[STEP]
    a = made[VELOCITY_GAIN]
    status = linearise_equations(space, step)
    if status != OK:
        return status
    S = square(record.matrix, record.n)
    S[:, :] = 0.0
    set_dynamics_rows(space, step, S, h, a, made[ACCELERATION_GAIN])
    set_constraint_rows(space, step, S, h, a)
    clear_prescribed_rows(step, S)
    pivots = own_integers_at(record.pivots, record.n)
    return factorise(S, pivots, floats_at(record.change, record.n))


@helper
def have_matrix(space, step):
    """The matrix that the memory of the run speaks of, if this one is of elsewhere."""
    take_places(space, step)
    record = memory_of(step)
    made_at = floats_at(record.made_at, record.num_made)
    made = floats_at(record.made, record.num_made)
    if made_at[VALID] == 0.0:
        return OK
    for j in range(record.num_made):
        if made_at[j] != made[j] and j not in (AGE, PATIENCE, NOISE):
            return call_address(record.make, (space, step))
    return OK


@helper
def note_made(step):
    """Where the matrix was made when the step began."""
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    assign(floats_at(record.restore, record.num_made), made)


@helper
def restore_made(step):
    """The memory of the run speaks of that one again: of a step that failed nothing stays."""
    record = memory_of(step)
    made = floats_at(record.made_at, record.num_made)
    assign(made, floats_at(record.restore, record.num_made))
