"""Weights times the derivatives of dynamics, O(bodies): the adjoint of forward dynamics.

A change de of the efforts that inverse dynamics finds changes accelerations by -M^-1 de. Adjoints
of accelerations are weights y = -M^-1 (adjoints) of efforts: forward dynamics from rest.

y . tau is the sum of W . F over the bodies, W their twists where velocities are y, F the wrench
that a body alone needs. With n and a, by which a direction D of joint j changes twists and
accelerations (`mbkit.kernels.derivatives.inverse_dynamics`), and the sums over the bodies beyond
it of M W, of B^T W and of F,

    y . dtau = a . sum(M W) + n . sum(B^T W) + ([W_p, D] + dS y) . sum(F),

without the last term along velocities. By inertial parameters it is the regressor contracted with
W. All is in the axes of the world, at the origin of the body that the tree hangs on the world by.
Source: derived here, from the sums of `inverse_dynamics` in another order.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper, matrix
from mbkit.kernels.derivatives.articulated_columns import take_out
from mbkit.kernels.derivatives.directions import (
    depends_on_q,
    place,
    set_subspace,
    store_vector,
    twist_of_step,
    weighted_change,
)
from mbkit.kernels.derivatives.inverse_dynamics import (
    Moving,
    changes_of_step,
    move,
    own_terms,
    push_of_velocity,
)
from mbkit.kernels.derivatives.rate_of_inertia import transposed_rate_times
from mbkit.kernels.recursions.inertias import (
    add_articulated_shifted,
    rigid_times,
    set_rigid,
    set_turned_rigid,
)
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.sensitivities.weighted_regressor import add_weighted_regressor
from mbkit.kernels.space import bodies, changes, directions, scratch_of
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
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)


class Sums(NamedTuple):
    """Memory by row of the tree, and what is summed over all states."""

    twists: matrix  # (rows, 6), W
    momenta: matrix  # (rows, 6), sums of M W
    turns: matrix  # (rows, 3), sums of B^T W, their angular part; the linear one is zero
    regressor: matrix  # (frames, 10), y^T Y, its row 0 memory; none: it is not wanted


class State(NamedTuple):
    """A state and its accelerations."""

    q: Any
    v: Any
    vdot: Any


@helper
def place_bodies(space, state):
    """Poses, S, S-dot v and their changes, and inertias of bodies alone."""
    model = bodies(space)
    scratch = scratch_of(space)
    status = joint_pass(model, scratch, state.q, state.v)
    if status != OK:
        return status
    start(scratch, scale(-1.0, load(model[0].gravity)))
    for i in range(1, model.shape[0]):
        body = scratch[i]
        place(model[i], body, scratch[model[i].parent], load(body.p))
        if set_subspace(space, i, state.q, state.v) != OK:
            return failure(JOINT_FAILED, i)
        set_turned_rigid(model[i], body.world_R, body)
        set_rigid(body, body)
        store(body.F, _ZERO, _ZERO)
    return OK


@helper
def weigh(space, adjoints, weights, twists):
    """weights = -M^-1 adjoints, and W. Needs `place_bodies`."""
    model = bodies(space)
    scratch = scratch_of(space)
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        for c in range(row.num_velocities - 1, -1, -1):
            k = row.first_velocity + c
            status = take_out(body, scratch[k], c, k)
            if status != OK:
                return status
            column = scratch[k]
            column.u = -adjoints[k] - pairing(body.S[c], angular(body.F), linear(body.F))
            a = column.D * column.u
            accumulate(body.F, scale(a, angular(column.U)), scale(a, linear(column.U)))
        if row.parent != 0:
            parent = scratch[row.parent]
            accumulate(parent.F, angular(body.F), linear(body.F))
            add_articulated_shifted(
                body, subtract(load(body.world_p), load(parent.world_p)), parent
            )
    twists[0, :] = 0.0
    for i in range(1, model.shape[0]):
        row = model[i]
        w = angular(twists[row.parent])
        u = linear(twists[row.parent])
        for c in range(row.num_velocities):
            k = row.first_velocity + c
            a = scratch[k].D * (scratch[k].u - pairing(scratch[k].U, w, u))
            weights[k] = a
            w = add(w, scale(a, angular(scratch[i].S[c])))
            u = add(u, scale(a, linear(scratch[i].S[c])))
        store(twists[i], w, u)
    return OK


@helper
def set_own(model, scratch, state, sums):
    """Motion, and the terms of each body alone."""
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        move(row, body, scratch[row.parent], state.v, state.vdot)
        own_terms(row, body, 0)
        w = angular(sums.twists[i])
        u = linear(sums.twists[i])
        t, f = rigid_times(body, w, u)
        store(sums.momenta[i], t, f)
        store_vector(sums.turns[i], transposed_rate_times(body, w, u))


@helper
def add_steps(moving, table, W, weights, sums, out):
    """Add y . dtau along the steps of a joint; `sums` are those of its row."""
    row, body = moving.row, moving.body
    momentum, turn = sums
    for k in range(row.ndx):
        j = row.first_step + k
        w, _, a, b = changes_of_step(moving, k, table[j])
        D = twist_of_step(row, body, k, table[j])
        x, y = motion_bracket(angular(W), linear(W), D[0], D[1])
        if depends_on_q(row):
            t, f = weighted_change(table[j], row, weights)
            x = add(x, t)
            y = add(y, f)
        out[j] += pairing(momentum, a, b) + dot(load(turn), w) + pairing(body.F, x, y)


@helper
def add_velocities(moving, directions, table, sums, out):
    """Add y . dtau along the velocities of a joint."""
    row, body, parent = moving.row, moving.body, moving.parent
    momentum, turn = sums
    x = subtract(angular(body.V), angular(parent.V)), subtract(linear(body.V), linear(parent.V))
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        push_of_velocity(row, body, body.S[c], directions[k], table[k], x)
        rate = directions[k].rate
        out[k] += pairing(momentum, angular(rate), linear(rate))
        out[k] += dot(load(turn), angular(body.S[c]))


@helper
def back_through_dynamics(space, state, adjoints, weights, sums, by_q, by_v):
    """Weights of efforts from adjoints of accelerations; y . dtau by q and v is added.

    Reads   model, state (q, v, vdot), adjoints (nv,).
    Writes  scratch, directions, changes, weights (nv,), sums; by_q (ndx,), by_v (nv,).
    """
    model = bodies(space)
    scratch = scratch_of(space)
    table = changes(space)
    memory = directions(space)
    status = place_bodies(space, state)
    if status == OK:
        status = weigh(space, adjoints, weights, sums.twists)
    if status != OK:
        return status
    set_own(model, scratch, state, sums)
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        moving = Moving(row, body, scratch[row.parent], state.v, state.vdot)
        own = sums.momenta[i], sums.turns[i]
        add_steps(moving, table, sums.twists[row.parent], weights, own, by_q)
        add_velocities(moving, memory, table, own, by_v)
        if row.parent != 0:
            accumulate(scratch[row.parent].F, angular(body.F), linear(body.F))
            accumulate(sums.momenta[row.parent], angular(own[0]), linear(own[0]))
            for j in range(3):
                sums.turns[row.parent, j] += own[1][j]
    if sums.regressor.shape[0] != 0:
        add_weighted_regressor(space, sums.twists, sums.regressor)
    return OK
