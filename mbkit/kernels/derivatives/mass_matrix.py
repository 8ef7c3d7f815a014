"""Derivatives of the mass matrix along the steps of the configuration.

In the axes of the world, with M_j the inertia of all bodies beyond joint j,

    M_ij = S_i . M_j S_j,   j beyond i.

A step along D of joint k moves all bodies beyond it as one, so that M_k changes by N, its rate at
the twist D, and twists S of joints beyond k by [D, S]. dS is what S changes by in the axes of its
body, zero for most joints. For two velocities of joints i and j, j beyond i or i itself,

    dM_ij = S_i . N S_j                              for k beyond j,
    dM_ij = [S_i, D] . M_j S_j                       for k beyond i and not beyond j, or k = j,

and zero else; where k = i or k = j, dS_i . M_j S_j or S_i . M_j dS_j comes to it.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.derivatives.directions import depends_on_q, place, set_subspace, twist_of_step
from mbkit.kernels.derivatives.rate_of_inertia import (
    rate_of_first_moment,
    rate_of_moment,
    rate_times,
)
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions
from mbkit.kernels.recursions.inertias import add_rigid, rigid_times, set_moved_rigid
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import angular, force_bracket, linear, load, pairing
from mbkit.kernels.workspace import at_rest, bodies, changes, scratch_of

_ZERO = (0.0, 0.0, 0.0)


class Tree(NamedTuple):
    """Bodies of the tree, their scratch, the changes of joints, and dM (nv, nv, ndx)."""

    model: Any
    scratch: Any
    changes: Any
    out: Any


@helper
def add_entry(out, i, j, k, x):
    """dM_ij and dM_ji += x."""
    out[i, j, k] += x
    if i != j:
        out[j, i, k] += x


@helper
def steps_beyond(tree, k):
    """S_i . N S_j for all i and j between joint k and the world."""
    model, scratch, changes, _ = tree
    row = model[k]
    body = scratch[k]
    for n in range(row.ndx):
        w, u = twist_of_step(row, body, n, changes[row.first_step + n])
        X = rate_of_moment(body, w, u)
        m = rate_of_first_moment(body, w, u)
        j = row.parent
        while j != 0:
            for c in range(model[j].num_velocities):
                S = scratch[j].S[c]
                t, f = rate_times(X, m, angular(S), linear(S))
                column(tree, j, c, row.first_step + n, (t, f))
            j = model[j].parent


@helper
def column(tree, j, c, step, wrench):
    """dM_ij = S_i . (t, f), j the velocity c of a joint, i those of it and on the way to the world.

    Of one joint each pair of velocities is written once.
    """
    model, scratch, _, out = tree
    t, f = wrench
    velocity = model[j].first_velocity + c
    for a in range(c + 1):
        add_entry(out, model[j].first_velocity + a, velocity, step, pairing(scratch[j].S[a], t, f))
    add_inwards(tree, j, velocity, step, wrench)


@helper
def add_inwards(tree, i, velocity, step, wrench):
    """S . (t, f) for all velocities S between joint i and the world."""
    model, scratch, _, out = tree
    t, f = wrench
    i = model[i].parent
    while i != 0:
        for a in range(model[i].num_velocities):
            first = model[i].first_velocity
            add_entry(out, first + a, velocity, step, pairing(scratch[i].S[a], t, f))
        i = model[i].parent


@helper
def turned_round(tree, i, step, D, velocity, wrench):
    """[S, D] . (t, f) for all velocities S between joint i and the world."""
    turned = force_bracket(D[0], D[1], wrench[0], wrench[1])
    add_inwards(tree, i, velocity, step, turned)


@helper
def own_change(tree, i, velocity, wrench):
    """dS_i . (t, f) for the steps and velocities of joint i, which is not that of `velocity`."""
    model, _, changes, out = tree
    t, f = wrench
    row = model[i]
    for k in range(row.first_step, row.first_step + row.ndx):
        for a in range(row.num_velocities):
            x = pairing(changes[k].S[a], t, f)
            add_entry(out, row.first_velocity + a, velocity, k, x)


@helper
def change_of_column(tree, j):
    """The steps of joint j for its own columns, that change in its body."""
    model, scratch, changes, out = tree
    row = model[j]
    body = scratch[j]
    first = row.first_velocity
    for k in range(row.first_step, row.first_step + row.ndx):
        for c in range(row.num_velocities):
            dS = changes[k].S[c]
            t, f = rigid_times(body, angular(dS), linear(dS))
            for a in range(row.num_velocities):
                x = pairing(body.S[a], t, f)
                out[first + a, first + c, k] += x
                out[first + c, first + a, k] += x
            add_inwards(tree, j, first + c, k, (t, f))


@helper
def columns_of_joint(tree, j):
    """The steps of joint j and of those between it and the world, for the columns of j."""
    model, scratch, changes, _ = tree
    row = model[j]
    body = scratch[j]
    for c in range(row.num_velocities):
        U = rigid_times(body, angular(body.S[c]), linear(body.S[c]))
        velocity = row.first_velocity + c
        k = j
        while k != 0:
            other = model[k]
            for n in range(other.ndx):
                step = other.first_step + n
                D = twist_of_step(other, scratch[k], n, changes[step])
                turned_round(tree, k, step, D, velocity, U)
            if k != j and depends_on_q(other):
                own_change(tree, k, velocity, U)
            k = other.parent
    if depends_on_q(row):
        change_of_column(tree, j)


@address_kernel(EVALUATION)
def mass_matrix_derivatives(space, _option, q, _v, _x, out):
    """dM by steps, out (nv, nv, ndx).

    Reads   model, q.
    Writes  scratch, changes. Cost: O(nv depth^2), beside the zeros.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    nv = model[0].num_velocities
    ndx = model[0].ndx
    q = positions(model, q)
    rest = at_rest(space)
    status = joint_pass(model, scratch, q, rest)
    if status != OK:
        return status
    start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        body = scratch[i]
        place(model[i], body, scratch[model[i].parent], load(body.p))
        if set_subspace(space, i, q, rest) != OK:
            return failure(JOINT_FAILED, i)
        set_moved_rigid(model[i], body.world_R, body.world_p, body)
    every = as_matrix(out, 1, nv * nv * ndx)[0]
    every[:] = 0.0
    tree = Tree(model, scratch, changes(space), every.reshape((nv, nv, ndx)))
    for j in range(model.shape[0] - 1, 0, -1):
        columns_of_joint(tree, j)
        if model[j].parent != 0:
            steps_beyond(tree, j)
            add_rigid(scratch[j], scratch[model[j].parent])
    return OK
