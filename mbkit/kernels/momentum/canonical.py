"""Canonical forward dynamics: v and the rates of momenta from momenta p = M v, O(n).

v = M^-1 p is forward dynamics from rest, without gravity, with p for the forces: the
articulated-body algorithm without velocity terms. The wrench that it passes through joint i is the
momentum P_i of all bodies beyond, so that no further recursion is needed for

    p_k = S_k . P_i,    dp_k/dt = tau_k + (ad_V S_k + S-dot_k) . P_i + S_k . G_i,

in the axes of the world at the origin of body i, V its twist, G_i the weight of all bodies beyond.
ad_V S_k . P_i = S_k . ad_V^T P_i. No bias force appears.
Source: Mueller 2018, (79), of which the second half is differentiated; Featherstone 2008, 7.3.
"""

from mbkit.kernels.compile import address_kernel, as_array, floats_at, helper
from mbkit.kernels.derivatives.joint_changes import Joint, along_motion
from mbkit.kernels.evaluation import EVALUATION, positions, vector
from mbkit.kernels.hybrid.recursion import from_parent, inertia_to_parent, place_in_world, to_parent
from mbkit.kernels.layout import STAGE_SIZE
from mbkit.kernels.momentum.roots import (
    is_in_world,
    set_momenta,
    to_reference,
    wrench_of_efforts,
    wrench_of_momenta,
)
from mbkit.kernels.recursions.columns import column_inertia
from mbkit.kernels.recursions.inertias import (
    NEGLIGIBLE,
    articulated_times,
    set_rigid,
    set_turned_rigid,
    subtract_outer,
)
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.space import at_rest, bodies, changes, scratch_of, trials
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
    scale,
    store,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)

#: Option: p, and its rates, are those of `mbkit.kernels.momentum.roots`.
IN_WORLD = 1


@helper
def place_bodies(model, scratch):
    """Poses, columns of S, inertias; no momentum yet. Needs the joint pass."""
    start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        place_in_world(row, scratch[row.parent], body)
        set_turned_rigid(row, body.world_R, body)
        set_rigid(body, body)
        store(body.F, _ZERO, _ZERO)


@helper
def eliminate(row, scratch, body, p, in_world, g):
    """For each column S with U = I S: D = 1 / (S.U), u = p - S.F;  I -= U D U^T,  F += U D u."""
    t = _ZERO
    f = _ZERO
    if in_world:
        t, f = wrench_of_momenta(row, body, to_reference(row, body, g), p)
    for c in range(row.num_velocities - 1, -1, -1):
        k = row.first_velocity + c
        column = scratch[k]
        U = column.U
        inertia, size = column_inertia(row, body, c, U)
        limit = NEGLIGIBLE * size
        if not inertia > limit:
            return failure(SINGULAR_INERTIA if inertia <= limit else NOT_FINITE, k)
        column.D = 1.0 / inertia
        given = pairing(body.S[c], t, f) if in_world else p[k]
        column.u = given - pairing(body.S[c], angular(body.F), linear(body.F))
        subtract_outer(body, column.D, U)
        a = column.D * column.u
        accumulate(body.F, scale(a, angular(U)), scale(a, linear(U)))
    return OK


@helper
def add_mass(body, parent):
    """Mass and first moment of all bodies beyond."""
    parent.mass += body.mass
    h = add(load(body.first_moment), scale(body.mass, load(body.p)))
    for j in range(3):
        parent.first_moment[j] += h[j]


@helper
def pass_inward(body, parent):
    """I_p += P^T I P,  F_p += P^T F; mass and first moment of all bodies beyond."""
    t, f = to_parent(body, parent, angular(body.F), linear(body.F))
    accumulate(parent.F, t, f)
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
    t, f = articulated_times(body, w, u)
    accumulate(body.F, t, f)
    for c in range(row.num_velocities):
        k = row.first_velocity + c
        column = scratch[k]
        v[k] = column.D * (column.u - pairing(column.U, x, y))
        x = add(x, scale(v[k], angular(body.S[c])))
        y = add(y, scale(v[k], linear(body.S[c])))
    store(body.V, x, y)
    return w, u


@helper
def add_own_rates(row, body, change, pdot):
    """pdot += S-dot . P_i, S-dot the columns' own rates in the body; `change` has them."""
    t = angular(body.F)
    f = linear(body.F)
    for c in range(row.num_velocities):
        a = rotate(body.world_R, angular(change.S[c]))
        b = rotate(body.world_R, linear(change.S[c]))
        k = row.first_velocity + c
        pdot[k] += a[0] * t[0] + a[1] * t[1] + a[2] * t[2]
        pdot[k] += b[0] * f[0] + b[1] * f[1] + b[2] * f[2]


@helper
def joint_rates(space, i, q, v):
    """S-dot in the body's frame into the first `CHANGE` row of the joint; the body stays placed."""
    row = bodies(space)[i]
    scratch = scratch_of(space)
    body = scratch[i]
    stage = floats_at(scratch[0].slot, STAGE_SIZE)
    change = changes(space)[row.first_step]
    if along_motion(Joint(row, body, q, v, stage), trials(space), change) != OK:
        return failure(JOINT_FAILED, i)
    place_in_world(row, scratch[row.parent], body)
    return OK


@helper
def weight(body, g):
    """The weight of all bodies beyond, (h x g, m g)."""
    return cross(load(body.first_moment), g), scale(body.mass, g)


@helper
def momenta_inward(model, scratch, p, option):
    """From the tips to the world: articulated inertias, and what p leaves for each velocity."""
    g = load(model[0].gravity)
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        in_world = (option & IN_WORLD) != 0 and is_in_world(row, body)
        status = eliminate(row, scratch, body, p, in_world, g)
        if status != OK:
            return status
        if row.parent != 0:
            pass_inward(body, scratch[row.parent])
    return OK


@address_kernel(EVALUATION)
def canonical_forward_dynamics(space, option, q, p, tau, found):
    """v, then the rates of p under tau, found (2 nv,).

    Reads   model, q, p, tau, but for joints with momenta in the world; option: `IN_WORLD` or 0.
    Writes  scratch, changes, trials. Cost: O(bodies).
    """
    model = bodies(space)
    scratch = scratch_of(space)
    nv = model[0].num_velocities
    p = vector(space, p)
    tau = vector(space, tau)
    found = as_array(found, 2 * nv)
    v = found[:nv]
    pdot = found[nv:]
    q = positions(model, q)
    status = joint_pass(model, scratch, q, at_rest(space))
    if status != OK:
        return status
    place_bodies(model, scratch)
    status = momenta_inward(model, scratch, p, option)
    if status != OK:
        return status
    g = load(model[0].gravity)
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        w, u = move(row, scratch, body, scratch[row.parent], v)
        t, f = weight(body, g)
        k = row.first_velocity
        if (option & IN_WORLD) != 0 and is_in_world(row, body):
            s = to_reference(row, body, g)
            # about the centre of mass weight has no moment, and about the origin there is none
            t = _ZERO if row.num_velocities == 6 else subtract(t, cross(s, f))
            set_momenta(row, t, f, pdot)
            continue
        if row.constant == 0 or row.reversed == 0:
            w, u = angular(body.V), linear(body.V)
        x, y = force_bracket(w, u, angular(body.F), linear(body.F))
        t = subtract(t, x)
        f = subtract(f, y)
        for c in range(row.num_velocities):
            pdot[k + c] = tau[k + c] + pairing(body.S[c], t, f)
        if row.constant == 0:
            status = joint_rates(space, i, q, v)
            if status != OK:
                return status
            add_own_rates(row, body, changes(space)[row.first_step], pdot)
    return OK if all_finite(found) else failure(NOT_FINITE, 0)


@address_kernel(EVALUATION)
def momenta_in_world(space, _option, q, p, _x, out):
    """z of p, or the rates of z that efforts p have, out (nv,). Cost: O(bodies).

    Reads   model, q, p.
    Writes  scratch.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    p = vector(space, p)
    out = vector(space, out)
    status = joint_pass(model, scratch, positions(model, q), at_rest(space))
    if status != OK:
        return status
    start(scratch, _ZERO)
    g = load(model[0].gravity)
    for i in range(1, model.shape[0]):
        body = scratch[i]
        place_in_world(model[i], scratch[model[i].parent], body)
        body.mass = model[i].mass
        h = rotate(body.world_R, load(model[i].first_moment))
        for j in range(3):
            body.first_moment[j] = h[j]
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        if row.parent != 0:
            add_mass(body, scratch[row.parent])
        if is_in_world(row, body):
            t, f = wrench_of_efforts(row, body, p)
            set_momenta(row, subtract(t, cross(to_reference(row, body, g), f)), f, out)
            continue
        for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
            out[k] = p[k]
    return OK
