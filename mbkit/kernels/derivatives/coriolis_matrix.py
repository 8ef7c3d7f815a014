"""The Coriolis matrix C(q, v): C v are the velocity terms of M vdot + b, and dM/dt = C + C^T.

In the axes of the world, at a place at rest, with the columns S of all joints,

    C_ab = sum_l S_a . (M_l dS_b/dt + 1/2 B_l S_b)      over the bodies l that both a and b move.

M_l is the inertia of a body and B_l its rate but for a skew part
(`mbkit.kernels.derivatives.rate_of_inertia`). Because B_l V_l = -ad_V^T M V, C v is what inverse
dynamics has; because B_l + B_l^T is twice the rate of M_l, C + C^T is dM/dt. With the sums M and B
over the bodies beyond joint j, and a joint i between it and the world,

    C_ij = S_i . F_j,   F_j = M dS_j/dt + 1/2 B S_j,
    C_ji = U_j . dS_i/dt + b_j . S_i,   U_j = M S_j,   b_j = 1/2 B^T S_j,

which is the form of `mbkit.kernels.derivatives.branches`.

A column that is constant in its body moves with it: dS/dt = [V, S]. One that is constant in the
body nearer to the world moves with that. Else its own rate in the body is added.

C is one factor of many. This one is the Levi-Civita connection of the kinetic energy along v: the
Christoffel symbols of the first kind times v where v is the rate of coordinates, and with the terms
of Boltzmann and Hamel where it is not.

Sources: the Christoffel form of Mueller 2018, section 6, corrected: (84) gives another C, for which
dM/dt - 2 C is not skew; Echeandia, Wensing 2021 (Numerical methods to compute the Coriolis matrix
and Christoffel symbols for rigid-body systems).
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import address_kernel, as_array, floats_at, helper, records_at
from mbkit.kernels.derivatives.branches import (
    branches_in,
    branches_size,
    height_of,
    motion_numbers,
    push,
    row_of,
    set_end,
    set_row,
    set_wrench,
    span_of,
    spans_in,
    spans_size,
    velocity_of_direction,
)
from mbkit.kernels.derivatives.directions import place
from mbkit.kernels.derivatives.joints.joint import Joint, stage_of
from mbkit.kernels.derivatives.joints.joint_changes import along_motion, to_world
from mbkit.kernels.derivatives.rate_of_inertia import (
    add_inertia_and_rate,
    changed_wrench,
    set_inertia_and_rate,
    transposed_rate_times,
)
from mbkit.kernels.evaluation_form import EVALUATION, positions, velocities
from mbkit.kernels.layout import SPACE
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.inertias import rigid_times
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.spatial.operators import move_subspace
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    linear,
    load,
    motion_bracket,
    scale,
    store,
)
from mbkit.kernels.workspace import bodies, changes, directions, scratch_of

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
        joint = Joint(row, body, q, v, stage_of(space), space, i)
        if row.constant == 0 and along_motion(joint, change) != OK:
            return failure(JOINT_FAILED, i)
        move_subspace(row, body)
        w, u = joint_sum(row, body, v)
        store(body.V, add(angular(parent.V), w), add(linear(parent.V), u))
        set_rates(row, body, parent, memory, change)
        set_inertia_and_rate(row, body)
    return OK


class Tree(NamedTuple):
    """Bodies of the tree, their scratch, the changes by each velocity, and the directions of C."""

    model: Any
    scratch: Any
    directions: Any
    branches: Any
    spans: Any


@helper
def tree_of(space, model):
    """The tree, with its memory."""
    size = branches_size(model[0].ndx)
    address = records_at(space, 1, SPACE)[0].columns
    memory = floats_at(address, size + spans_size(model.shape[0]))
    branches = branches_in(memory[:size])
    spans = spans_in(model, memory[size:])
    return Tree(model, scratch_of(space), directions(space), branches, spans)


@helper
def push_joint(tree, i):
    """dS/dt and S of joint i come to the stack."""
    row = tree.model[i]
    S = tree.scratch[i].S
    for k in range(row.ndx):
        j = velocity_of_direction(row, k)
        w = angular(S[j - row.first_velocity])
        numbers = motion_numbers(tree.directions[j].rate, w)
        push(tree.branches.stack, height_of(tree.spans, i) + k, numbers, j)


@helper
def rows_of_joint(tree, i, first, C):
    """The rows of joint i, whose directions begin at `first`; F_i for those towards the world."""
    row = tree.model[i]
    body = tree.scratch[i]
    span = span_of(tree.spans, row, i, first)
    nv = tree.model[0].num_velocities
    for c in range(row.num_velocities):
        S = body.S[c]
        U = rigid_times(body, angular(S), linear(S))
        b = scale(0.5, transposed_rate_times(body, angular(S), linear(S)))
        set_row(tree.branches, span, S, U, b, row_of(C, row.first_velocity + c, nv))
    if row.parent != 0:
        for k in range(row.ndx):
            j = velocity_of_direction(row, k)
            w = angular(body.S[j - row.first_velocity])
            t, f = changed_wrench(body, scale(0.5, w), tree.directions[j].rate)
            set_wrench(tree.branches, first + k, t, f, j)


@address_kernel(EVALUATION)
def coriolis_matrix(space, _option, q, v, _x, out):
    """C(q, v), out (nv, nv), with zeros between bodies of different branches.

    Reads   model, q, v.
    Writes  scratch, directions, changes, columns. Cost: O(nv depth), beside the zeros.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    nv = model[0].num_velocities
    q = positions(model, q)
    v = velocities(model, v)
    status = joint_pass(model, scratch, q, v)
    if status == OK:
        status = outward(space, q, v)
    if status != OK:
        return status
    C = as_array(out, nv * nv)
    C[:] = 0.0
    tree = tree_of(space, model)
    end = model[0].ndx
    pushed = 0  # this body and those between it and the world are on the stack
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        j = i
        while j != pushed:
            push_joint(tree, j)
            set_end(tree.spans, j, end)
            j = model[j].parent
        end -= row.ndx
        rows_of_joint(tree, i, end, C)
        if row.parent != 0:
            add_inertia_and_rate(scratch[i], scratch[row.parent])
        pushed = row.parent
    return OK
