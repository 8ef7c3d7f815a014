"""Canonical forward dynamics: v and the rates of momenta from momenta p = M v, O(n).

v = M^-1 p is forward dynamics from rest, without gravity, with p for the forces: the
articulated-body algorithm without velocity terms. The wrench that it passes through joint i is the
momentum P_i of all bodies beyond, so that no further recursion is needed for

    p_k = S_k . P_i,    dp_k/dt = tau_k + (ad_V S_k + S-dot_k) . P_i + S_k . G_i,

in the frame of body i, V its twist, G_i the weight of all bodies beyond, ad_V S_k . P_i =
S_k . ad_V^T P_i. No bias force appears.
Source: Mueller 2018, (79), of which the second half is differentiated; Featherstone 2008, 7.3.
"""

from typing import Any

from mbkit.kernels.body_fixed.operators import (
    add_column,
    column_inertia,
    column_power,
    from_parent,
    inertia_to_parent,
    to_parent,
)

# numba's own, through the one door to it
from mbkit.kernels.compile import (  # type: ignore[attr-defined]
    UNCOMPILED,
    address_kernel,
    as_array,
    floats_at,
    helper,
    overload,
)
from mbkit.kernels.derivatives.joints.joint import Joint, stage_of
from mbkit.kernels.derivatives.joints.joint_changes import along_motion
from mbkit.kernels.elementary import all_lanes, any_lane
from mbkit.kernels.evaluation_form import EVALUATION, positions, vector
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.momentum.root_joints import (
    FIXED,
    OTHER,
    about,
    root_of,
    set_momenta,
    to_reference,
    wrench_of_efforts,
    wrench_of_momenta,
)
from mbkit.kernels.recursions.hinges import (
    eliminate_hinge,
    hinge_inertia_to_parent,
    hinge_times,
    is_hinge,
)
from mbkit.kernels.recursions.inertias import (
    articulated_times,
    negligible,
    set_rigid,
    subtract_outer,
)
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import JOINT_FAILED, NOT_FINITE, OK, SINGULAR_INERTIA, failure
from mbkit.kernels.validation import all_finite
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    force_bracket,
    linear,
    load,
    pairing,
    rotate,
    rotate_back,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import at_rest, bodies, changes, scratch_of

_ZERO = (0.0, 0.0, 0.0)

#: Option: the results are two arrays, by their addresses. With the address of a table for an
#: option, p and its rates are those of `mbkit.kernels.momentum.root_joints`.
APART = 2


@helper
def set_masses(model, scratch):
    """Mass and first moment of each body."""
    for i in range(1, model.shape[0]):
        body = scratch[i]
        body.mass = model[i].mass
        for j in range(3):
            body.first_moment[j] = model[i].first_moment[j]


@helper
def set_inertias(model, scratch):
    """Rigid inertias; no momentum yet."""
    set_masses(model, scratch)
    for i in range(1, model.shape[0]):
        set_rigid(scratch[i], model[i])
        store(scratch[i].F, _ZERO, _ZERO)


@helper
def eliminate(row, scratch, i, p, option, g):
    """For each column S with U = I S: D = 1 / (S.U), u = p - S.F;  I -= U D U^T,  F += U D u."""
    body = scratch[i]
    t = _ZERO
    f = _ZERO
    in_world = about(option, row, i) != OTHER
    if in_world:
        root = root_of(option, i)
        t, f = wrench_of_momenta(row, root, to_reference(body, root, g), p)
        t = rotate_back(body.R, t)
        f = rotate_back(body.R, f)
    for c in range(row.num_velocities - 1, -1, -1):
        k = row.first_velocity + c
        column = scratch[k]
        U = column.U
        inertia, size = column_inertia(row, body, c, U)
        limit = negligible(inertia) * size
        if not all_lanes(inertia > limit):
            return failure(SINGULAR_INERTIA if any_lane(inertia <= limit) else NOT_FINITE, k)
        column.D = 1.0 / inertia
        given = column_power(row, body, c, t, f) if in_world else p[k]
        column.u = given - column_power(row, body, c, angular(body.F), linear(body.F))
        subtract_outer(body, column.D, U)
        a = column.D * column.u
        accumulate(body.F, scale(a, angular(U)), scale(a, linear(U)))
    return OK


@helper
def add_mass(body, parent):
    """Mass and first moment of all bodies beyond."""
    parent.mass += body.mass
    h = add(rotate(body.R, load(body.first_moment)), scale(body.mass, load(body.p)))
    for j in range(3):
        parent.first_moment[j] += h[j]


@helper
def pass_inward(row, body, parent):
    """I_p += P^T I P,  F_p += P^T F; mass and first moment of all bodies beyond."""
    t, f = to_parent(body, parent, angular(body.F), linear(body.F))
    accumulate(parent.F, t, f)
    if is_hinge(row):
        hinge_inertia_to_parent(body, parent)
    else:
        inertia_to_parent(body, parent)
    add_mass(body, parent)


@helper
def move(row, scratch, body, parent, v):
    """V = P V_p + S v with v = D (u - U.V), into V and v; P_i = I P V_p + F into F.

    Returns the twist of the parent, seen here: P V_p.
    """
    w, u = from_parent(body, parent, angular(parent.V), linear(parent.V))
    x = w
    y = u
    t, f = hinge_times(body, w, u) if is_hinge(row) else articulated_times(body, w, u)
    accumulate(body.F, t, f)
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        column = scratch[k]
        v[k] = column.D * (column.u - pairing(column.U, x, y))
        x, y = add_column(row, body, c, v[k], x, y)
    store(body.V, x, y)
    return w, u


@helper
def add_own_rates(row, body, change, pdot):
    """pdot += S-dot . P_i, S-dot the columns' own rates in the body; `change` has them."""
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        pdot[k] += pairing(change.S[c], angular(body.F), linear(body.F))


@helper
def joint_rates(space, i, q, v):
    """S-dot in the body's frame into the first `CHANGE` row of the joint; the body stays placed."""
    row = bodies(space)[i]
    joint = Joint(row, scratch_of(space)[i], q, v, stage_of(space), space, i)
    if along_motion(joint, changes(space)[row.first_step]) != OK:
        return failure(JOINT_FAILED, i)
    return OK


@helper
def weight(body, g):
    """The weight of all bodies beyond, (h x g, m g), g in the axes of the body."""
    return cross(load(body.first_moment), g), scale(body.mass, g)


@helper
def weight_in_world(body, g):
    """The same of a body on the world, in the axes of the world, at the origin of the body."""
    return cross(rotate(body.R, load(body.first_moment)), g), scale(body.mass, g)


@helper
def momenta_inward(space, p, option):
    """From the tips to the world: articulated inertias, and the part of p for each velocity."""
    model = bodies(space)
    scratch = scratch_of(space)
    g = load(model[0].gravity)
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        if is_hinge(row):
            status = eliminate_hinge(row, scratch, body, p)
        else:
            status = eliminate(row, scratch, i, p, option, g)
        if status != OK:
            return status
        if row.parent != 0:
            pass_inward(row, body, scratch[row.parent])
    return OK


def results(found, nv, option):
    """The arrays of v and of the rates of p; those of lanes are never apart."""
    if option == APART:
        addresses = as_array(found, 2)
        return floats_at(whole(addresses[0]), nv), floats_at(whole(addresses[1]), nv)
    both = as_array(found, 2 * nv)
    return both[:nv], both[nv:]


if not UNCOMPILED:
    _INLINE: Any = {"error_model": "numpy", "forceinline": True}

    @overload(results, jit_options=_INLINE)
    def _results(found, nv, option):
        if not hasattr(found.dtype, "number"):
            return results

        def of_lanes(found, nv, option):
            both = as_array(found, 2 * nv)
            return both[:nv], both[nv:]

        return of_lanes


@address_kernel(EVALUATION)
def canonical_forward_dynamics(space, option, q, p, tau, found):
    """v, then the rates of p under tau, found (2 nv,).

    Reads   model, q, p, tau, but for joints with momenta in the world; option: the address of their
            table, or `APART` where `found` is the addresses of two arrays (nv,), as floating point.
    Writes  scratch, changes, trials. Cost: O(bodies).
    """
    model = bodies(space)
    scratch = scratch_of(space)
    nv = model[0].num_velocities
    p = vector(space, p)
    tau = vector(space, tau)
    v, pdot = results(found, nv, option)
    q = positions(model, q)
    status = joint_pass(model, scratch, q, at_rest(space))
    if status != OK:
        return status
    set_inertias(model, scratch)
    status = momenta_inward(space, p, option)
    if status != OK:
        return status
    g = load(model[0].gravity)
    start(scratch, g)
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        parent = scratch[row.parent]
        w, u = move(row, scratch, body, parent, v)
        store(body.A, _ZERO, rotate_back(body.R, linear(parent.A)))  # gravity
        k = row.first_velocity
        if about(option, row, i) != OTHER:
            root = root_of(option, i)
            t, f = weight_in_world(body, g)
            s = to_reference(body, root, g)
            # about the centre of mass weight has no moment, and about the origin there is none
            t = subtract(t, cross(s, f)) if root.about == FIXED else _ZERO
            set_momenta(row, root, t, f, pdot)
            continue
        if row.constant == 0 or row.reversed == 0:
            w, u = angular(body.V), linear(body.V)
        t, f = weight(body, linear(body.A))
        x, y = force_bracket(w, u, angular(body.F), linear(body.F))
        t = subtract(t, x)
        f = subtract(f, y)
        for c in range(row.num_velocities):
            pdot[k + c] = tau[k + c] + column_power(row, body, c, t, f)
        if row.constant == 0:
            status = joint_rates(space, i, q, v)
            if status != OK:
                return status
            add_own_rates(row, body, changes(space)[row.first_step], pdot)
    return OK if all_finite(v) and all_finite(pdot) else failure(NOT_FINITE, 0)


@address_kernel(EVALUATION)
def momenta_in_world(space, option, q, p, _x, out):
    """z of p, or the rates of z that efforts p have, out (nv,). Cost: O(bodies).

    Reads   model, q, p; option: the address of the table of joints with momenta in the world.
    Writes  scratch.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    p = vector(space, p)
    out = vector(space, out)
    status = joint_pass(model, scratch, positions(model, q), at_rest(space))
    if status != OK:
        return status
    set_masses(model, scratch)
    g = load(model[0].gravity)
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        if row.parent != 0:
            add_mass(body, scratch[row.parent])
        if about(option, row, i) != OTHER:
            status, t, f = wrench_of_efforts(row, scratch, body, p)
            if status != OK:
                return status
            root = root_of(option, i)
            s = to_reference(body, root, g)
            set_momenta(row, root, subtract(t, cross(s, f)), f, out)
            continue
        for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
            out[k] = p[k]
    return OK
