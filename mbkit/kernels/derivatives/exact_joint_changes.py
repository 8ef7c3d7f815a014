"""Changes of the pose, S and S-dot v of a joint along its steps, by dual numbers: exact."""

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.derivatives.joint_changes import Joint, evaluate, step_from
from mbkit.kernels.duals import DIRECTIONS, along, moving
from mbkit.kernels.layout import CHANGE, SPACE, STAGE_SIZE
from mbkit.kernels.status import JOINT_FAILED, OK
from mbkit.kernels.workspace import bodies, scratch_of, trials

#: The form of `joint_changes_along`: q and v are doubles, and so are the changes, by address.
FORM = "sicci"


def joint_changes_along(space, i, q, v, changes):
    """The changes of the joint of row i at (q, v), in the CHANGE entries of its steps.

    `space` is a SPACE of dual numbers, with memory as for `mbkit.kernels.derivatives.exact_forces`.
    Rows without a motion are of joints that are not compiled for them.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    row = model[i]
    body = scratch[i]
    if row.motion == 0:
        return JOINT_FAILED
    trial, speed, dx = trials(space)
    nq = model[0].num_positions
    size = nq + speed.shape[0] + dx.shape[0]
    start = floats_at(records_at(space, 1, SPACE)[0].trial, size + nq)[size:]
    for j in range(row.first_position, row.first_position + row.num_positions):
        start[j] = q[j]
    for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
        speed[j] = v[j]
    joint = Joint(row, body, trial, speed, floats_at(scratch[0].slot, STAGE_SIZE), space, i)
    table = records_at(changes, dx.shape[0], CHANGE)
    for first in range(0, row.ndx, DIRECTIONS):
        count = min(DIRECTIONS, row.ndx - first)
        for j in range(row.ndx):
            k = j - first
            dx[row.first_step + j] = moving(0.0, k, 1.0) if 0 <= k < count else 0.0
        status = step_from(row, body, start, dx, trial)
        if status == OK:
            status = evaluate(joint, trial, speed)
        if status != OK:
            return status
        for k in range(count):
            write_change(body, row.num_velocities, k, table[row.first_step + first + k])
    return OK


@helper
def write_change(body, nv, k, change):
    """What the pose, S and S-dot v of a body change by along a direction."""
    for j in range(6):
        change.bias[j] = along(body.bias[j], k)
        for c in range(nv):
            change.S[c, j] = along(body.S[c, j], k)
    for i in range(3):
        change.p[i] = along(body.p[i], k)
        for j in range(3):
            change.R[i, j] = along(body.R[i, j], k)
