"""Vector-Jacobian products of forward dynamics, O(bodies): its adjoint.

A change de of the efforts of inverse dynamics changes accelerations by -M^-1 de. So adjoints of
accelerations become weights y = -M^-1 (adjoints) of efforts, by forward dynamics from rest.

y . tau is the sum of W . F over the bodies, W the twist of a body at velocities y, F the wrench
that its own motion needs. With n and a, the changes of twists and accelerations along a direction
of joint j (`mbkit.kernels.derivatives.inverse_dynamics`), and the sums over the bodies beyond it,
P of M W, Q of B^T W, and that of F,

    y . dtau = a . P + n . Q + ([W_p, D] + dS y) . F,

without the last term along velocities. As n and a are linear in D, so is this: with
r = Q + ad_Vp^T P,

    y . dtau = D . (ad_Ap^T P + ad_Vp^T r + ad_Wp^T F)            along a step, and where S changes
               + dS v . (r + ad_V^T P) + (dS vdot + d(S-dot v)) . P + dS y . F,
    y . dtau = S . (Q + ad_(V + Vp)^T P) + d(S-dot v) . P         along a velocity.

Forces add to F and to Q, and wrenches G that enter along steps alone: springs, bushings and drags
by closed forms (`springs`, `bushings`, `drags` in this package), all others that are called by dual
numbers (`forces`); fields on all bodies are part of gravity. The first line is then D . (... + G).

By inertial parameters it is the regressor contracted with W, by places of joints see
`mbkit.kernels.vector_jacobian_products.places`, by numbers of joints `joint_numbers` there. Vectors
are in the axes of the world, at the origin of the body that connects the tree with the world.
Source: derived here, from the sums of `inverse_dynamics` in another order.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper, int64, matrix
from mbkit.kernels.derivatives.articulated_columns import take_out
from mbkit.kernels.derivatives.directions import (
    depends_on_q,
    place,
    set_subspace,
    store_vector,
    twist_of_step,
    weighted_change,
)
from mbkit.kernels.derivatives.inverse_dynamics import move, own_terms
from mbkit.kernels.derivatives.rate_of_inertia import transposed_rate_times
from mbkit.kernels.explicit_integrators.uncounted_records import matrix_of
from mbkit.kernels.recursions.articulated_body import gravity
from mbkit.kernels.recursions.inertias import (
    add_articulated_shifted,
    rigid_times,
    set_rigid,
    set_turned_rigid,
)
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vector_jacobian_products.bushings import add_bushings
from mbkit.kernels.vector_jacobian_products.drags import add_drags
from mbkit.kernels.vector_jacobian_products.forces import add_called_forces
from mbkit.kernels.vector_jacobian_products.joint_numbers import add_numbers_of_joint
from mbkit.kernels.vector_jacobian_products.places import add_places_of_joint, bracket, plus
from mbkit.kernels.vector_jacobian_products.regressor import add_weighted_regressor
from mbkit.kernels.vector_jacobian_products.springs import add_springs
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    dot,
    force_bracket,
    linear,
    load,
    pairing,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import bodies, changes, scratch_of

_ZERO = (0.0, 0.0, 0.0)


class Sums(NamedTuple):
    """Memory by body of the tree, and sums over all states."""

    twists: matrix  # (bodies + 1, 6), W
    momenta: matrix  # (bodies + 1, 6), sums of M W
    turns: matrix  # (bodies + 1, 6), sums of B^T W, whose linear part is zero but for forces
    pushes: matrix  # (bodies + 1, 6), sums of G
    origins: matrix  # (bodies + 1, 3), the origin of the tree of a body
    regressor: matrix  # (frames, 10), y^T Y, its row 0 memory; none: it is not wanted
    springs: matrix  # (springs, 9), y . tau by their parameters; none: it is not wanted
    bushings: matrix  # (bushings, 62), their data, and y . tau by their parameters
    drags: matrix  # (drags, 21), the same
    places: matrix  # (bodies + 1, 12), y . tau by the places of joints; none: it is not wanted
    sites: matrix  # (sites, 6), the same by those of frames of loop joints
    numbers: int64  # NUMBERS of `mbkit.kernels.vector_jacobian_products.joint_numbers`, or 0
    called: int64  # CALLED of `mbkit.kernels.vector_jacobian_products.forces`, or 0


@helper
def sums_of(sums):
    """The same sums: see `mbkit.kernels.explicit_integrators.uncounted_records`."""
    return Sums(
        matrix_of(sums.twists), matrix_of(sums.momenta), matrix_of(sums.turns),
        matrix_of(sums.pushes), matrix_of(sums.origins), matrix_of(sums.regressor),
        matrix_of(sums.springs), matrix_of(sums.bushings), matrix_of(sums.drags),
        matrix_of(sums.places), matrix_of(sums.sites), sums.numbers, sums.called,
    )  # fmt: skip


class State(NamedTuple):
    """A state and its accelerations."""

    q: Any
    v: Any
    vdot: Any


@helper
def place_bodies(space, state, origins):
    """Poses, S, S-dot v and their changes, and inertias of bodies alone."""
    model = bodies(space)
    scratch = scratch_of(space)
    status = joint_pass(model, scratch, state.q, state.v)
    if status != OK:
        return status
    start(scratch, scale(-1.0, gravity(space, 1)))
    for i in range(1, model.shape[0]):
        body = scratch[i]
        place(model[i], body, scratch[model[i].parent], load(body.p))
        parent = model[i].parent
        if parent == 0:
            store_vector(origins[i], load(body.p))
        else:
            store_vector(origins[i], load(origins[parent]))
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
        store(sums.turns[i], transposed_rate_times(body, w, u), _ZERO)
        store(sums.pushes[i], _ZERO, _ZERO)


class Joint(NamedTuple):
    """A joint, its parent, its changes, the motion, and the sums beyond it, as pairs of tuples.

    Attributes
    ----------
    W_p : tuple
        W of the parent.
    P, F, r, G : tuple
        Sums of M W and of F; sum(B^T W) + ad_Vp^T sum(M W), the adjoint of n; sums of G.
    """

    row: Any
    body: Any
    parent: Any
    table: Any
    state: Any
    W_p: Any
    P: Any
    F: Any
    r: Any
    G: Any


@helper
def add_steps(joint, weights, out):
    """Add y . dtau along the steps of a joint."""
    row, body, parent, table, state, W_p, P, F, r, G = joint
    g = plus(plus(bracket(parent.A, P), bracket(parent.V, r)), bracket(W_p, F))
    g = subtract(g[0], G[0]), subtract(g[1], G[1])
    for k in range(row.ndx):
        j = row.first_step + k
        x, y = twist_of_step(row, body, k, table[j])
        out[j] -= dot(x, g[0]) + dot(y, g[1])
    if depends_on_q(row):
        t, f = bracket(body.V, P)
        for j in range(row.first_step, row.first_step + row.ndx):
            x, y = weighted_change(table[j], row, state.v)
            out[j] += dot(x, subtract(r[0], t)) + dot(y, subtract(r[1], f))
            x, y = weighted_change(table[j], row, state.vdot)
            out[j] += dot(x, P[0]) + dot(y, P[1])
            x, y = weighted_change(table[j], row, weights)
            out[j] += dot(x, F[0]) + dot(y, F[1])
            if row.constant == 0:
                out[j] += pairing(table[j].bias, P[0], P[1])


@helper
def add_velocities(joint, turn, out):
    """Add y . dtau along the velocities of a joint: S . (sum(B^T W) + ad_(V + Vp)^T sum(M W))."""
    row, body, parent, P = joint.row, joint.body, joint.parent, joint.P
    w = add(angular(body.V), angular(parent.V))
    u = add(linear(body.V), linear(parent.V))
    t, f = force_bracket(w, u, P[0], P[1])
    t = subtract(turn[0], t)
    f = subtract(turn[1], f)
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        out[k] += pairing(body.S[c], t, f)
        if row.constant == 0:
            out[k] += pairing(joint.table[k].bias_rate, P[0], P[1])


@helper
def add_joint(space, i, state, weights, sums, out):
    """Add y . dtau along the directions of a joint, and its sums to those of its parent."""
    by_q, by_v = out
    row = bodies(space)[i]
    body = scratch_of(space)[i]
    parent = scratch_of(space)[row.parent]
    turn = angular(sums.turns[i]), linear(sums.turns[i])
    G = angular(sums.pushes[i]), linear(sums.pushes[i])
    P = angular(sums.momenta[i]), linear(sums.momenta[i])
    F = angular(body.F), linear(body.F)
    t, f = bracket(parent.V, P)
    r = subtract(turn[0], t), subtract(turn[1], f)
    table = changes(space)
    joint = Joint(row, body, parent, table, state, sums.twists[row.parent], P, F, r, G)
    add_steps(joint, weights, by_q)
    add_velocities(joint, turn, by_v)
    if sums.numbers != 0:
        add_numbers_of_joint(sums.numbers, joint, i, weights)
    if sums.places.shape[0] != 0:
        add_places_of_joint(scratch_of(space), row, i, (P, F, turn, G), sums)
    if row.parent != 0:
        accumulate(parent.F, F[0], F[1])
        accumulate(sums.momenta[row.parent], P[0], P[1])
        accumulate(sums.turns[row.parent], turn[0], turn[1])
        accumulate(sums.pushes[row.parent], G[0], G[1])


@helper
def back_through_dynamics(space, state, adjoints, weights, sums, out):
    """Weights of efforts from adjoints of accelerations; y . dtau by q and v is added.

    Reads   model, state (q, v, vdot), adjoints (nv,).
    Writes  scratch, changes, weights (nv,), sums; out, a pair: by q (ndx,), by v (nv,).
    """
    model = bodies(space)
    scratch = scratch_of(space)
    status = place_bodies(space, state, sums.origins)
    if status == OK:
        status = weigh(space, adjoints, weights, sums.twists)
    if status != OK:
        return status
    set_own(model, scratch, state, sums)
    add_springs(space, sums)
    add_bushings(space, sums)
    add_drags(space, sums)
    status = add_called_forces(space, state, weights, sums, out)
    if status != OK:
        return status
    add_joints(space, state, weights, sums, out)
    add_inertias(space, sums)
    return OK


@helper
def add_joints(space, state, weights, sums, out):
    """Add y . dtau by q and v to `out`, a pair, from the terms of each body alone."""
    for i in range(bodies(space).shape[0] - 1, 0, -1):
        add_joint(space, i, state, weights, sums, out)


@helper
def add_inertias(space, sums):
    """Add y . dtau by inertial parameters, where it is wanted."""
    if sums.regressor.shape[0] != 0:
        add_weighted_regressor(space, sums.twists, sums.regressor)
