"""Poses in the world, of the rows and of the user's bodies; the same in every representation."""

from mbkit.kernels.compile import floats, helper, int64, kernel, stack
from mbkit.kernels.joint_pass import checked_joint_pass
from mbkit.kernels.space import at_rest, bodies, frames, scratch
from mbkit.kernels.status import OK, WRONG_LENGTH
from mbkit.kernels.validation import check_rows
from mbkit.kernels.vectors import add, load, rotate


@helper
def compose(R, p, R_child, p_child, R_out, p_out):
    """(R_out, p_out) = (R, p) (R_child, p_child); the output is none of the inputs."""
    for j in range(3):
        column = rotate(R, (R_child[0, j], R_child[1, j], R_child[2, j]))
        R_out[0, j] = column[0]
        R_out[1, j] = column[1]
        R_out[2, j] = column[2]
    origin = add(load(p), rotate(R, load(p_child)))
    p_out[0] = origin[0]
    p_out[1] = origin[1]
    p_out[2] = origin[2]


@helper
def world_pass(model, work):
    """world_R, world_p of every row: C_i = C_p C_pi. Needs the joint pass."""
    for j in range(3):
        for k in range(3):
            work[0].world_R[j, k] = 1.0 if j == k else 0.0
        work[0].world_p[j] = 0.0
    for i in range(1, model.shape[0]):
        parent = work[model[i].parent]
        body = work[i]
        compose(parent.world_R, parent.world_p, body.R, body.p, body.world_R, body.world_p)


@kernel(int64(int64, floats, stack))
def poses(space, q, out):
    """Pose of each of the user's bodies in the world, out (bodies + 1, 4, 4)."""
    model = bodies(space)
    work = scratch(space)
    sites = frames(space)
    state = check_rows(sites, out, 4)
    if state == OK and out.shape[2] != 4:
        state = WRONG_LENGTH
    if state == OK:
        state = checked_joint_pass(model, work, q, at_rest(space))
    if state != OK:
        return state
    world_pass(model, work)
    for b in range(sites.shape[0]):
        site = sites[b]
        carrier = work[site.row]
        C = out[b]
        compose(carrier.world_R, carrier.world_p, site.R, site.p, C[:3, :3], C[:3, 3])
        C[3, 0] = 0.0
        C[3, 1] = 0.0
        C[3, 2] = 0.0
        C[3, 3] = 1.0
    return OK
