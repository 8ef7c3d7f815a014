"""The steps of a configuration as twists, and how the motion subspaces change along them.

In the axes of the world, at a place that the caller chooses: far from the world's origin moments
about it would lose digits.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.derivatives.joints.joint import Joint, stage_of
from mbkit.kernels.derivatives.joints.joint_changes import joint_changes
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import set_world_pose
from mbkit.kernels.recursions.world import start
from mbkit.kernels.spatial.operators import move_subspace
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import (
    add,
    angular,
    linear,
    load,
    motion_bracket,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import bodies, changes, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def store_vector(p, x):
    """Write a tuple of three."""
    for j in range(3):
        p[j] = x[j]


@helper
def place(row, body, parent, origin):
    """Pose of a body in the world's axes, at the origin."""
    set_world_pose(parent, body)
    if row.parent == 0:
        store_vector(body.world_p, subtract(load(body.p), origin))


@helper
def depends_on_q(row):
    """Whether S, in the axes of the body, changes along steps."""
    return row.constant == 0 or (row.reversed != 0 and row.num_velocities > 1)


@helper
def twist_of_step(row, body, k, change):
    """D as (angular, linear)."""
    if row.constant != 0:
        return angular(body.S[k]), linear(body.S[k])
    return angular(change.D), linear(change.D)


@helper
def weighted_change(change, row, v):
    """dS v."""
    x = _ZERO
    y = _ZERO
    for c in range(row.num_velocities):
        a = v[row.first_velocity + c]
        x = add(x, scale(a, angular(change.S[c])))
        y = add(y, scale(a, linear(change.S[c])))
    return x, y


@helper
def turned_changes(row, body, table):
    """Of a joint turned round, whose S is that of a constant one seen from the other side.

    S = -Ad_T S', T moves along its own D: dS = [S, D] of each column.
    """
    for k in range(row.ndx):
        change = table[row.first_step + k]
        for c in range(row.num_velocities):
            w, u = motion_bracket(
                angular(body.S[c]), linear(body.S[c]), angular(body.S[k]), linear(body.S[k])
            )
            store(change.S[c], w, u)


@helper
def set_subspace(space, i, q, v):
    """S and S-dot v of a body that is placed, and their changes where there are any."""
    row = bodies(space)[i]
    body = scratch_of(space)[i]
    table = changes(space)
    status = OK
    if row.constant == 0:
        status = joint_changes(Joint(row, body, q, v, stage_of(space), space, i))
    else:
        store(body.bias, _ZERO, _ZERO)
    move_subspace(row, body)
    if row.constant != 0 and depends_on_q(row):
        turned_changes(row, body, table)
    return status


@helper
def place_and_move(space, q, v, joined):
    """Poses, S, its changes, and twists of all bodies, at the origin of the tree they are in.

    That is where the body is which hangs on the world; for all trees where the first body is, and
    the world seen from there, where they are `joined`.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    status = joint_pass(model, scratch, q, v)
    if status != OK:
        return status
    start(scratch, _ZERO)
    origin = _ZERO
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        parent = scratch[row.parent]
        if i == 1 or (row.parent == 0 and not joined):
            origin = load(body.p)
        place(row, body, parent, origin)
        if set_subspace(space, i, q, v) != OK:
            return failure(JOINT_FAILED, i)
        w, u = joint_sum(row, body, v)
        store(body.V, add(angular(parent.V), w), add(linear(parent.V), u))
    if joined:
        store_vector(scratch[0].world_p, scale(-1.0, origin))
    return OK
