"""Vector-Jacobian products of forces in Python: a Python method is called once a state.

It gets the arguments of the force and the weights, and returns the derivatives of

    psi = -sum W . Y - tau . y

by its joints, and H, G and E of its bodies: see `forces` in this package.
"""

from mbkit.kernels.compile import at, call_address, floats_at, helper, integers_at
from mbkit.kernels.forces.form import force_rows
from mbkit.kernels.forces.python_force import copy_in
from mbkit.kernels.layout import (
    DONE,
    JOINT_NUM_VELOCITIES,
    JOINT_SIZE,
    JOINT_VELOCITY,
    OWN_NUM_POSITIONS,
    OWN_NUM_VELOCITIES,
    OWN_VECTORS,
    PENDING,
    SLOT_STATUS,
)
from mbkit.kernels.status import FORCE_FAILED, OK, failure
from mbkit.kernels.workspace import bodies, sites

#: Entries of the memory of a force, after SLOT_STATUS: the address of the function, the time.
#: From `ARGUMENTS` on q, v, poses and twists as in its slot (OWN_VECTORS); y of its joints and
#: Y (6,) of each of its bodies; how positions move along steps, (nq, ndx), where some steps do not
#: add. Results: derivatives by the steps and velocities of its joints, H, G and E of its bodies.
ASKED = 1
TIME = 2
ARGUMENTS = 3


@helper
def put_sites(table, which, own):
    """Copy the poses and twists that `forces` has found to the bodies of a force."""
    for b in range(own.shape[0]):
        site = table[which[b]]
        for i in range(3):
            for j in range(3):
                site.R[i, j] = own[b].R[i, j]
            site.p[i] = own[b].p[i]
        for j in range(6):
            site.V[j] = own[b].V[j]


@helper
def put_weights(row, weights, own, out):
    """Write y of the joints of a force and Y of its bodies; return how many numbers these are."""
    entries = integers_at(row.joints, JOINT_SIZE * row.num_joints)
    k = 0
    for i in range(row.num_joints):
        first = entries[JOINT_SIZE * i + JOINT_VELOCITY]
        for j in range(first, first + entries[JOINT_SIZE * i + JOINT_NUM_VELOCITIES]):
            out[k] = weights[j]
            k += 1
    for b in range(row.num_bodies):
        for j in range(6):
            out[k] = own[b].Y[j]
            k += 1
    return k


@helper
def add_to_joints(model, rows, slopes, by_q, by_v):
    """Add derivatives by the steps of some joints, and behind them by their velocities."""
    k = 0
    for i in rows:
        row = model[i]
        for j in range(row.first_step, row.first_step + row.ndx):
            by_q[j] += slopes[k]
            k += 1
    for i in rows:
        row = model[i]
        for j in range(row.first_velocity, row.first_velocity + row.num_velocities):
            by_v[j] += slopes[k]
            k += 1


@helper
def steps_of(model, rows):
    """How many steps some joints have, and whether some do not add to positions."""
    count = 0
    turns = False
    for i in rows:
        count += model[i].ndx
        turns = turns or model[i].retract != 0
    return count, turns


@helper
def ask_force(space, called, force, own, state, weights, out):
    """E, G and H of the bodies of a force in Python, `own`; derivatives by joints added to out.

    called: the record of all, its address, and the number of the force there.
    """
    by_q, by_v = out
    record, address, n = called
    model = bodies(space)
    row = force_rows(space)[force.force]
    nb = row.num_bodies
    put_sites(sites(space), integers_at(row.bodies, nb), own)
    memory = copy_in(space, force.force, record.time, at(state.q, 0), at(state.v, 0), True)
    nq = int(memory[OWN_NUM_POSITIONS])
    nv = int(memory[OWN_NUM_VELOCITIES])
    rows = integers_at(force.rows, force.num_rows)
    nx, turns = steps_of(model, rows)
    count = nq + nv + 22 * nb
    said = floats_at(force.said, ARGUMENTS + count + nq * nx + nx + 2 * nv + 24 * nb)
    said[TIME] = record.time
    for j in range(count):
        said[ARGUMENTS + j] = memory[OWN_VECTORS + j]
    count += ARGUMENTS
    count += put_weights(row, weights, own, said[count:])
    if turns:
        moves = said[count : count + nq * nx]
        status = call_address(record.moves_of_positions, (record.space, address, n, moves))
        if status != OK:
            return status
    said[SLOT_STATUS] = PENDING
    call_address(int(said[ASKED]), (force.said,))
    if said[SLOT_STATUS] != DONE:
        return failure(FORCE_FAILED, force.force)
    slopes = said[count + nq * nx :]
    for b in range(nb):
        for j in range(6):
            own[b].H[j] = slopes[nx + nv + 6 * b + j]
            own[b].G[j] = slopes[nx + nv + 6 * (nb + b) + j]
            own[b].E[j] = slopes[nx + nv + 6 * (2 * nb + b) + j]
    add_to_joints(model, rows, slopes, by_q, by_v)
    return OK
