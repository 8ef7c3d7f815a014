"""Joints whose motion is a function of time, in the equations of motion of a time loop.

They take q and v from their function wherever the equations are evaluated, and at the end of each
step; vdot of the others follows by hybrid dynamics.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.evaluation_form import EVALUATION
from mbkit.kernels.layout import (
    DONE,
    DRIVE_CALLBACK,
    DRIVE_DYNAMICS,
    DRIVE_NUM_POSITIONS,
    DRIVE_NUM_VELOCITIES,
    DRIVE_SIZE,
    DRIVE_TIME,
    PENDING,
    SLOT_STATUS,
    SPACE,
)
from mbkit.kernels.status import MOTION_FAILED, OK, failure
from mbkit.kernels.workspace import bodies, scratch_of


@helper
def drive(space, t, q, v):
    """Write q and v of the prescribed joints at t; nothing where there are none."""
    record = records_at(space, 1, SPACE)[0]
    if record.drive == 0:
        return OK
    return call_address(record.drive, (record.drive_slot, t, q, v))


@helper
def vectors(slot, nv):
    """Known tau, vdot and mask (3 nv), found tau and vdot (2 nv), which stand behind the rest."""
    head = floats_at(slot, DRIVE_SIZE)
    start = DRIVE_SIZE + 2 * int(head[DRIVE_NUM_POSITIONS]) + 2 * int(head[DRIVE_NUM_VELOCITIES])
    return floats_at(slot, start + 5 * nv)[start:]


@address_kernel("idpp")
def motion(slot, t, q, v):
    """Call back with the slot's address; copy positions and velocities to their places."""
    head = floats_at(slot, DRIVE_SIZE)
    nq = int(head[DRIVE_NUM_POSITIONS])
    nv = int(head[DRIVE_NUM_VELOCITIES])
    head[DRIVE_TIME] = t
    head[SLOT_STATUS] = PENDING
    call_address(int(head[DRIVE_CALLBACK]), (slot,))
    if head[SLOT_STATUS] != DONE:
        return failure(MOTION_FAILED, 0)
    memory = floats_at(slot, DRIVE_SIZE + 2 * nq + 2 * nv)[DRIVE_SIZE:]
    for j in range(nq):
        q[int(memory[j])] = memory[nq + j]
    for j in range(nv):
        v[int(memory[2 * nq + j])] = memory[2 * nq + nv + j]
    return OK


@address_kernel(EVALUATION)
def driven_dynamics(space, option, q, v, tau, vdot):
    """The forward dynamics of the free joints; the others have vdot of the last `drive`."""
    record = records_at(space, 1, SPACE)[0]
    nv = bodies(space)[0].num_velocities
    memory = vectors(record.drive_slot, nv)
    assign(memory[:nv], as_array(tau, nv))
    head = floats_at(record.drive_slot, DRIVE_SIZE)
    known = memory[: 3 * nv]
    found = memory[3 * nv :]
    status = call_address(int(head[DRIVE_DYNAMICS]), (space, option, q, v, known, found))
    assign(as_array(vdot, nv), found[nv:])
    return status


@helper
def add_driving_efforts(space):
    """Add the efforts of drives against constraints, which are in u of the velocities."""
    record = records_at(space, 1, SPACE)[0]
    if record.drive != 0:
        scratch = scratch_of(space)
        nv = bodies(space)[0].num_velocities
        memory = vectors(record.drive_slot, nv)
        for k in range(nv):
            if memory[2 * nv + k] != 0.0:
                memory[3 * nv + k] += scratch[k].u


@helper
def driving_power(space, v):
    """Power of the drives: the forces found, less those applied, times v."""
    record = records_at(space, 1, SPACE)[0]
    if record.drive == 0:
        return 0.0
    nv = v.shape[0]
    memory = vectors(record.drive_slot, nv)
    power = 0.0
    for k in range(nv):
        if memory[2 * nv + k] != 0.0:
            power += (memory[3 * nv + k] - memory[k]) * v[k]
    return power
