"""Changes of the pose, S and S-dot v of a joint of the tree by its own numbers, exact.

By dual numbers: of those that the joint's function reads some move, as pitches and axes do.
"""

from mbkit.kernels.compile import call_address, helper, int64, kernel, matrix, records_at
from mbkit.kernels.derivatives.joints.exact_joint_changes import write_change
from mbkit.kernels.derivatives.joints.joint import Joint, evaluate, stage_of
from mbkit.kernels.duals import DIRECTIONS
from mbkit.kernels.elementary import value_of
from mbkit.kernels.joints.revolute_prismatic_screw import place_screw
from mbkit.kernels.layout import BODY, CHANGE, SCREW
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, cross, load, rotate_back, scale, store
from mbkit.kernels.workspace import scratch_of, trials

#: The form of `changes_by_numbers`.
FORM = "siscci"

#: Entries of CHANGE that it writes: one for each direction, and one for what the joint does.
ENTRIES = 1 + DIRECTIONS

_ZERO = (0.0, 0.0, 0.0)


def changes_by_numbers(space, i, numbers, q, v, changes):
    """Changes of the motion of the joint of row i along directions of its numbers, at (q, v).

    All in the frame of the body, with the twist D of the pose. `space` is a SPACE of dual numbers;
    `numbers` the address of the joint's row of BODY as dual numbers, with parameters and a motion
    that are so, too. In the last entry are the pose, S and S-dot v themselves.
    """
    row = records_at(numbers, 1, BODY)[0]
    body = scratch_of(space)[i]
    trial, speed, _ = trials(space)
    for j in range(row.first_position, row.first_position + row.num_positions):
        trial[j] = q[j]
    for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
        speed[j] = v[j]
    status = OK
    if row.kind == SCREW:
        place_screw(row, body, trial[row.first_position])
        store(body.S[0], (0.0, 0.0, row.rate), (0.0, 0.0, row.lead))
        store(body.bias, _ZERO, _ZERO)
    else:
        joint = Joint(row, body, trial, speed, stage_of(space), space, i)
        status = evaluate(joint, trial, speed)
    table = records_at(changes, ENTRIES, CHANGE)
    write_values(body, row.num_velocities, table[DIRECTIONS])
    for k in range(DIRECTIONS):
        write_change(body, row.num_velocities, k, table[k])
        set_twist(table[DIRECTIONS].R, table[k])
    return status


@helper
def write_values(body, nv, out):
    """The pose, S and S-dot v of a body."""
    for j in range(6):
        out.bias[j] = value_of(body.bias[j])
        for c in range(nv):
            out.S[c, j] = value_of(body.S[c, j])
    for i in range(3):
        out.p[i] = value_of(body.p[i])
        for j in range(3):
            out.R[i, j] = value_of(body.R[i, j])


@helper
def set_twist(R, change):
    """D = (vee R^T dR, R^T dp): half the sum of dr x r over the rows r of R."""
    w = _ZERO
    for n in range(3):
        w = add(w, cross(load(change.R[n]), load(R[n])))
    store(change.D, scale(0.5, w), rotate_back(R, load(change.p)))


@kernel(int64(int64, int64, int64, int64, matrix, matrix, matrix), nogil=True)
def changes_at_states(function, space, i, numbers, q, v, out):
    """The same at N states by its address, (N, ENTRIES) entries of CHANGE as numbers in `out`."""
    for n in range(q.shape[0]):
        arguments = space, i, numbers, q[n], v[n], out[n].ctypes.data
        status = call_address(function, arguments)
        if status != OK:
            return status
    return OK
