"""Sums of weights times the regressor of inertial parameters, without the regressor."""

from typing import NamedTuple

from mbkit.kernels.compile import helper, int64, kernel, matrix, typed
from mbkit.kernels.derivatives.inertial_regressor import column_block, outward
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import compose
from mbkit.kernels.spatial.operators import acceleration_in_world
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import angular, linear, motion_to_child, rotate_back, store
from mbkit.kernels.workspace import bodies, frames, scratch_of


@helper
def weigh_columns(model, scratch, weights, twists):
    """Twists of all bodies at velocities that are the weights, in the axes of the world."""
    twists[0, :] = 0.0
    for i in range(1, model.shape[0]):
        row = model[i]
        S = scratch[i].S
        for j in range(6):
            total = twists[row.parent, j]
            for k in range(row.num_velocities):
                total += weights[row.first_velocity + k] * S[k][j]
            twists[i, j] = total


@helper
def add_weighted_regressor(space, twists, total):
    """Add w^T Y to `total`, w the weights; needs the motion of all bodies, and leaves that of 0."""
    scratch = scratch_of(space)
    sites = frames(space)
    here = scratch[0]
    ten = total[0]
    for b in range(1, sites.shape[0]):
        site = sites[b]
        if site.row == 0:
            continue
        carrier = scratch[site.row]
        compose(carrier.world_R, carrier.world_p, site.R, site.p, here.world_R, here.world_p)
        store(here.V, angular(carrier.V), linear(carrier.V))
        store(here.A, angular(carrier.A), linear(carrier.A))
        R = here.world_R
        w = rotate_back(R, angular(here.V))
        a, c = acceleration_in_world(here)
        column = twists[site.row]
        x, y = motion_to_child(R, here.world_p, angular(column), linear(column))
        column_block(x, y, w, rotate_back(R, a), rotate_back(R, c), ten)
        for k in range(ten.shape[0]):
            total[b, k] += ten[k]


class Motions(NamedTuple):
    """N states with their accelerations: q (N, nq), v and vdot (N, nv)."""

    q: matrix
    v: matrix
    vdot: matrix


@kernel(int64(int64, typed(Motions), matrix, matrix, matrix), nogil=True)
def add_weighted_regressors(space, motions, weights, twists, total):
    """Add sum_n weights_n^T Y(q_n, v_n, vdot_n) to `total` (frames, 10).

    Its row 0, and twists (bodies + 1, 6), are memory.

    weights^T Y is linear in the columns of joints: for a body it is the ten numbers of the column
    that is its twist at velocities equal to the weights. O(bodies); Y takes O(bodies depth).
    """
    model = bodies(space)
    scratch = scratch_of(space)
    q, v, vdot = motions
    for n in range(q.shape[0]):
        status = joint_pass(model, scratch, q[n], v[n])
        if status != OK:
            return status
        outward(model, scratch, v[n], vdot[n])
        weigh_columns(model, scratch, weights[n], twists)
        add_weighted_regressor(space, twists, total)
    return OK
