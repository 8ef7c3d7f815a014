"""Changes of joints of samples side by side, which are found for one sample after another.

Joints move along their steps many times, or on dual numbers, by functions that are called for one
sample. So a SPACE of lanes whose joints change has a SPACE of one sample of the same system: its
address is behind the memory of `trials`, in three parts that single precision holds. The state of a
sample, and room for what is found, are in its memory of columns.
"""

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.derivatives.joints.joint import Joint, stage_of
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.lanes import lane, width_of, with_lane
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import OK
from mbkit.kernels.validation import both
from mbkit.kernels.workspace import bodies, changes, scratch_of, trials

#: The parts of an address, and how many bits each has.
PARTS = 3
BITS = 16


@helper
def space_of_one(space):
    """The address of a SPACE of one sample, 0 where there is none."""
    trial, speed, dx = trials(space)
    size = trial.shape[0] + speed.shape[0] + dx.shape[0]
    parts = floats_at(records_at(space, 1, SPACE)[0].trial, size + PARTS)[size:]
    return whole(parts[0]) + (whole(parts[1]) << BITS) + (whole(parts[2]) << (2 * BITS))


@helper
def memory_of_one(one, size):
    """q and v of one sample, and room for more numbers."""
    model = bodies(one)
    nq = model[0].num_positions
    end = nq + model[0].num_velocities
    memory = floats_at(records_at(one, 1, SPACE)[0].columns, end + size)
    return memory[:nq], memory[nq:end], memory[end:]


@helper
def take_state(joint, k, own):
    """q and v of a joint as sample k has them."""
    row = joint.row
    for j in range(row.first_position, row.first_position + row.num_positions):
        own.q[j] = lane(joint.q[j], k)
    for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
        own.v[j] = lane(joint.v[j], k)


@helper
def put_change(found, k, own, nv):
    """The changes by a step of sample k."""
    for j in range(6):
        found.bias[j] = with_lane(found.bias[j], k, own.bias[j])
        for c in range(nv):
            found.S[c, j] = with_lane(found.S[c, j], k, own.S[c, j])
    for i in range(3):
        found.p[i] = with_lane(found.p[i], k, own.p[i])
        for j in range(3):
            found.R[i, j] = with_lane(found.R[i, j], k, own.R[i, j])


@helper
def changes_in_turn(space, find, joint):
    """Call find(space, joint) for each sample, and take its results from the table of changes."""
    one = space_of_one(space)
    q, v, _ = memory_of_one(one, 0)
    row = bodies(one)[joint.i]
    own = Joint(row, scratch_of(one)[joint.i], q, v, stage_of(one), one, joint.i)
    table = changes(one)
    found = changes(space)
    status = OK
    for k in range(width_of(joint.q[row.first_position])):
        take_state(joint, k, own)
        status = both(status, find(one, own))
        for j in range(row.first_step, row.first_step + row.ndx):
            put_change(found[j], k, table[j], row.num_velocities)
    return status


@helper
def numbers_in_turn(space, find, joint, size, out):
    """Call find(space, joint, out) for each sample, and take the numbers that it writes."""
    one = space_of_one(space)
    q, v, room = memory_of_one(one, size)
    row = bodies(one)[joint.i]
    own = Joint(row, scratch_of(one)[joint.i], q, v, stage_of(one), one, joint.i)
    status = OK
    for k in range(width_of(joint.q[row.first_position])):
        take_state(joint, k, own)
        status = both(status, find(one, own, room))
        for j in range(size):
            out[j] = with_lane(out[j], k, room[j])
    return status
