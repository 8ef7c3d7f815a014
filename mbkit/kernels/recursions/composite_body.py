"""The joint-space mass matrix: the composite-rigid-body algorithm (CRBA)."""

from mbkit.kernels.compile import as_array, floats_at, helper, integers_at, records_at
from mbkit.kernels.evaluation_form import as_matrix, positions
from mbkit.kernels.layout import COLUMN_SIZE, SPACE
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import at_rest, bodies, scratch_of

#: Option: what is found once, and no zeros between branches.
PACKED = 1


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
def start_columns(row, body, F, recursion):
    """F = I S for the columns of a joint: the wrench that moves the composite body alone."""
    tx, ty, tz, fx, fy, fz = F
    for c in range(row.num_velocities):
        t, f = recursion.column_wrench(row, body, c)
        tx[c], ty[c], tz[c] = t
        fx[c], fy[c], fz[c] = f


@helper
def composite_body(space, option, q, M, recursion):
    """M(q), with zeros between bodies of different branches.

    Where the option is PACKED, M begins with a zero, and what is found follows in the order of the
    loops below: from the last body to the first, for each velocity of its joint the entries of all
    columns of the subtree. `mbkit.systems.memory.packing` has which entry of M is where.

    Calls   place, column_wrench, columns_power, columns_to_parent, composite_to_parent.
    Reads   model, q.
    Writes  scratch (R, p, S, composite inertias), M (nv, nv) or packed.
    Source  Featherstone 2010, (46)-(48), figure 7, with its loops exchanged: instead of one column
            climbing to the root, all columns of a subtree are carried one joint inwards together.
            They do not wait for each other, and lie side by side in memory.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    status = joint_pass(model, scratch, positions(model, q), at_rest(space))
    if status != OK:
        return status
    record = records_at(space, 1, SPACE)[0]
    nv = model[0].num_velocities
    packed = option == PACKED
    found = as_array(M, nv * nv + 1)
    begin = 1
    M = as_matrix(M, nv, nv)
    memory = floats_at(record.columns, COLUMN_SIZE * nv)
    velocity_of = integers_at(record.velocity_of_column, nv)
    if packed:
        found[0] = 0.0
    else:
        M[:, :] = 0.0
    for i in range(model.shape[0]):
        recursion.place(model, scratch, i)
    # from the tips to the world: composite inertias, the wrenches that move them, their power
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        F = subtree_columns(memory, nv, row.first_column, row.end_column)
        columns = velocity_of[row.first_column : row.end_column]
        start_columns(row, body, F, recursion)
        for k in range(row.num_velocities):
            velocity = row.first_velocity + k
            entries = found[begin:] if packed else memory[6 * nv :]
            recursion.columns_power(row, body, k, F, entries)
            begin += columns.shape[0]
            for c in range(0 if packed else columns.shape[0]):
                M[velocity, columns[c]] = entries[c]
                M[columns[c], velocity] = entries[c]
        if row.parent != 0:
            parent = scratch[row.parent]
            recursion.columns_to_parent(body, parent, F)
            recursion.composite_to_parent(body, parent)
    return OK
