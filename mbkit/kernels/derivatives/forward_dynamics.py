"""Derivatives of forward and hybrid dynamics (ABA) with respect to configuration, velocity, forces.

The changes n of twist and a of acceleration along a direction of joint j are those of
`mbkit.kernels.derivatives.inverse_dynamics`: at accelerations that stay what they are, the wrench
of a body beyond j changes by M a + B n. With dA the changes of acceleration from dvdot alone, the
articulated body of i answers this as it answers any bias wrench,

    u_i = -(U_i . a + b_i . n),                 for i beyond j,
    u_j = -(U_j . a + b_j . n + dS . F_j),
    u_i = -S_i . dP,                            for i between j and the world,
    dvdot_i = D_i (u_i - U_i . dA_p),   dA_i = dA_p + S_i dvdot_i,

with S, U = I S and D = 1 / S.U of the articulated-body algorithm, b = G^T S, and G, what B becomes
of all bodies beyond a joint when these give way, by the same recursion as I:

    G_p += (1 - U D S^T) G,   G = B of a body alone.

dP begins with I a + G n - ad_D^T F_j, I and G less the columns of joint j, and on its way inwards
dP += U_i D_i u_i. Along a force of joint j only u_j = 1, and dP = U_j D_j.

So neither the derivatives of inverse dynamics nor M^-1 are needed before: of O(nv depth) entries u
each is one product, and the last pass carries all columns outwards side by side, 12 multiplications
an entry where products with M^-1 would take nv. It finds D u in the place of its results. Beyond
joint j the last pass adds a to dA, so that only -b_i . n is left of u_i there. At the tips it stops
at dvdot. The columns of forces, M^-1, are symmetric: entries before the diagonal are copied, where
the velocities of joints come after those of the joints between them and the world.

Where vdot is prescribed, the column of a joint stays in the articulated body and gives no way:
D = 0 on the way inwards. Its force follows from the same u,

    dtau_i = U_i . dA_p - u_i,

and the derivative along its acceleration is that along a direction with a = S and n = 0; then the
columns of forces and accelerations are not symmetric.

All is in the axes of the world, at the origin of the body that the tree hangs on the world by; but
articulated inertias are at the origins of their bodies, where they lose no digits by distance.

Sources: n, a and B as in `inverse_dynamics`; the articulated body: Featherstone 2008, section 7.3.
The closed form of u beyond a joint, G, and what is prescribed are derived here; Carpentier, Mansard
2018 (Analytical derivatives of rigid body dynamics algorithms) multiply by M^-1.
"""

from mbkit.kernels.compile import address_kernel, as_array, helper
from mbkit.kernels.derivatives.articulated_columns import (
    answers_of_joint,
    carry_outwards,
    columns_of_joint,
    hold,
    let_efforts_follow,
    own_answers,
    take_out,
    wrench_of,
)
from mbkit.kernels.derivatives.articulated_memory import (
    Known,
    Tree,
    articulated_memory,
    column_of,
    is_driven,
    operator_of,
)
from mbkit.kernels.derivatives.directions import place, set_subspace
from mbkit.kernels.derivatives.inverse_dynamics import Moving, push_of_step, push_of_velocity
from mbkit.kernels.derivatives.rate_of_inertia import set_inertia_and_rate
from mbkit.kernels.evaluation_form import (
    EVALUATION,
    as_matrix,
    positions,
    vector,
    velocities,
)
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.inertias import (
    add_articulated_shifted,
    set_rigid,
    set_turned_rigid,
)
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import JOINT_FAILED, NOT_FINITE, OK, failure
from mbkit.kernels.validation import all_finite
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    force_bracket,
    force_to_parent,
    linear,
    load,
    motion_bracket,
    pairing,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import bodies, changes, directions, scratch_of

# --------------------------------------------------------------- from the world to the tips: twists


@helper
def set_operator(G, X, t, f):
    """G n = (X n + n x t, 2 n x f), by rows."""
    G[0], G[1], G[2] = X[0], X[1] + t[2], X[2] - t[1]
    G[3], G[4], G[5] = X[1] - t[2], X[3], X[4] + t[0]
    G[6], G[7], G[8] = X[2] + t[1], X[4] - t[0], X[5]
    G[9], G[10], G[11] = 0.0, 2.0 * f[2], -2.0 * f[1]
    G[12], G[13], G[14] = -2.0 * f[2], 0.0, 2.0 * f[0]
    G[15], G[16], G[17] = 2.0 * f[1], -2.0 * f[0], 0.0


@helper
def own_terms(row, body, loaded, G):
    """I and G of a body alone;  F = -ad_V^T M V, less the wrench applied to it."""
    t, f = set_inertia_and_rate(row, body)
    set_operator(G, body.rotational, t, f)
    x, y = force_bracket(angular(body.V), linear(body.V), t, f)
    store(body.F, x, y)
    if loaded != 0:
        W = body.wrench
        t, f = force_to_parent(body.world_R, body.world_p, angular(W), linear(W))
        accumulate(body.F, scale(-1.0, t), scale(-1.0, f))
    set_turned_rigid(row, body.world_R, body)
    set_rigid(body, body)


@helper
def outward(space, tree, loaded, q, v):
    """V = V_p + S v;  A = ad_V S v + S-dot v;  own terms."""
    model, scratch, _, _, memory, _ = tree
    start(scratch, scale(-1.0, load(model[0].gravity)))
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        parent = scratch[row.parent]
        place(row, body, parent, load(body.p))
        if set_subspace(space, i, q, v) != OK:
            return failure(JOINT_FAILED, i)
        x = joint_sum(row, body, v)
        w = add(angular(parent.V), x[0])
        u = add(linear(parent.V), x[1])
        store(body.V, w, u)
        a, b = motion_bracket(w, u, x[0], x[1])
        store(body.A, add(a, angular(body.bias)), add(b, linear(body.bias)))
        own_terms(row, body, loaded, operator_of(memory, i))
    return OK


# ----------------------------------------- from the tips to the world: articulated inertias, G


@helper
def give_way(G, column, x, y):
    """b = G^T S;  G -= U D b^T."""
    D = column[12]
    for j in range(3):
        b = x[0] * G[j] + x[1] * G[3 + j] + x[2] * G[6 + j]
        b += y[0] * G[9 + j] + y[1] * G[12 + j] + y[2] * G[15 + j]
        column[13 + j] = b
        for r in range(6):
            G[3 * r + j] -= D * b * column[6 + r]


@helper
def eliminate(tree, i, some):
    """For each column S with U = I S: D = 1 / S.U, u = tau - S.F;  I -= U D U^T,  F += U D u.

    Where vdot is prescribed D = 0, u = -S.F,  F += U vdot.
    """
    model, scratch, _, _, memory, _ = tree
    row = model[i]
    body = scratch[i]
    for c in range(row.num_velocities - 1, -1, -1):
        k = row.first_velocity + c
        column = column_of(memory, k)
        if some and is_driven(tree.known, k):
            hold(body, scratch[k], c)
        else:
            status = take_out(body, scratch[k], c, k)
            if status != OK:
                return status
        x = angular(body.S[c])
        y = linear(body.S[c])
        U = scratch[k].U
        D = scratch[k].D
        for j in range(6):
            column[j] = body.S[c][j]
            column[6 + j] = U[j]
        column[12] = D
        give_way(operator_of(memory, i), column, x, y)
        if some and is_driven(tree.known, k):
            scratch[k].u = -pairing(body.F, x, y)
            a = tree.known.vdot[k]
        else:
            u = tree.known.tau[k] - pairing(body.F, x, y)
            scratch[k].u = u
            a = D * u
        accumulate(body.F, scale(a, angular(U)), scale(a, linear(U)))
    return OK


@helper
def inward(tree, some):
    """F += I (ad_V S v + S-dot v);  F_p += F, I_p += I, G_p += G."""
    model, scratch, _, _, memory, _ = tree
    for i in range(model.shape[0] - 1, 0, -1):
        body = scratch[i]
        status = eliminate(tree, i, some)
        if status != OK:
            return status
        t, f = wrench_of(body, angular(body.A), linear(body.A))
        accumulate(body.F, t, f)
        if model[i].parent != 0:
            parent = scratch[model[i].parent]
            accumulate(parent.F, angular(body.F), linear(body.F))
            d = subtract(load(body.world_p), load(parent.world_p))
            add_articulated_shifted(body, d, parent)
            G = operator_of(memory, model[i].parent)
            for j, number in enumerate(operator_of(memory, i)):
                G[j] += number
    return OK


# --------------------------------------------- from the world to the tips: accelerations, and all u


@helper
def accelerate(tree, i, v, some):
    """F += I A_p;  vdot = D (u - U.A), A += S vdot;  n and a of the directions of a joint.

    Where vdot is prescribed, tau = U.A - u takes the place of u after A += S vdot.
    """
    model, scratch, memory, cold, own, _ = tree
    row = model[i]
    body = scratch[i]
    parent = scratch[row.parent]
    w = angular(parent.A)
    u = linear(parent.A)
    t, f = wrench_of(body, w, u)
    accumulate(body.F, t, f)
    w = add(w, angular(body.A))
    u = add(u, linear(body.A))
    for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
        column = column_of(own, k)
        if some and is_driven(tree.known, k):
            a = tree.known.vdot[k]
        else:
            a = column[12] * (scratch[k].u - pairing(scratch[k].U, w, u))
        own.vdot[k] = a
        w = add(w, scale(a, angular(column)))
        u = add(u, scale(a, linear(column)))
        if some and is_driven(tree.known, k):
            scratch[k].u = pairing(scratch[k].U, w, u) - scratch[k].u
    store(body.A, w, u)
    x = joint_sum(row, body, v)
    moving = Moving(row, body, parent, v, own.vdot)
    for k in range(row.ndx):
        j = row.first_step + k
        push_of_step(moving, k, memory[j], cold[j])
    for c in range(row.num_velocities):
        j = row.first_velocity + c
        push_of_velocity(row, body, body.S[c], memory[j], cold[j], x)


@helper
def all_columns(space, loaded, q, v, known, some, out):
    """The derivatives and what is found: see the kernels. `some` is a literal."""
    model = bodies(space)
    scratch = scratch_of(space)
    memory = articulated_memory(space, model)
    tree = Tree(model, scratch, directions(space), changes(space), memory, known)
    nv = model[0].num_velocities
    width = model[0].ndx + 2 * nv + 1
    q = positions(model, q)
    v = velocities(model, v)
    status = joint_pass(model, scratch, q, v)
    if status == OK:
        status = outward(space, tree, loaded, q, v)
    if status == OK:
        status = inward(tree, some)
    if status != OK:
        return status
    out = as_matrix(out, nv, width)
    for i in range(1, model.shape[0]):
        accelerate(tree, i, v, some)
        for k in range(model[i].first_velocity, model[i].first_velocity + model[i].num_velocities):
            out[k, :] = 0.0
        own_answers(tree, i, out, some)
        answers_of_joint(tree, i, out, some)
        columns_of_joint(tree, i, out, some)
    if not all_finite(memory.vdot):
        return failure(NOT_FINITE, 0)
    if some:
        let_efforts_follow(tree)
    carry_outwards(tree, some, out)
    for k in range(nv):
        out[k, width - 1] = memory.vdot[k]
        if some and is_driven(tree.known, k):
            out[k, width - 1] = scratch[k].u
    return OK


@address_kernel(EVALUATION)
def forward_dynamics_derivatives(space, loaded, q, v, tau, out):
    """d vdot by d q, d v and d tau, and vdot: out (nv, ndx + 2 nv + 1), row by velocity.

    Reads   model, q, v, tau; where `loaded`, the wrenches in scratch, in the axes of the bodies,
            to which they stay fixed.
    Writes  scratch, directions, changes, columns, out. Cost: O(nv^2), the derivatives' number.
    """
    tau = vector(space, tau)
    return all_columns(space, loaded, q, v, Known(tau, tau, tau), False, out)


@address_kernel(EVALUATION)
def hybrid_dynamics_derivatives(space, loaded, q, v, given, out):
    """The same where `given` holds tau, vdot and 1.0 where vdot is prescribed (3 nv).

    Rows of prescribed velocities are those of tau; columns by tau are by vdot for them.
    """
    nv = bodies(space)[0].num_velocities
    given = as_array(given, 3 * nv)
    known = Known(given[:nv], given[nv : 2 * nv], given[2 * nv :])
    return all_columns(space, loaded, q, v, known, True, out)
