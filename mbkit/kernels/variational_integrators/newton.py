"""Newton's method for a variational step; `mbkit.kernels.time_loops.rattlie` has the equations."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    call_address,
    floats_at,
    helper,
    integers_at,
)
from mbkit.kernels.configuration import retract_rows
from mbkit.kernels.constraints.solve.saddle import Saddle, factorise, reduce, solve_saddle
from mbkit.kernels.elementary import grain
from mbkit.kernels.implicit_integrators.residual import jacobian_at
from mbkit.kernels.implicit_integrators.step_memory import matrix_at
from mbkit.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR_STEP, failure
from mbkit.kernels.validation import all_finite
from mbkit.kernels.variational_integrators.layout import (
    END,
    MOST,
    START,
    forces,
    jacobians,
    masses,
    memory_of,
    weights,
)
from mbkit.kernels.variational_integrators.terms import (
    add_turning,
    gap_at,
    gradient_at,
    mass_and_weight_at,
    mean_momentum,
    pull_back,
    set_pull_back,
    slopes_at,
    times_blocks,
)
from mbkit.kernels.workspace import bodies, scratch_of

#: Corrections that become no smaller are rounding below this part of the velocity, or that of
#: positions [rad, m], and of 1, by h; a velocity [rad/s, m/s] that is slow.
ROUNDED = 1e-10
PLACE_ROUNDED = 1e-14
SLOW = 1e-3

#: Corrections below this part of rounding change nothing, shrink as they may: where a force
#: balances they do so down to the smallest numbers that there are.
NOTHING = 1e-6

#: After a correction that is more than this part of the one before, a new matrix is made.
SLUGGISH = 0.1


@helper
def predict(space, step):
    """D = v, no impulse; p = M v."""
    record = memory_of(step)
    n = record.n
    v = floats_at(record.v, n)
    assign(floats_at(record.D, n), v)
    floats_at(record.impulse, record.m)[:] = 0.0
    momentum = floats_at(record.momentum, n)
    mass = masses(record, START)
    for i in range(n):
        total = 0.0
        for k in range(n):
            total += mass[i, k] * v[k]
        momentum[i] = total


@address_kernel("iidd")
def residual(space, step, end, h):
    """Residual of the equations for D and the impulse: into `left`, and g into `gap`."""
    record = memory_of(step)
    q = floats_at(record.q, record.nq)
    n = record.n
    D = floats_at(record.D, n)
    x = floats_at(record.x, n)
    q_end = floats_at(record.q_end, record.nq)
    left = floats_at(record.left, n)
    for k in range(n):
        x[k] = h * D[k]
    status = retract_rows(bodies(space), scratch_of(space), q, x, q_end)
    if status == OK and not (all_finite(q_end) and all_finite(D)):
        status = failure(NOT_FINITE, 0)
    if status == OK:
        status = mean_momentum(space, step, q_end, D)
    if status == OK:
        status = gap_at(space, step, END, end, q_end)
    if status == OK:
        status = gradient_at(space, step, START, q, D)
    if status == OK:
        status = set_pull_back(space, step, -h, D)
    pull_back(space, matrix_at(record.L, n, n), floats_at(record.mean_momentum, n), left)
    force = forces(record, START)
    gradient = floats_at(record.gradient, n)
    momentum = floats_at(record.momentum, n)
    A = jacobians(record, START)
    impulse = floats_at(record.impulse, record.m)
    for k in range(n):
        left[k] -= 0.5 * h * (gradient[k] + force[k]) + momentum[k]
        for r in range(record.m):
            left[k] -= A[r, k] * impulse[r]
    return status


@address_kernel("iidd")
def newton_matrix(space, step, end, h):
    """The matrix at the last residual, by its factors.

        J = L^T (mean M + h/2 P_{n+1} L) - h/2 (d ad_D^T mu / dD + P_n^T),  and A_{n+1} L,

    with L = dexp_inv(-hD), which is dexp(hD) to second order.
    """
    record = memory_of(step)
    n = record.n
    J = matrix_at(record.J, n, n)
    L = matrix_at(record.L, n, n)
    product = matrix_at(record.product, n, n)
    P = matrix_at(record.slopes, n, n)
    q_end = floats_at(record.q_end, record.nq)
    D = floats_at(record.D, n)
    for i in range(n):
        for k in range(n):
            J[i, k] = P[k, i]  # of the start
    status = mass_and_weight_at(space, step, END, q_end)
    if status == OK:
        status = slopes_at(space, step, q_end, D, P)
    if status == OK:
        status = jacobian_at(space, record, end, q_end, jacobians(record, END))
    if status != OK:
        return status
    weight = weights(record, END)
    for i in range(n):
        for k in range(n):
            P[i, k] -= weight[i, k]
    times_blocks(space, P, L, product)
    before = masses(record, START)
    after = masses(record, END)
    for i in range(n):
        for k in range(n):  # transposed, so that a row is a column of what L^T multiplies
            P[k, i] = 0.5 * (before[i, k] + after[i, k] + h * product[i, k])
    times_blocks(space, P, L, product)
    for i in range(n):
        for k in range(n):
            J[i, k] = product[k, i] - 0.5 * h * J[i, k]
    status = add_turning(space, step, -0.5 * h, floats_at(record.mean_momentum, n), J)
    if status != OK:
        return status
    A_end = matrix_at(record.A_end, record.m, n)
    times_blocks(space, jacobians(record, END), L, A_end)
    total = integers_at(record.total, 2)
    total[1] += 1
    return call_address(record.factorised, (step, jacobians(record, START), A_end))


@helper
def saddle_of(record, A_end):
    """The matrix with that Jacobian of the constraints, as `factorised` leaves it."""
    n = record.n
    m = record.m
    return Saddle(
        J=matrix_at(record.J, n, n),
        order=integers_at(record.order, n + 1),
        A1=A_end,
        X=matrix_at(record.X, m, n),
        G=matrix_at(record.G, m, m),
        scale=floats_at(record.scale, m),
        row_order=integers_at(record.row_order, m),
        column_order=integers_at(record.column_order, m),
        room=floats_at(record.room, m),
    )


@address_kernel("ipp")
def factorised(step, A_start, A_end):
    """J, and the constraints' part, by factors; the rank is left in `order`'s last place."""
    record = memory_of(step)
    n = record.n
    m = record.m
    A_start = as_array(A_start, m * n).reshape((m, n))
    A_end = as_array(A_end, m * n).reshape((m, n))
    J = matrix_at(record.J, n, n)
    order = integers_at(record.order, n + 1)
    column = factorise(J, order)
    if column >= 0:
        return failure(SINGULAR_STEP, column)
    order[n] = reduce(saddle_of(record, A_end), A_start)
    return OK


@address_kernel("ippppp")
def solve_for(step, A_end, right, gap, x, y):
    """x and y by the factors; `gap` is overwritten."""
    record = memory_of(step)
    n = record.n
    m = record.m
    A_end = as_array(A_end, m * n).reshape((m, n))
    saddle = saddle_of(record, A_end)
    solve_saddle(
        saddle, saddle.order[n], as_array(right, n), as_array(gap, m), as_array(x, n),
        as_array(y, m),
    )  # fmt: skip
    return OK


@helper
def correct(step, h):
    """One correction of D and the impulse; return its size, and leave the residual for messages."""
    record = memory_of(step)
    n = record.n
    m = record.m
    left = floats_at(record.left, n)
    gap = floats_at(record.gap, m)
    kept = floats_at(record.residual, n + m)
    for k in range(n):
        kept[k] = left[k]
        left[k] = -left[k]
    for r in range(m):
        gap[r] /= h
        kept[n + r] = gap[r]
        gap[r] = -gap[r]
    change = floats_at(record.change, n)
    more = floats_at(record.change_impulse, m)
    A_end = floats_at(record.A_end, m * n)
    call_address(record.solve_for, (step, A_end, left, gap, change, more))
    D = floats_at(record.D, n)
    impulse = floats_at(record.impulse, m)
    size = 0.0
    for k in range(n):
        D[k] += change[k]
        if not abs(change[k]) <= size:
            size = abs(change[k])
    for r in range(m):
        impulse[r] += more[r]
    return size


@helper
def note(step, iteration, size):
    """Write down how Newton's iteration goes."""
    record = memory_of(step)
    history = matrix_at(record.history, MOST, 2)
    kept = floats_at(record.residual, record.n + record.m)
    largest = 0.0
    for k in range(kept.shape[0]):
        largest = max(largest, abs(kept[k]))
    history[iteration, 0] = size
    history[iteration, 1] = largest
    integers_at(record.count, 1)[0] = iteration + 1
    integers_at(record.total, 2)[0] += 1


@helper
def rounding_of_positions(record):
    """Largest rounding error of positions: of those in q, and of those of frames."""
    q = floats_at(record.q, record.nq)
    largest = 0.0
    for k in range(record.nq):
        largest = max(largest, abs(q[k]))
    return PLACE_ROUNDED * (1.0 + floats_at(record.reach, 1)[0] + largest)


@helper
def is_rounding(size, before, rounding):
    """Whether a correction is rounding, and another one is no smaller, or changes nothing."""
    helps = size < 0.5 * before and size > NOTHING * grain(size) * rounding
    return size <= rounding and not helps


@address_kernel("iidd")
def newton(space, step, end, h):
    """D and the impulse, by corrections until they help no more."""
    record = memory_of(step)
    D = floats_at(record.D, record.n)
    of_positions = rounding_of_positions(record) / h
    integers_at(record.count, 1)[0] = 0
    before = float("inf")
    fresh = False
    for iteration in range(MOST):
        status = call_address(record.equations, (space, step, end, h))
        if status == OK and not fresh:
            status = call_address(record.newton_matrix, (space, step, end, h))
            fresh = True
        if status != OK:
            return status
        size = correct(step, h)
        fastest = SLOW
        for k in range(record.n):
            fastest = max(fastest, abs(D[k]))
        rounding = ROUNDED * fastest + of_positions
        note(step, iteration, size / rounding)
        if is_rounding(size, before, rounding):
            return OK
        if not size < float("inf"):
            return failure(NOT_CONVERGED, 0)
        if size > SLUGGISH * before and size > rounding:
            fresh = False
        before = size
    return failure(NOT_CONVERGED, 0)
