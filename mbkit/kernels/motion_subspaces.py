"""Motion subspaces of the joints, where the user's bodies have their frames."""

from mbkit.kernels.compile import floats, helper, int64, integers_at, kernel, matrix
from mbkit.kernels.joint_pass import checked_joint_pass
from mbkit.kernels.layout import SCREW
from mbkit.kernels.space import at_rest, bodies, frames, scratch
from mbkit.kernels.status import OK, WRONG_LENGTH
from mbkit.kernels.vectors import angular, linear, motion_to_child, store


@helper
def motion_subspaces_of(model, work, sites, site_of_row, q, rest, out):
    """X_k = Ad_site^-1 S_k of each velocity k, in the frame of the body that the joint carries.

    Reads  model, sites, q; site_of_row: which of the user's bodies hangs on the joint of a row.
    Writes out (nv, 6), rows (angular, linear).
    Source Mueller 2018, (8): X = Ad_S Z.
    """
    state = checked_joint_pass(model, work, q, rest)
    if state != OK:
        return state
    for i in range(1, model.shape[0]):
        row = model[i]
        site = sites[int(site_of_row[i])]
        for c in range(row.num_velocities):
            if row.kind == SCREW:
                w = (0.0, 0.0, row.rate)
                u = (0.0, 0.0, row.lead)
            else:
                w = angular(work[i].S[c])
                u = linear(work[i].S[c])
            w, u = motion_to_child(site.R, site.p, w, u)
            store(out[row.first_velocity + c], w, u)
    return OK


@kernel(int64(int64, int64, floats, matrix))
def motion_subspaces(space, site_of_row, q, out):
    """Motion subspaces of all joints by velocity, out (nv, 6); site_of_row: address of integers."""
    model = bodies(space)
    if out.shape[0] != model[0].num_velocities or out.shape[1] != 6:
        return WRONG_LENGTH
    owners = integers_at(site_of_row, model.shape[0])
    return motion_subspaces_of(model, scratch(space), frames(space), owners, q, at_rest(space), out)
