"""The Coriolis matrix C(q, v): C v are the velocity terms of M vdot + b, and dM/dt = C + C^T.

In the axes of the world, at a place at rest, with the columns S of all joints,

    C_ab = sum_l S_a . (M_l dS_b/dt + 1/2 B_l S_b)      over the bodies l that both a and b move.

M_l is the inertia of a body and B_l its rate but for a skew part
(`mbkit.kernels.derivatives.rate_of_inertia`). Because B_l V_l = -ad_V^T M V, C v is what inverse
dynamics has; because B_l + B_l^T is twice the rate of M_l, C + C^T is dM/dt. With the sums M and B
over the bodies beyond joint j, and a joint i between it and the world,

    C_ij = S_i . F_j,   F_j = M dS_j/dt + 1/2 B S_j,
    C_ji = U_j . dS_i/dt + b_j . S_i,   U_j = M S_j,   b_j = 1/2 B^T S_j.

A column that is constant in its body moves with it: dS/dt = [V, S]. One that is constant in the
body nearer to the world moves with that. Else its own rate in the body is added.

C is one factor of many. This one is the Levi-Civita connection of the kinetic energy along v: the
Christoffel symbols of the first kind times v where v is the rate of coordinates, and with the terms
of Boltzmann and Hamel where it is not.

Sources: the Christoffel form of Mueller 2018, section 6, corrected: (84) gives another C, for which
dM/dt - 2 C is not skew; Echeandia, Wensing 2021 (Numerical methods to compute the Coriolis matrix
and Christoffel symbols for rigid-body systems).
"""

from mbkit.kernels.compile import address_kernel, floats_at, helper, integers_at, records_at
from mbkit.kernels.derivatives.directions import place, store_vector
from mbkit.kernels.derivatives.joint_changes import Joint, along_motion, to_world
from mbkit.kernels.derivatives.rate_of_inertia import (
    add_inertia_and_rate,
    changed_wrench,
    set_inertia_and_rate,
    transposed_rate_times,
)
from mbkit.kernels.evaluation import EVALUATION, positions, rows, velocities
from mbkit.kernels.layout import SPACE, STAGE_SIZE
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.inertias import rigid_times
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.space import bodies, changes, directions, scratch_of, trials
from mbkit.kernels.spatial.steps import move_subspace
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    dot,
    linear,
    load,
    motion_bracket,
    pairing,
    scale,
    store,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def set_rates(row, body, parent, memory, change):
    """S and dS/dt of each velocity of a joint that is placed, its own rate of S in `change`."""
    carrier = parent if row.constant != 0 and row.reversed != 0 else body
    w = angular(carrier.V)
    u = linear(carrier.V)
    for c in range(row.num_velocities):
        direction = memory[row.first_velocity + c]
        x = angular(body.S[c])
        y = linear(body.S[c])
        a, b = motion_bracket(w, u, x, y)
        store(direction.rate, a, b)
        if row.constant == 0:
            to_world(change.S[c], body.world_R, body.world_p)
            accumulate(direction.rate, angular(change.S[c]), linear(change.S[c]))


@helper
def outward(space, q, v):
    """V = V_p + S v, columns and their rates, and inertias with theirs."""
    model = bodies(space)
    scratch = scratch_of(space)
    memory = directions(space)
    cold = changes(space)
    start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        parent = scratch[row.parent]
        change = cold[row.first_step]
        place(row, body, parent, load(body.p))
        if row.constant == 0:
            stage = floats_at(scratch[0].slot, STAGE_SIZE)
            if along_motion(Joint(row, body, q, v, stage), trials(space), change) != OK:
                return failure(JOINT_FAILED, i)
        move_subspace(row, body)
        w, u = joint_sum(row, body, v)
        store(body.V, add(angular(parent.V), w), add(linear(parent.V), u))
        set_rates(row, body, parent, memory, change)
        set_inertia_and_rate(row, body)
    return OK


@helper
def set_columns(row, body, memory, columns):
    """The columns of a joint, with M and B of all bodies beyond it.

    They lie where the changes of joints were, which are of no use once all dS/dt are known: F in
    `bias`, U in `bias_rate`, b in `p`.
    """
    for c in range(row.num_velocities):
        column = columns[c]
        x = angular(body.S[c])
        y = linear(body.S[c])
        t, f = changed_wrench(body, scale(0.5, x), memory[row.first_velocity + c].rate)
        store(column.bias, t, f)
        t, f = rigid_times(body, x, y)
        store(column.bias_rate, t, f)
        store_vector(column.p, scale(0.5, transposed_rate_times(body, x, y)))


@helper
def set_entries(row, body, memory, columns, velocity_of, C):
    """C_ij and C_ji of a joint i with all joints j beyond it, and itself."""
    for c in range(row.num_velocities):
        i = row.first_velocity + c
        x = angular(body.S[c])
        y = linear(body.S[c])
        w = angular(memory[i].rate)
        u = linear(memory[i].rate)
        C[i, :] = 0.0
        for k in range(velocity_of.shape[0]):
            j = velocity_of[k]
            column = columns[k]
            C[i, j] = pairing(column.bias, x, y)
            C[j, i] = pairing(column.bias_rate, w, u) + dot(load(column.p), x)


@address_kernel(EVALUATION)
def coriolis_matrix(space, _option, q, v, _x, out):
    """C(q, v), out (nv, nv), with zeros between bodies of different branches.

    Reads   model, q, v.
    Writes  scratch, directions, changes. Cost: O(nv depth), beside the zeros.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    memory = directions(space)
    record = records_at(space, 1, SPACE)[0]
    nv = model[0].num_velocities
    q = positions(model, q)
    v = velocities(model, v)
    status = joint_pass(model, scratch, q, v)
    if status == OK:
        status = outward(space, q, v)
    if status != OK:
        return status
    C = rows(out, nv, nv)
    columns = changes(space)
    velocity_of = integers_at(record.velocity_of_column, nv)
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        beyond = columns[row.first_column : row.end_column]
        set_columns(row, scratch[i], memory, beyond)
        set_entries(
            row, scratch[i], memory, beyond, velocity_of[row.first_column : row.end_column], C
        )
        if row.parent != 0:
            add_inertia_and_rate(scratch[i], scratch[row.parent])
    return OK
