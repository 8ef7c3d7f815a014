"""Forward dynamics in body-fixed twists: the articulated-body algorithm, O(n)."""

from mbkit.kernels.body_fixed.outward import twist
from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    boolean,
    floats,
    helper,
    int64,
    kernel,
)
from mbkit.kernels.inertias import (
    add_articulated_to_parent,
    articulated_times,
    gyroscopic,
    set_rigid,
    subtract_outer,
)
from mbkit.kernels.joint_pass import joint_pass
from mbkit.kernels.layout import SCREW
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import NOT_FINITE, OK, SINGULAR_INERTIA, status
from mbkit.kernels.validation import all_finite, check_positions, check_velocities
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    dot,
    force_to_parent,
    linear,
    load,
    motion_to_child,
    pairing,
    scale,
    store,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)

#: An inertia along S below this part of |S|^2 tr(I) is the rounding of one that is zero.
NEGLIGIBLE = 1e-13


@helper
def trace(X):
    """Trace of a packed symmetric matrix."""
    return X[0] + X[3] + X[5]


@helper
def own_bias(row, body, loaded):
    """I = M,  F = -ad_V^T M V - W."""
    set_rigid(body, row)
    t, f = gyroscopic(row, angular(body.V), linear(body.V))
    if loaded:
        t = subtract(t, angular(body.wrench))
        f = subtract(f, linear(body.wrench))
    store(body.F, t, f)


@helper
def eliminate(row, work, body, tau):
    """For each column S: U = I S, D = 1 / (S.U), u = tau - S.F;  I -= U D U^T,  F += U D u."""
    for c in range(row.num_velocities - 1, -1, -1):
        k = row.first_velocity + c
        column = work[k]
        U = column.U
        if row.kind == SCREW:
            X = body.rotational
            H = body.coupling
            M = body.translational
            r = row.rate
            s = row.lead
            store(
                U,
                (r * X[2] + s * H[2], r * X[4] + s * H[5], r * X[5] + s * H[8]),
                (r * H[6] + s * M[2], r * H[7] + s * M[4], r * H[8] + s * M[5]),
            )
            inertia = r * U[2] + s * U[5]
            limit = NEGLIGIBLE * (r * r * trace(X) + s * s * trace(M))
            column.u = tau[k] - (r * body.F[2] + s * body.F[5])
        else:
            S = body.S[c]
            t, f = articulated_times(body, angular(S), linear(S))
            store(U, t, f)
            inertia = pairing(S, t, f)
            limit = NEGLIGIBLE * (
                dot(angular(S), angular(S)) * trace(body.rotational)
                + dot(linear(S), linear(S)) * trace(body.translational)
            )
            column.u = tau[k] - pairing(S, angular(body.F), linear(body.F))
        if not inertia > limit:
            return status(SINGULAR_INERTIA if inertia <= limit else NOT_FINITE, k)
        column.D = 1.0 / inertia
        subtract_outer(body, column.D, U)
        Du = column.D * column.u
        accumulate(body.F, scale(Du, angular(U)), scale(Du, linear(U)))
    return OK


@helper
def pass_inward(body, parent):
    """I_p += Ad_C^-T I Ad_C^-1,  F_p += Ad_C^-T (F + I c)."""
    t, f = articulated_times(body, angular(body.A), linear(body.A))
    t = add(t, angular(body.F))
    f = add(f, linear(body.F))
    t, f = force_to_parent(body.R, body.p, t, f)
    accumulate(parent.F, t, f)
    add_articulated_to_parent(body, parent)


@helper
def accelerate(row, work, body, parent, vdot):
    """A = Ad_C^-1 A_p + c; then for each column vdot = D (u - U.A),  A += S vdot."""
    w, u = motion_to_child(body.R, body.p, angular(parent.A), linear(parent.A))
    w = add(w, angular(body.A))
    u = add(u, linear(body.A))
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        column = work[k]
        vdot[k] = column.D * (column.u - pairing(column.U, w, u))
        if row.kind == SCREW:
            w = (w[0], w[1], w[2] + row.rate * vdot[k])
            u = (u[0], u[1], u[2] + row.lead * vdot[k])
        else:
            S = body.S[c]
            w = add(w, scale(vdot[k], angular(S)))
            u = add(u, scale(vdot[k], linear(S)))
    store(body.A, w, u)


@helper
def articulated_body(model, work, q, v, tau, loaded, vdot):
    """Accelerations vdot under the forces tau.

    Reads   model, q, v, tau; where `loaded`, the wrenches applied to the bodies in work.
    Writes  work (R, p, V, A, F, articulated inertias, U, D, u), vdot (nv,).
    Needs   parent[i] < i, row 0 the world, A_0 = (0, -g).
    Source  Kim 2012, table 3; Featherstone 2010, (60)-(68). A joint of several velocities is
            eliminated column by column, last first: every D is a number, no matrix is inverted.
    """
    state = joint_pass(model, work, q, v)
    if state != OK:
        return state
    store(work[0].V, _ZERO, _ZERO)
    store(work[0].A, _ZERO, scale(-1.0, load(model[0].gravity)))
    # from the world to the tips: twists and velocity-product terms
    for i in range(1, model.shape[0]):
        twist(model, work, i, v)
        own_bias(model[i], work[i], loaded)
    # from the tips to the world: articulated inertias and bias wrenches
    for i in range(model.shape[0] - 1, 0, -1):
        state = eliminate(model[i], work, work[i], tau)
        if state != OK:
            return state
        if model[i].parent != 0:
            pass_inward(work[i], work[model[i].parent])
    # from the world to the tips: accelerations
    for i in range(1, model.shape[0]):
        accelerate(model[i], work, work[i], work[model[i].parent], vdot)
    return OK


@kernel(int64(int64, floats, floats, floats, boolean, floats))
def forward_dynamics(space, q, v, tau, loaded, vdot):
    """Accelerations vdot under the forces tau; lengths are checked."""
    model = bodies(space)
    state = check_positions(model, q)
    if state == OK:
        state = check_velocities(model, v, tau, vdot)
    if state != OK:
        return state
    state = articulated_body(model, scratch(space), q, v, tau, loaded, vdot)
    if state == OK and not all_finite(vdot):
        return status(NOT_FINITE, 0)
    return state


@address_kernel("ipppp")
def forward_dynamics_of(space, q, v, tau, vdot):
    """The same for time loops, which call it by address; lengths are known there."""
    model = bodies(space)
    nq = model[0].num_positions
    nv = model[0].num_velocities
    return articulated_body(
        model,
        scratch(space),
        as_array(q, nq),
        as_array(v, nv),
        as_array(tau, nv),
        False,
        as_array(vdot, nv),
    )
