"""The joint-space mass matrix in body-fixed twists: the composite-rigid-body algorithm."""

from mbkit.kernels.compile import (
    floats,
    floats_at,
    helper,
    int64,
    integers_at,
    kernel,
    matrix,
    records_at,
)
from mbkit.kernels.inertias import add_rigid_to_parent, copy_rigid, rigid_times
from mbkit.kernels.joint_pass import checked_joint_pass
from mbkit.kernels.layout import COLUMN_SIZE, SCREW, SPACE
from mbkit.kernels.lie.matrices import load_matrix, matrix_times
from mbkit.kernels.space import at_rest, bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.validation import check_columns
from mbkit.kernels.vectors import add, angular, cross, dot, linear, load


@helper
def subtree_columns(memory, nv, start, end):
    """The wrenches (t, f) of the columns from start to end, as six arrays.

    Slices that begin at zero: loops over them have no index that might count from the end, and
    are vectorised (a factor of three at 100 bodies).
    """
    return (
        memory[start:end],
        memory[nv + start : nv + end],
        memory[2 * nv + start : 2 * nv + end],
        memory[3 * nv + start : 3 * nv + end],
        memory[4 * nv + start : 4 * nv + end],
        memory[5 * nv + start : 5 * nv + end],
    )


@helper
def start_columns(row, body, F):
    """F = I S for the columns of a joint: the wrench that moves the composite body alone."""
    tx, ty, tz, fx, fy, fz = F
    for c in range(row.num_velocities):
        if row.kind == SCREW:
            t, f = rigid_times(body, (0.0, 0.0, row.rate), (0.0, 0.0, row.lead))
        else:
            S = body.S[c]
            t, f = rigid_times(body, angular(S), linear(S))
        tx[c], ty[c], tz[c] = t
        fx[c], fy[c], fz[c] = f


@helper
def power(row, S, F, entries):
    """S . F for all columns of a subtree."""
    tx, ty, tz, fx, fy, fz = F
    if row.kind == SCREW:
        rate = row.rate
        lead = row.lead
        for c in range(tx.shape[0]):
            entries[c] = rate * tz[c] + lead * fz[c]
    else:
        w = angular(S)
        u = linear(S)
        for c in range(tx.shape[0]):
            entries[c] = dot(w, (tx[c], ty[c], tz[c])) + dot(u, (fx[c], fy[c], fz[c]))


@helper
def carry_to_parent(body, F):
    """Ad_C^-T F for all columns of a subtree."""
    tx, ty, tz, fx, fy, fz = F
    R = load_matrix(body.R)
    p = load(body.p)
    for c in range(tx.shape[0]):
        f = matrix_times(R, (fx[c], fy[c], fz[c]))
        t = add(matrix_times(R, (tx[c], ty[c], tz[c])), cross(p, f))
        tx[c], ty[c], tz[c] = t
        fx[c], fy[c], fz[c] = f


@kernel(int64(int64, floats, matrix))
def mass_matrix(space, q, M):
    """M(q), with zeros between bodies of different branches.

    Reads   model, q.
    Writes  work (R, p, S, composite inertias), M (nv, nv).
    Source  Featherstone 2010, (46)-(48), figure 7, with its loops exchanged: instead of one column
            climbing to the root, all columns of a subtree are carried one joint inwards together.
            They do not wait for each other, and lie side by side in memory.
    """
    model = bodies(space)
    work = scratch(space)
    state = check_columns(model, M, model[0].num_velocities)
    if state == OK:
        state = checked_joint_pass(model, work, q, at_rest(space))
    if state != OK:
        return state
    record = records_at(space, 1, SPACE)[0]
    nv = model[0].num_velocities
    memory = floats_at(record.columns, COLUMN_SIZE * nv)
    entries = memory[6 * nv :]
    velocity_of = integers_at(record.velocity_of_column, nv)
    M[:, :] = 0.0
    for i in range(1, model.shape[0]):
        copy_rigid(work[i], model[i])
    # from the tips to the world: composite inertias, the wrenches that move them, their power
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = work[i]
        F = subtree_columns(memory, nv, row.first_column, row.end_column)
        columns = velocity_of[row.first_column : row.end_column]
        start_columns(row, body, F)
        for k in range(row.num_velocities):
            velocity = row.first_velocity + k
            power(row, body.S[k], F, entries)
            for c in range(columns.shape[0]):
                M[velocity, columns[c]] = entries[c]
                M[columns[c], velocity] = entries[c]
        if row.parent != 0:
            carry_to_parent(body, F)
            add_rigid_to_parent(body, body.R, body.p, work[row.parent])
    return OK
