"""Forward and hybrid dynamics: the articulated-body algorithm, O(n)."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import as_array, helper, records_at
from mbkit.kernels.evaluation import positions, velocities
from mbkit.kernels.layout import FORCED, LOADED, SPACE
from mbkit.kernels.recursions.applied import subtract_applied
from mbkit.kernels.recursions.floating import accelerate_floating, is_prescribed, move_floating
from mbkit.kernels.recursions.inertias import NEGLIGIBLE, articulated_times, subtract_outer
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import NOT_FINITE, OK, SINGULAR_INERTIA, status
from mbkit.kernels.validation import all_finite
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    linear,
    load,
    pairing,
    scale,
    store,
)


@helper
def gravity(space, forced):
    """The acceleration of gravity, and of the fields among the forces."""
    g = load(bodies(space)[0].gravity)
    return add(g, load(records_at(space, 1, SPACE)[0].field)) if forced != 0 else g


@helper
def split(space, known, found):
    """(known tau, tau, vdot, prescribed) of hybrid dynamics; what is known is copied to the found.

    known holds tau, vdot and 1.0 where vdot is prescribed (3 nv); found tau and vdot (2 nv).
    """
    nv = bodies(space)[0].num_velocities
    known = as_array(known, 3 * nv)
    found = as_array(found, 2 * nv)
    for k in range(2 * nv):
        found[k] = known[k]
    return known[:nv], found[:nv], found[nv:], known[2 * nv :]


@helper
def eliminate(row, work, body, prescribed, tau, vdot, some, column_inertia, column_power):
    """For each column S with U = I S: D = 1 / (S.U), u = tau - S.F;  I -= U D U^T,  F += U D u.

    Where vdot is prescribed the column moves as it must: u = -S.F,  F += U vdot.
    """
    for c in range(row.num_velocities - 1, -1, -1):
        k = row.first_velocity + c
        column = work[k]
        U = column.U
        inertia, size = column_inertia(row, body, c, U)
        column.u = -column_power(row, body, c, angular(body.F), linear(body.F))
        if some and prescribed[k] != 0.0:
            column.D = 0.0  # no force moves it otherwise
            a = vdot[k]
        else:
            limit = NEGLIGIBLE * size
            if not inertia > limit:
                return status(SINGULAR_INERTIA if inertia <= limit else NOT_FINITE, k)
            column.D = 1.0 / inertia
            column.u += tau[k]
            subtract_outer(body, column.D, U)
            a = column.D * column.u
        accumulate(body.F, scale(a, angular(U)), scale(a, linear(U)))
    return OK


@helper
def pass_inward(body, parent, to_parent, inertia_to_parent):
    """I_p += P^T I P,  F_p += P^T (F + I c)."""
    t, f = articulated_times(body, angular(body.A), linear(body.A))
    t, f = to_parent(body, parent, add(t, angular(body.F)), add(f, linear(body.F)))
    accumulate(parent.F, t, f)
    inertia_to_parent(body, parent)


@helper
def accelerate(row, work, body, parent, prescribed, tau, vdot, some, from_parent, add_column):
    """A = P A_p + c; then for each column vdot = D (u - U.A),  A += S vdot.

    Where vdot is prescribed, tau = U.A + S.F after A += S vdot, and S.F = -u.
    """
    w, u = from_parent(body, parent, angular(parent.A), linear(parent.A))
    w = add(w, angular(body.A))
    u = add(u, linear(body.A))
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        column = work[k]
        if some and prescribed[k] != 0.0:
            w, u = add_column(row, body, c, vdot[k], w, u)
            tau[k] = pairing(column.U, w, u) - column.u
        else:
            vdot[k] = column.D * (column.u - pairing(column.U, w, u))
            w, u = add_column(row, body, c, vdot[k], w, u)
    store(body.A, w, u)


@helper
def articulated_body(
    space, option, q, v, given, tau, vdot, prescribed, some,
    start, twist, own_bias, place_for_forces, forces, column_inertia, column_power, to_parent,
    inertia_to_parent, from_parent, add_column,
):  # fmt: skip
    """Accelerations vdot under the forces given; where `some`, prescribed ones and their tau.

    Steps   start, twist: V_i = P V_p + S v, and c into A;  own_bias: M into I, its bias into F;
            place_for_forces: pose in the world;  forces: F -= W, and into what is given what acts
            along joints;  column_inertia: U = I S;
            column_power: S.F;  to_parent: P^T F;  inertia_to_parent: I_p += P^T I P;
            from_parent: P A;  add_column: A + S vdot. Floating bodies are solved as they are:
            `mbkit.kernels.recursions.floating`.
    Reads   model, q, v (pointers), given, prescribed (nv,), tau, which is `given` unless `some`,
            and a copy of it then; option: where LOADED, the wrenches in
            work; where FORCED, the forces in SPACE.
    Writes  work (R, p, V, A, F, articulated inertias, U, D, u), vdot (nv,); tau where prescribed;
            where FORCED, given and tau.
    Needs   parent[i] < i, row 0 the world, A_0 = (0, -g).
    Source  Kim 2012, tables 3 and 4; Featherstone 2010, (60)-(68). A joint of several velocities is
            eliminated column by column, last first: every D is a number, no matrix is inverted.
    """
    model = bodies(space)
    work = scratch(space)
    v = velocities(model, v)
    state = joint_pass(model, work, positions(model, q), v)
    if state != OK:
        return state
    forced = option & FORCED
    start(work, scale(-1.0, gravity(space, forced)))
    # from the world to the tips: twists and velocity-product terms
    for i in range(1, model.shape[0]):
        if model[i].floating != 0:
            work[i].floats = 0 if some and is_prescribed(model[i], prescribed) else 1
        if model[i].floating != 0 and work[i].floats != 0:
            move_floating(model[i], work[i], v)
        else:
            twist(model, work, i, v)
        own_bias(model[i], work[i])
        subtract_applied(work[i], option & LOADED)
        if forced != 0:
            place_for_forces(model, work, i)
    if forced != 0:
        state = forces(space, q, v, given)
        if state != OK:
            return state
        if some:
            assign(tau, given)
    # from the tips to the world: articulated inertias and bias wrenches
    for i in range(model.shape[0] - 1, 0, -1):
        if model[i].floating != 0 and work[i].floats != 0:
            accelerate_floating(model[i], work[i], work[0], tau, vdot, from_parent)
            continue
        state = eliminate(
            model[i], work, work[i], prescribed, tau, vdot, some, column_inertia, column_power
        )
        if state != OK:
            return state
        if model[i].parent != 0:
            pass_inward(work[i], work[model[i].parent], to_parent, inertia_to_parent)
    # from the world to the tips: accelerations
    for i in range(1, model.shape[0]):
        if model[i].floating != 0 and work[i].floats != 0:
            continue
        accelerate(
            model[i], work, work[i], work[model[i].parent], prescribed, tau, vdot, some,
            from_parent, add_column,
        )  # fmt: skip
    return OK if all_finite(vdot) else status(NOT_FINITE, 0)
