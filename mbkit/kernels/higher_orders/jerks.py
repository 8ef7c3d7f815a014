"""Jerks of bodies, the second rates of their twists, written out, as they are used most.

With x = S v the body-fixed twist of a row in its parent, and x', x'' its rates,

    V = Ad_C^-1 V_p + x,   A = Ad_C^-1 A_p + [V, x] + x',
    J = Ad_C^-1 J_p + [Ad_C^-1 A_p + A, x] + [V, x'] + x''.

V, A and J are in the fields V, A and F of the scratch. Source: Mueller 2018, (13), (65).
"""

from mbkit.kernels.compile import address_kernel, as_array, call_address, helper, records_at
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions
from mbkit.kernels.higher_orders.layout import PLAN
from mbkit.kernels.higher_orders.memory import room_at, room_size
from mbkit.kernels.higher_orders.motion import has_pieces, load_rates
from mbkit.kernels.higher_orders.series import weighted_sum
from mbkit.kernels.layout import BODY_FIXED, MIXED, SCREW, SPATIAL
from mbkit.kernels.new_numbers import new_numbers
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import world_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    linear,
    motion_bracket,
    motion_to_child,
    motion_to_parent,
    rotate,
    scale,
    store,
)
from mbkit.kernels.workspace import bodies, frames, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def bracket_with_screw(row, w, u, a):
    """[(w, u), X a] for X = (0, 0, rate, 0, 0, lead)."""
    r = row.rate * a
    s = row.lead * a
    return (w[1] * r, -w[0] * r, 0.0), (u[1] * r + w[1] * s, -u[0] * r - w[0] * s, 0.0)


@helper
def screw_step(row, body, parent, v, vdot, vddot):
    """V, A, J of a screw."""
    a = v[row.first_velocity]
    b = vdot[row.first_velocity]
    c = vddot[row.first_velocity]
    w, u = motion_to_child(body.R, body.p, angular(parent.V), linear(parent.V))
    w = w[0], w[1], w[2] + row.rate * a
    u = u[0], u[1], u[2] + row.lead * a
    store(body.V, w, u)
    # [V, x'], and what V adds to A
    jw, ju = bracket_with_screw(row, w, u, b)
    vw, vu = bracket_with_screw(row, w, u, a)
    aw, au = motion_to_child(body.R, body.p, angular(parent.A), linear(parent.A))
    w = add(aw, vw)
    u = add(au, vu)
    w = w[0], w[1], w[2] + row.rate * b
    u = u[0], u[1], u[2] + row.lead * b
    store(body.A, w, u)
    vw, vu = bracket_with_screw(row, add(aw, w), add(au, u), a)
    w, u = motion_to_child(body.R, body.p, angular(parent.F), linear(parent.F))
    w = add(add(w, jw), vw)
    u = add(add(u, ju), vu)
    store(body.F, (w[0], w[1], w[2] + row.rate * c), (u[0], u[1], u[2] + row.lead * c))


@helper
def general_step(body, parent, x, x1, x2):
    """V, A, J of any joint, by the twist in the parent and its rates."""
    w, u = motion_to_child(body.R, body.p, angular(parent.V), linear(parent.V))
    w = add(w, x[0])
    u = add(u, x[1])
    store(body.V, w, u)
    jw, ju = motion_bracket(w, u, x1[0], x1[1])
    vw, vu = motion_bracket(w, u, x[0], x[1])
    aw, au = motion_to_child(body.R, body.p, angular(parent.A), linear(parent.A))
    w = add(add(aw, vw), x1[0])
    u = add(add(au, vu), x1[1])
    store(body.A, w, u)
    vw, vu = motion_bracket(add(aw, w), add(au, u), x[0], x[1])
    w, u = motion_to_child(body.R, body.p, angular(parent.F), linear(parent.F))
    w = add(add(w, jw), add(vw, x2[0]))
    store(body.F, w, add(add(u, ju), add(vu, x2[1])))


@helper
def changing_step(space, option, i, q, given, memory):
    """The same of a joint whose S changes; its columns and rates are in a room."""
    plan = records_at(option, 1, PLAN)[0]
    model = bodies(space)
    scratch = scratch_of(space)
    row = model[i]
    room = room_at(memory, model, 3, plan.num_pieces)
    status = call_address(plan.columns, (space, option, i, q, given, memory))
    if status == OK:
        x = room.x
        first = row.first_velocity
        weighted_sum(room.columns, 0, row.num_velocities, room.rates, first, x)
        x2 = scale(2.0, angular(x[2])), scale(2.0, linear(x[2]))
        x0 = angular(x[0]), linear(x[0])
        x1 = angular(x[1]), linear(x[1])
        general_step(scratch[i], scratch[row.parent], x0, x1, x2)
    return status


@helper
def jerk_at_site(representation, body, site):
    """The jerk of a site: J, Ad_C (J + [V, A]), or the second derivatives of R w and R u."""
    w = angular(body.V)
    u = linear(body.V)
    if representation == SPATIAL:
        a, b = motion_bracket(w, u, angular(body.A), linear(body.A))
        a = add(a, angular(body.F))
        return motion_to_parent(body.world_R, body.world_p, a, add(b, linear(body.F)))
    w2, u2 = motion_to_child(site.R, site.p, angular(body.F), linear(body.F))
    if representation == BODY_FIXED:
        return w2, u2
    w, u = motion_to_child(site.R, site.p, w, u)
    w1, u1 = motion_to_child(site.R, site.p, angular(body.A), linear(body.A))
    # w' x u + 2 w x u' + w x (w x u)
    u2 = add(u2, add(cross(w1, u), cross(w, add(scale(2.0, u1), cross(w, u)))))
    u2 = rotate(body.world_R, rotate(site.R, u2))
    if representation == MIXED:
        return w2, u2
    return rotate(body.world_R, rotate(site.R, add(w2, cross(w, w1)))), u2


@address_kernel(EVALUATION)
def jerks(space, option, q, _v, given, out):
    """Second rates of the twists of the user's bodies, out (bodies + 1, 6).

    Reads   q; given: v, vdot, vddot (3, nv), then numbers that the plan requires.
    option  address of a PLAN for three terms.
    """
    plan = records_at(option, 1, PLAN)[0]
    model = bodies(space)
    scratch = scratch_of(space)
    sites = frames(space)
    nv = model[0].num_velocities
    given = as_array(given, 3 * nv + plan.num_given)
    v = given[:nv]
    vdot = given[nv : 2 * nv]
    vddot = given[2 * nv : 3 * nv]
    q = positions(model, q)
    status = joint_pass(model, scratch, q, v)
    if status != OK:
        return status
    changing = plan.num_pieces > 0
    memory = new_numbers(given, room_size(model, plan) if changing else 0)
    if changing:
        load_rates(given, 3, room_at(memory, model, 3, plan.num_pieces).rates)
    start(scratch, _ZERO)
    store(scratch[0].F, _ZERO, _ZERO)
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        parent = scratch[row.parent]
        if row.kind == SCREW:
            screw_step(row, body, parent, v, vdot, vddot)
        elif has_pieces(plan, i):
            if changing_step(space, option, i, q, given[3 * nv :], memory) != OK:
                return failure(JOINT_FAILED, i)
        else:
            x = joint_sum(row, body, v)
            general_step(body, parent, x, joint_sum(row, body, vdot), joint_sum(row, body, vddot))
    if plan.representation != BODY_FIXED:
        world_pass(model, scratch)
    out = as_matrix(out, sites.shape[0], 6)
    for b in range(sites.shape[0]):
        site = sites[b]
        w, u = jerk_at_site(plan.representation, scratch[site.row], site)
        store(out[b], w, u)
    return OK
