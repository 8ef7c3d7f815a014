"""The joint-space mass matrix in body-fixed twists: the composite-rigid-body algorithm."""

from mbkit.kernels.compile import floats, helper, int64, kernel, matrix
from mbkit.kernels.inertias import add_rigid_to_parent, copy_rigid, rigid_times
from mbkit.kernels.joint_pass import joint_pass
from mbkit.kernels.layout import SCREW
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.validation import check_matrix, check_positions
from mbkit.kernels.vectors import angular, force_to_parent, linear, pairing


@helper
def couple(row, work, column, t, f, M):
    """M[k, column] = S_k . (t, f) for each column k of the joint in `row`, and by symmetry."""
    for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
        if row.kind == SCREW:
            entry = row.rate * t[2] + row.lead * f[2]
        else:
            entry = pairing(work[k].S, t, f)
        M[k, column] = entry
        M[column, k] = entry


@kernel(int64(int64, floats, floats, matrix))
def mass_matrix(space, q, v, M):
    """M(q), with zeros between bodies of different branches.

    Reads   model, q; v is any vector (its length is that of M, its value does not matter).
    Writes  work (R, p, S, composite inertias), M (nv, nv).
    Source  Featherstone 2010, (46)-(48), figure 7.
    """
    model = bodies(space)
    work = scratch(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_matrix(model, M)
    if state == OK:
        state = joint_pass(model, work, q, v)
    if state != OK:
        return state
    M[:, :] = 0.0
    for i in range(1, model.shape[0]):
        copy_rigid(work[i], model[i])
    # from the tips to the world: composite inertias
    for i in range(model.shape[0] - 1, 0, -1):
        body = work[i]
        row = model[i]
        # F = I S, the wrench that moves the composite body alone; then what its ancestors feel
        for column in range(row.first_velocity, row.first_velocity + row.num_velocities):
            if row.kind == SCREW:
                t, f = rigid_times(body, (0.0, 0.0, row.rate), (0.0, 0.0, row.lead))
            else:
                S = work[column].S
                t, f = rigid_times(body, angular(S), linear(S))
            j = i
            couple(row, work, column, t, f, M)
            while model[j].parent != 0:
                t, f = force_to_parent(work[j].R, work[j].p, t, f)
                j = model[j].parent
                couple(model[j], work, column, t, f, M)
        if row.parent != 0:
            add_rigid_to_parent(body, body.R, body.p, work[row.parent])
    return OK
