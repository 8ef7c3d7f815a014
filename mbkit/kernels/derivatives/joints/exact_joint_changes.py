"""Changes of the pose, S and S-dot v of a joint along its steps, by dual numbers: exact."""

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.derivatives.joints.joint import Joint, evaluate, stage_of, step_from
from mbkit.kernels.duals import DIRECTIONS, along, moving
from mbkit.kernels.layout import CHANGE, SPACE
from mbkit.kernels.status import JOINT_FAILED, OK
from mbkit.kernels.workspace import bodies, scratch_of, trials

#: The forms: q and v are doubles, and so are the changes, by address.
FORM = "sicci"
FORM_BESIDE = "siccidi"


def joint_changes_along(space, i, q, v, changes):
    """The changes of the joint of row i at (q, v), in the CHANGE entries of its steps.

    `space` is a SPACE of dual numbers, with memory as for `mbkit.kernels.derivatives.exact_forces`.
    Rows without a motion are of joints that are not compiled for them.
    """
    model = bodies(space)
    table = records_at(changes, model[0].ndx, CHANGE)
    return write_changes(space, i, (q, v), (0, 0.0), table[model[i].first_step :])


def joint_changes_beside(space, i, q, v, k, h, changes):
    """The changes by the entries of a step x at x = h e_k, in CHANGE entries of their own."""
    row = bodies(space)[i]
    return write_changes(space, i, (q, v), (k, h), records_at(changes, row.ndx, CHANGE))


@helper
def write_changes(space, i, state, beside, table):
    """The changes at retract(q, h e_k) by each entry of the step."""
    q, v = state
    model = bodies(space)
    row = model[i]
    body = scratch_of(space)[i]
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
    joint = Joint(row, body, trial, speed, stage_of(space), space, i)
    for first in range(0, row.ndx, DIRECTIONS):
        count = min(DIRECTIONS, row.ndx - first)
        for j in range(row.ndx):
            k = j - first
            x = beside[1] if j == beside[0] else 0.0
            dx[row.first_step + j] = moving(x, k, 1.0) if 0 <= k < count else x
        status = step_from(row, body, start, dx, trial)
        if status == OK:
            status = evaluate(joint, trial, speed)
        if status != OK:
            return status
        for k in range(count):
            write_change(body, row.num_velocities, k, table[first + k])
    return OK


@helper
def write_change(body, nv, k, change):
    """Write the changes of the pose, S and S-dot v of a body along a direction."""
    for j in range(6):
        change.bias[j] = along(body.bias[j], k)
        for c in range(nv):
            change.S[c, j] = along(body.S[c, j], k)
    for i in range(3):
        change.p[i] = along(body.p[i], k)
        for j in range(3):
            change.R[i, j] = along(body.R[i, j], k)
