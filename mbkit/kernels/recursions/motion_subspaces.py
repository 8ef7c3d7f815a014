"""Motion subspaces of the joints, where the user's bodies have their frames."""

from mbkit.kernels.compile import address_kernel, integers_at
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions
from mbkit.kernels.recursions.columns import joint_column
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import motion_to_child, store
from mbkit.kernels.workspace import at_rest, bodies, frames, scratch_of


@address_kernel(EVALUATION)
def motion_subspaces(space, body_of_row, q, _v, _x, out):
    """X_k = Ad_site^-1 S_k of each velocity k, in the frame of the body that the joint carries.

    Reads   model, q; body_of_row: address of integers, the user's body that the joint of a
            row carries.
    Writes  out (nv, 6), rows (angular, linear).
    Source  Mueller 2018, (8): X = Ad_S Z.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    sites = frames(space)
    status = joint_pass(model, scratch, positions(model, q), at_rest(space))
    if status != OK:
        return status
    bodies_of_rows = integers_at(body_of_row, model.shape[0])
    columns = as_matrix(out, model[0].num_velocities, 6)
    for i in range(1, model.shape[0]):
        row = model[i]
        site = sites[bodies_of_rows[i]]
        for c in range(row.num_velocities):
            w, u = joint_column(row, scratch[i], c)
            w, u = motion_to_child(site.R, site.p, w, u)
            store(columns[row.first_velocity + c], w, u)
    return OK
