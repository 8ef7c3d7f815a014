"""Derivatives of the generalized forces with respect to configuration and velocity.

Those of linear springs and dampers, in joints and between points of bodies, are exact. All other
forces are summed by the force pass, which has exact derivatives if all of them are compiled for
dual numbers (`mbkit.kernels.derivatives.exact_forces`). Else, and in the matrices of implicit
methods, which need few digits, central differences of fourth order are taken,

    f' = (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h + h^4 f^(5) / 30,

at h = 1e-5: forces that change within 1 mm/s, such as regularised friction, need a step that is
small against that. The error by rounding is 1e-11 of the force, per unit of the coordinate.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    at,
    call_address,
    floats_at,
    helper,
    records_at,
    subroutine,
)
from mbkit.kernels.derivatives.joints.joint import step_from
from mbkit.kernels.derivatives.joints.joint_changes import STEP, weight
from mbkit.kernels.derivatives.springs import add_springs
from mbkit.kernels.elementary import any_lane
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions, velocities
from mbkit.kernels.forces.force_pass import (
    add_wrenches,
    call_forces,
    clear_rows,
    have_bodies,
    have_forces,
    motion_for_forces,
)
from mbkit.kernels.forces.sites import clear_sites
from mbkit.kernels.layout import LINEAR, SPACE
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.validation import all_finite
from mbkit.kernels.workspace import bodies, columns_of, num_columns, scratch_of, trials

_STEP = 1e-5

#: Option: the derivatives of the forces that are called are added elsewhere.
WITHOUT_CALLED = 1


@helper
def some_forces(space, which, q, v, t, tau):
    """tau = sum of the called forces of the range `which`; q and v are pointers."""
    tau[:] = 0.0
    status = motion_for_forces(space, q, v)
    if status != OK:
        return status
    clear_rows(space)
    clear_sites(space)
    status = call_forces(space, which, q, v, t, tau)
    if status == OK and have_bodies(space):
        add_wrenches(space, tau)
    return status


@subroutine
def called_forces(space, q, v, t, tau):
    """tau = sum of the forces that are called; q and v are pointers."""
    return some_forces(space, (0, records_at(space, 1, SPACE)[0].num_called), q, v, t, tau)


@helper
def checked_forces(space, q, v, t, tau):
    """`called_forces` at the state itself; if tau is not finite, find the force."""
    status = called_forces(space, q, v, t, tau)
    if status == OK and not all_finite(tau):
        search = records_at(space, 1, SPACE)[0].force_search
        return call_address(search, (space, 0, q, v, t, at(tau, 0)))
    return status


@helper
def add_column(out, k, factor, tau):
    """Column k of out += factor tau."""
    for j in range(tau.shape[0]):
        out[j, k] += factor * tau[j]


@helper
def factor_of(k, sign, step):
    """The weight of f(sign k step), k = 1, 2."""
    return sign * (8.0 if k == 1 else -1.0) / (12.0 * step)


@helper
def step_column(space, column, size, q, dx, trial):
    """Write into trial a step from q by `size` along all entries that share a column."""
    model = bodies(space)
    scratch = scratch_of(space)
    column_of = columns_of(space)
    for i in range(1, model.shape[0]):
        row = model[i]
        for j in range(row.first_step, row.first_step + row.ndx):
            if column_of[j] == column:
                dx[j] = size
                if step_from(row, scratch[i], q, dx, trial) != OK:
                    return failure(JOINT_FAILED, i)
                dx[j] = 0.0
    return OK


@helper
def along_steps(space, q, v, t, tau, d_q):
    """Add the columns of d_q of the forces that are called; v and t are pointers.

    All entries that share a column change at once: no force depends on two of them. Source:
    Curtis, Powell and Reid, J. Inst. Maths Applics 13 (1974) 117-119.
    """
    trial, _, dx = trials(space)
    assign(trial, q)
    dx[:] = 0.0
    for column in range(d_q.shape[1]):
        for k in range(1, 3):
            for sign in range(-1, 2, 2):
                status = step_column(space, column, sign * k * _STEP, q, dx, trial)
                if status == OK:
                    status = called_forces(space, at(trial, 0), v, t, tau)
                if status != OK:
                    return status
                add_column(d_q, column, factor_of(k, sign, _STEP), tau)
        assign(trial, q)
    return OK


@helper
def along_velocities(space, q, v, t, tau, d_v):
    """Add the columns of d_v of the forces that are called; q and t are pointers."""
    trial = trials(space)[1]
    column_of = columns_of(space)
    assign(trial, v)
    for column in range(d_v.shape[1]):
        step = _STEP
        for j in range(v.shape[0]):
            if column_of[j] == column:
                step = max(step, _STEP * abs(v[j]))
        for k in range(1, 3):
            for sign in range(-1, 2, 2):
                for j in range(v.shape[0]):
                    if column_of[j] == column:
                        trial[j] = v[j] + sign * k * step
                status = called_forces(space, q, at(trial, 0), t, tau)
                if status != OK:
                    return status
                add_column(d_v, column, factor_of(k, sign, step), tau)
        for j in range(v.shape[0]):
            if column_of[j] == column:
                trial[j] = v[j]
    return OK


@helper
def row_of_position(model, position):
    """The row of the joint that has an entry of q."""
    for i in range(1, model.shape[0]):
        first = model[i].first_position
        if first <= position < first + model[i].num_positions:
            return i
    return 0


@helper
def add_spring(space, spring, q, d_q):
    """d_q -= k dq of one spring; where steps do not add, dq by differences of the steps."""
    model = bodies(space)
    i = row_of_position(model, spring.position)
    row = model[i]
    if row.retract == 0:
        step = row.first_step + spring.position - row.first_position
        d_q[spring.velocity, columns_of(space)[step]] -= spring.stiffness
        return OK
    trial, _, dx = trials(space)
    dx[:] = 0.0
    for j in range(row.first_step, row.first_step + row.ndx):
        for k in range(1, 4):
            for sign in range(-1, 2, 2):
                dx[j] = sign * k * STEP
                if step_from(row, scratch_of(space)[i], q, dx, trial) != OK:
                    return failure(JOINT_FAILED, i)
                change = sign * weight(k) * trial[spring.position]
                d_q[spring.velocity, columns_of(space)[j]] -= spring.stiffness * change
        dx[j] = 0.0
    return OK


@helper
def add_linear_terms(space, q, d_q, d_v):
    """Add the derivatives of the linear springs and dampers."""
    record = records_at(space, 1, SPACE)[0]
    table = records_at(record.linear, record.num_linear, LINEAR)
    for k in range(table.shape[0]):
        d_v[table[k].velocity, columns_of(space)[table[k].velocity]] -= table[k].damping
        if any_lane(table[k].stiffness != 0.0):
            status = add_spring(space, table[k], q, d_q)
            if status != OK:
                return status
    return OK


@address_kernel(EVALUATION)
def force_derivatives(space, option, q, v, t, out):
    """d tau by d q, (nv, ndx), and after it by d v, (nv, nv), of the forces of the system.

    option: `WITHOUT_CALLED`, or 0 for all of them.
    Where columns are shared, (nv, num_columns) both. Cost: O(1) for each linear spring and damper
    in a joint, O(p^2) for one across p joints, and 4 force passes for each column where there are
    other forces.
    """
    model = bodies(space)
    nv = model[0].num_velocities
    ndx = num_columns(space, model[0].ndx)
    wide = num_columns(space, nv)
    both = as_matrix(out, 1, nv * (ndx + wide))[0]
    both[:] = 0.0
    if not have_forces(space):
        return OK
    d_q = both[: nv * ndx].reshape((nv, ndx))
    d_v = both[nv * ndx :].reshape((nv, wide))
    own_q = positions(model, q)
    own_v = velocities(model, v)
    record = records_at(space, 1, SPACE)[0]
    efforts = floats_at(record.efforts, nv)
    status = OK
    if record.num_called > 0 and option != WITHOUT_CALLED:
        status = checked_forces(space, q, v, t, efforts)
        if status == OK:
            status = along_steps(space, own_q, v, t, efforts, d_q)
        if status == OK:
            status = along_velocities(space, q, own_v, t, efforts, d_v)
    if status == OK:
        status = add_springs(space, own_q, own_v, d_q, d_v)
    if status != OK:
        return status
    return add_linear_terms(space, own_q, d_q, d_v)
