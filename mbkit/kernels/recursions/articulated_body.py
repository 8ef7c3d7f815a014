"""Forward and hybrid dynamics: the articulated-body algorithm (ABA), O(n)."""

from typing import Any, NamedTuple

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import as_array, helper, records_at
from mbkit.kernels.elementary import all_lanes, any_lane
from mbkit.kernels.evaluation_form import positions, vector, velocities
from mbkit.kernels.forces.sites import act
from mbkit.kernels.layout import FORCED, LOADED, SPACE
from mbkit.kernels.recursions.applied_wrenches import subtract_applied
from mbkit.kernels.recursions.floating_bodies import (
    accelerate_floating,
    is_prescribed,
    move_floating,
)
from mbkit.kernels.recursions.hinges import eliminate_hinge, pass_hinge_inward
from mbkit.kernels.recursions.inertias import articulated_times, negligible, subtract_outer
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.status import NOT_FINITE, OK, SINGULAR_INERTIA, failure
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
from mbkit.kernels.workspace import bodies, scratch_of


@helper
def gravity(space, forced):
    """The acceleration of gravity, and of the fields among the forces."""
    g = load(bodies(space)[0].gravity)
    return add(g, load(records_at(space, 1, SPACE)[0].field)) if forced != 0 else g


class Problem(NamedTuple):
    """Arguments and results of forward or hybrid dynamics.

    Attributes
    ----------
    given : (nv,)
        The forces that are known; those of a run are added.
    tau, vdot : (nv,)
        Forces, of which those of prescribed velocities are found, and accelerations, of which all
        others are. `tau` begins as a copy of `given`, and is `given` itself unless `some` are.
    prescribed : (nv,)
        Not zero where vdot is prescribed; read where `some`.
    """

    given: Any
    tau: Any
    vdot: Any
    prescribed: Any


@helper
def forward(space, tau, vdot):
    """All of vdot is to be found (nv)."""
    tau = vector(space, tau)
    return Problem(tau, tau, vector(space, vdot), tau)


@helper
def partly_prescribed(space, known, found):
    """known holds tau, vdot and 1.0 where vdot is prescribed (3 nv); found tau and vdot (2 nv)."""
    nv = bodies(space)[0].num_velocities
    known = as_array(known, 3 * nv)
    found = as_array(found, 2 * nv)
    for k in range(2 * nv):
        found[k] = known[k]
    return Problem(known[:nv], found[:nv], found[nv:], known[2 * nv :])


@helper
def eliminate(row, scratch, body, problem, some, recursion):
    """For each column S with U = I S: D = 1 / (S.U), u = tau - S.F;  I -= U D U^T,  F += U D u.

    Where vdot is prescribed the column moves as it must: u = -S.F,  F += U vdot.
    """
    for c in range(row.num_velocities - 1, -1, -1):
        k = row.first_velocity + c
        column = scratch[k]
        U = column.U
        inertia, size = recursion.column_inertia(row, body, c, U)
        column.u = -recursion.column_power(row, body, c, angular(body.F), linear(body.F))
        if some and any_lane(problem.prescribed[k] != 0.0):
            column.D = 0.0  # no force moves it otherwise
            a = problem.vdot[k]
        else:
            limit = negligible(inertia) * size
            if not all_lanes(inertia > limit):
                return failure(SINGULAR_INERTIA if any_lane(inertia <= limit) else NOT_FINITE, k)
            column.D = 1.0 / inertia
            column.u += problem.tau[k]
            subtract_outer(body, column.D, U)
            a = column.D * column.u
        accumulate(body.F, scale(a, angular(U)), scale(a, linear(U)))
    return OK


@helper
def pass_inward(body, parent, recursion):
    """I_p += P^T I P,  F_p += P^T (F + I c)."""
    t, f = articulated_times(body, angular(body.A), linear(body.A))
    t, f = recursion.to_parent(body, parent, add(t, angular(body.F)), add(f, linear(body.F)))
    accumulate(parent.F, t, f)
    recursion.inertia_to_parent(body, parent)


@helper
def accelerate(row, scratch, body, parent, problem, some, recursion):
    """A = P A_p + c; then for each column vdot = D (u - U.A),  A += S vdot.

    Where vdot is prescribed, tau = U.A + S.F after A += S vdot, and S.F = -u.
    """
    vdot = problem.vdot
    w, u = recursion.from_parent(body, parent, angular(parent.A), linear(parent.A))
    w = add(w, angular(body.A))
    u = add(u, linear(body.A))
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        column = scratch[k]
        if some and any_lane(problem.prescribed[k] != 0.0):
            w, u = recursion.add_column(row, body, c, vdot[k], w, u)
            problem.tau[k] = pairing(column.U, w, u) - column.u
        else:
            vdot[k] = column.D * (column.u - pairing(column.U, w, u))
            w, u = recursion.add_column(row, body, c, vdot[k], w, u)
    store(body.A, w, u)


@helper
def articulated_body(space, option, q, v, problem, some, recursion):
    """Accelerations vdot under the forces given; where `some`, prescribed ones and their tau.

    `some` is a literal, so that without it nothing of it is compiled.
    Floating bodies are solved as they are: `mbkit.kernels.recursions.floating_bodies`.

    Calls   start, twist, own_bias, place_for_forces, column_inertia, column_power, to_parent,
            inertia_to_parent, is_hinge, from_parent, add_column; those of `act` on forces, and of
            `accelerate_floating`.
    Reads   model, q, v (pointers), problem; option: where LOADED, the wrenches in scratch; where
            FORCED, the forces in SPACE.
    Writes  scratch (R, p, V, A, F, articulated inertias, U, D, u), vdot; tau where prescribed;
            where FORCED, given and tau.
    Needs   parent[i] < i, body 0 the world, A_0 = (0, -g).
    Source  Kim 2012, tables 3 and 4; Featherstone 2010, (60)-(68). A joint of several velocities is
            eliminated column by column, last first: every D is a number, no matrix is inverted.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    v = velocities(model, v)
    status = joint_pass(model, scratch, positions(model, q), v)
    if status != OK:
        return status
    forced = option & FORCED
    recursion.start(scratch, scale(-1.0, gravity(space, forced)))
    # from the world to the tips: twists and velocity-product terms
    for i in range(1, model.shape[0]):
        if model[i].floating != 0:
            held = some and is_prescribed(model[i], problem.prescribed)
            scratch[i].taken_as_floating = 0 if held else 1
        if model[i].floating != 0 and scratch[i].taken_as_floating != 0:
            move_floating(model[i], scratch[i], v)
        else:
            recursion.twist(model, scratch, i, v)
        recursion.own_bias(model[i], scratch[i])
        subtract_applied(scratch[i], option & LOADED)
        if forced != 0:
            recursion.place_for_forces(model, scratch, i)
    if forced != 0:
        status = act(space, q, v, problem.given, recursion)
        if status != OK:
            return status
        if some:
            assign(problem.tau, problem.given)
    # from the tips to the world: articulated inertias and bias wrenches
    for i in range(model.shape[0] - 1, 0, -1):
        if model[i].floating != 0 and scratch[i].taken_as_floating != 0:
            accelerate_floating(
                model[i], scratch[i], scratch[0], problem.tau, problem.vdot, recursion
            )
            continue
        if not some and recursion.is_hinge(model[i]):
            status = eliminate_hinge(model[i], scratch, scratch[i], problem.tau)
            if status != OK:
                return status
            if model[i].parent != 0:
                pass_hinge_inward(scratch[i], scratch[model[i].parent])
            continue
        status = eliminate(model[i], scratch, scratch[i], problem, some, recursion)
        if status != OK:
            return status
        if model[i].parent != 0:
            pass_inward(scratch[i], scratch[model[i].parent], recursion)
    # from the world to the tips: accelerations
    for i in range(1, model.shape[0]):
        if model[i].floating != 0 and scratch[i].taken_as_floating != 0:
            continue
        parent = scratch[model[i].parent]
        accelerate(model[i], scratch, scratch[i], parent, problem, some, recursion)
    return OK if all_finite(problem.vdot) else failure(NOT_FINITE, 0)
