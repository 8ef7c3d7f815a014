"""Terms of the discrete equations: forces, masses, constraints at the ends of a step.

M(q), the forces f of gravity and of all others, the constraints; the gradient of D.M(q) D / 2 along
steps, which is P^T D / 2 with P = D_q(M D); and the pull back by the joints' dexp_inv.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    at,
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.configuration import call_joint
from mbkit.kernels.implicit_integrators.residual import jacobian_at
from mbkit.kernels.implicit_integrators.step_memory import matrix_at
from mbkit.kernels.layout import SCREW, SPACE
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.variational_integrators.layout import (
    START,
    drifts,
    forces,
    jacobians,
    masses,
    memory_of,
    weights,
)
from mbkit.kernels.workspace import at_rest, bodies, scratch_of

#: Rotation vectors of this size are small: brackets are found by it.
SMALL = 1e-3


@helper
def force_at(space, step, side, t, q):
    """f(q, 0), gravity's included."""
    record = memory_of(step)
    equations = records_at(space, 1, SPACE)[0]
    rest = at_rest(space)
    time = floats_at(equations.time, 1)
    time[0] = t
    force = forces(record, side)
    other = floats_at(record.other, record.n)
    status = call_address(record.generalized_forces, (space, 0, q, rest, time, force))
    if status == OK:
        status = call_address(equations.inverse_dynamics, (space, 0, q, rest, rest, other))
    for k in range(record.n):
        force[k] -= other[k]
    return status


@helper
def gap_at(space, step, side, t, q):
    """g(q, t) and g_t; nothing for a tree."""
    record = memory_of(step)
    if record.m == 0:
        return OK
    given = floats_at(record.given, record.n + 1)
    given[:] = 0.0
    given[record.n] = t
    found = floats_at(record.constraint_values, 3 * record.m)
    status = call_address(record.constraint_state, (space, 0, q, at_rest(space), given, found))
    gap = floats_at(record.gap, record.m)
    drift = drifts(record, side)
    assign(gap, found[: record.m])
    assign(drift, found[record.m : 2 * record.m])
    return status


@helper
def slopes_at(space, step, q, D, out):
    """D_q of M D + b(q, 0)."""
    record = memory_of(step)
    n = record.n
    both = floats_at(record.derivatives, 2 * n * n)
    status = call_address(record.dynamics_derivatives, (space, 0, q, at_rest(space), D, both))
    for i in range(n):
        for k in range(n):
            out[i, k] = both[i * n + k]
    return status


@helper
def mass_and_weight_at(space, step, side, q):
    """M(q), and D_q b(q, 0)."""
    record = memory_of(step)
    rest = at_rest(space)
    mass = masses(record, side)
    mass_matrix = records_at(space, 1, SPACE)[0].mass_matrix
    status = call_address(mass_matrix, (space, 0, q, rest, rest, mass))
    if status == OK:
        weight = weights(record, side)
        status = slopes_at(space, step, q, rest, weight)
    return status


@address_kernel("iiidp")
def look_around(space, step, side, t, q):
    """All that belongs to one end of the step."""
    record = memory_of(step)
    q = as_array(q, record.nq)
    status = mass_and_weight_at(space, step, side, q)
    if status == OK:
        status = force_at(space, step, side, t, q)
    if status == OK:
        status = gap_at(space, step, side, t, q)
    if status == OK:
        status = jacobian_at(space, record, t, q, jacobians(record, side))
    return status


@helper
def gradient_at(space, step, side, q, D):
    """P = D_q(M D) into `slopes`, and P^T D / 2 into `gradient`; needs `weight`."""
    record = memory_of(step)
    n = record.n
    P = matrix_at(record.slopes, n, n)
    weight = weights(record, side)
    gradient = floats_at(record.gradient, n)
    status = slopes_at(space, step, q, D, P)
    gradient[:] = 0.0
    for i in range(n):
        for k in range(n):
            P[i, k] -= weight[i, k]
            gradient[k] += 0.5 * D[i] * P[i, k]
    return status


@helper
def mean_momentum(space, step, q_end, D):
    """(M_n + M_{n+1}) D / 2."""
    record = memory_of(step)
    n = record.n
    mass = masses(record, START)
    mean = floats_at(record.mean_momentum, n)
    status = call_address(record.mass_action, (space, 0, q_end, D, D, mean))
    for i in range(n):
        total = mean[i]
        for k in range(n):
            total += mass[i, k] * D[k]
        mean[i] = 0.5 * total
    return status


# ------------------------------------------------------------------------------- joints


@helper
def set_pull_back(space, step, factor, D):
    """dexp_inv(factor D) by columns, joint by joint, into L."""
    record = memory_of(step)
    model = bodies(space)
    scratch = scratch_of(space)
    L = matrix_at(record.L, record.n, record.n)
    x = floats_at(record.x, record.n)
    unit = floats_at(record.unit, record.n)
    column = floats_at(record.column, record.n)
    unit[:] = 0.0
    for k in range(record.n):
        x[k] = factor * D[k]
    for i in range(1, model.shape[0]):
        row = model[i]
        first = row.first_step
        end = first + row.ndx
        if row.kind == SCREW or row.dexp_inv == 0:
            for k in range(first, end):
                L[k, k] = 1.0
            continue
        for j in range(first, end):
            unit[j] = 1.0
            status = dexp_inv_of(row, scratch[i], x, unit, column, first)
            unit[j] = 0.0
            if status != OK:
                return failure(JOINT_FAILED, i)
            for k in range(first, end):
                L[k, j] = column[k]
    return OK


@helper
def dexp_inv_of(row, body, x, w, out, first):
    """dexp_inv of one joint; its own entries begin at `first`."""
    return call_joint(row, body, row.dexp_inv, at(x, first), at(w, first), at(out, first))


@helper
def pull_back(space, L, y, out):
    """out = L^T y, block by block."""
    model = bodies(space)
    for i in range(1, model.shape[0]):
        first = model[i].first_step
        end = first + model[i].ndx
        for j in range(first, end):
            total = 0.0
            for k in range(first, end):
                total += L[k, j] * y[k]
            out[j] = total


@helper
def times_blocks(space, A, L, out):
    """out = A L, block by block."""
    for r in range(A.shape[0]):
        pull_back(space, L, A[r], out[r])


@helper
def add_turning(space, step, factor, y, J):
    """J += factor d(ad_D^T y)/dD: for how dexp_inv changes with D, to first order.

    The bracket of a joint is what is odd in its dexp_inv.
    """
    record = memory_of(step)
    model = bodies(space)
    scratch = scratch_of(space)
    x = floats_at(record.x, record.n)
    unit = floats_at(record.unit, record.n)
    column = floats_at(record.column, record.n)
    other = floats_at(record.other, record.n)
    x[:] = 0.0
    unit[:] = 0.0
    for i in range(1, model.shape[0]):
        row = model[i]
        first = row.first_step
        end = first + row.ndx
        if row.kind == SCREW or row.dexp_inv == 0:
            continue
        for j in range(first, end):
            for c in range(first, end):
                unit[c] = 1.0
                x[j] = SMALL
                status = dexp_inv_of(row, scratch[i], x, unit, column, first)
                x[j] = -SMALL
                if status == OK:
                    status = dexp_inv_of(row, scratch[i], x, unit, other, first)
                x[j] = 0.0
                unit[c] = 0.0
                if status != OK:
                    return failure(JOINT_FAILED, i)
                for k in range(first, end):
                    J[c, j] += factor * y[k] * (column[k] - other[k]) / SMALL
    return OK
