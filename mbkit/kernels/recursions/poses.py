"""Poses in the world, of the bodies of the tree and of the user, in any representation."""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.simd.matrix_product import multiply
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, load, rotate, row_times
from mbkit.kernels.workspace import at_rest, bodies, frames, scratch_of


@helper
def compose(R, p, R_child, p_child, R_out, p_out):
    """(R_out, p_out) = (R, p) (R_child, p_child), all contiguous."""
    origin = add(load(p), rotate(R, load(p_child)))
    multiply(R, R_child, R_out)
    for j in range(3):
        p_out[j] = origin[j]


@helper
def write_composed(R, p, R_child, p_child, C):
    """C (4, 4) = (R, p) (R_child, p_child).

    Everything is read before anything is written: a third faster, since a compiler cannot know
    that the output is none of the inputs.
    """
    child = load(R_child[0]), load(R_child[1]), load(R_child[2])
    a = row_times(load(R[0]), child)
    b = row_times(load(R[1]), child)
    c = row_times(load(R[2]), child)
    origin = add(load(p), rotate(R, load(p_child)))
    for j in range(3):
        C[0, j] = a[j]
        C[1, j] = b[j]
        C[2, j] = c[j]
        C[j, 3] = origin[j]
        C[3, j] = 0.0
    C[3, 3] = 1.0


@helper
def set_identity(body):
    """The pose in the world of the world."""
    for j in range(3):
        for k in range(3):
            body.world_R[j, k] = 1.0 if j == k else 0.0
        body.world_p[j] = 0.0


@helper
def set_world_pose(parent, body):
    """world_R, world_p of a body: C_i = C_p C_pi."""
    compose(parent.world_R, parent.world_p, body.R, body.p, body.world_R, body.world_p)


@helper
def world_pass(model, scratch):
    """world_R, world_p of every row. Needs the joint pass."""
    set_identity(scratch[0])
    for i in range(1, model.shape[0]):
        set_world_pose(scratch[model[i].parent], scratch[i])


@address_kernel(EVALUATION)
def poses(space, _option, q, _v, _x, out):
    """Pose of each of the user's bodies in the world, out (bodies + 1, 4, 4)."""
    model = bodies(space)
    scratch = scratch_of(space)
    sites = frames(space)
    status = joint_pass(model, scratch, positions(model, q), at_rest(space))
    if status != OK:
        return status
    world_pass(model, scratch)
    matrices = as_matrix(out, 4 * sites.shape[0], 4)
    for b in range(sites.shape[0]):
        site = sites[b]
        carrier = scratch[site.row]
        C = matrices[4 * b : 4 * b + 4]
        write_composed(carrier.world_R, carrier.world_p, site.R, site.p, C)
    return OK
