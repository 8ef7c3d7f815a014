"""Twists of bodies and their rates of any order, and the rates of Jacobians.

The recursion is that of body-fixed twists, V_i = Ad_C^-1 V_p + x_i with x_i = S v the twist of a
row in its parent, of series in time (`mbkit.kernels.higher_orders.series`); results are brought to
a representation by

    V^s = Ad_C V,   V^h = Ad_R V,   V^m = (w, R u),

where D = d/dt + ad_V, or d/dt + ad_w, gives the rates. Source: Mueller 2018, (12) to (33), (65).
"""

from mbkit.kernels.compile import (
    address_kernel,
    as_array,
    call_address,
    helper,
    integers_at,
    records_at,
)
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions
from mbkit.kernels.higher_orders.layout import PLAN
from mbkit.kernels.higher_orders.memory import new_room
from mbkit.kernels.higher_orders.series import (
    carry_inward,
    carry_outward,
    clear,
    copy,
    factorial,
    inward_term,
    only_angular,
    outward_derivative,
    to_child,
    to_parent,
    weighted_sum,
)
from mbkit.kernels.layout import BODY_FIXED, MIXED, SCREW, SPATIAL
from mbkit.kernels.recursions.columns import joint_column
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import compose, world_pass
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import (
    add,
    angular,
    linear,
    motion_to_child,
    rotate,
    scale,
    store,
)
from mbkit.kernels.workspace import bodies, frames, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def has_pieces(plan, i):
    """Whether S of row i changes."""
    if plan.num_pieces == 0:
        return False
    first = integers_at(plan.first_piece, i + 2)
    return first[i] < first[i + 1]


@helper
def load_rates(given, known, rates):
    """v as a series, from `known` of its derivatives; further terms are zero."""
    factor = 1.0
    for n in range(rates.shape[0]):
        if n > 1:
            factor /= n
        for k in range(rates.shape[1]):
            rates[n, k] = factor * given[n * rates.shape[1] + k] if n < known else 0.0


@helper
def relative_twist(space, option, i, q, given, memory, room):
    """The twist of a row in its parent as a series, into room.x; its columns stay in the room."""
    plan = records_at(option, 1, PLAN)[0]
    row = bodies(space)[i]
    body = scratch_of(space)[i]
    x = room.x
    rates = room.rates
    first = row.first_velocity
    if row.kind == SCREW:
        for n in range(x.shape[0]):
            a = rates[n, first]
            store(x[n], (0.0, 0.0, row.rate * a), (0.0, 0.0, row.lead * a))
        return OK
    if has_pieces(plan, i):
        status = call_address(plan.columns, (space, option, i, q, given, memory))
        if status == OK:
            weighted_sum(room.columns, 0, row.num_velocities, rates, first, x)
        return status
    for n in range(x.shape[0]):
        w = _ZERO
        u = _ZERO
        for c in range(row.num_velocities):
            w = add(w, scale(rates[n, first + c], angular(body.S[c])))
            u = add(u, scale(rates[n, first + c], linear(body.S[c])))
        store(x[n], w, u)
    return OK


@helper
def outward(space, option, q, given, known, memory, room):
    """The body-fixed twists of all bodies as series; leaves the joint pass in the scratch.

    `given` holds `known` derivatives of v, then numbers that the plan requires.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    load_rates(given, known, room.rates)
    status = joint_pass(model, scratch, q, room.rates[0])
    if status != OK:
        return status
    behind = given[known * model[0].num_velocities :]
    x = room.x
    triangle = room.triangle
    clear(room.V[0])
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        if relative_twist(space, option, i, q, behind, memory, room) != OK:
            return failure(JOINT_FAILED, i)
        V = room.V[i]
        inward = room.V[row.parent]
        for n in range(V.shape[0]):
            w, u = motion_to_child(body.R, body.p, angular(inward[n]), linear(inward[n]))
            w, u = inward_term(x, triangle, n, w, u)
            store(V[n], add(w, angular(x[n])), add(u, linear(x[n])))
    return OK


@helper
def turned(R, R_site, x):
    """R R_site x."""
    return rotate(R, rotate(R_site, x))


@helper
def to_axes(representation, body, site, y, omega, triangle):
    """From a body-fixed series at a site to hybrid or mixed, for the derivatives; y is changed.

    `omega` is the angular part of the site's twist as a series of rotations.
    """
    factor = 1.0
    for n in range(y.shape[0]):
        if n > 1:
            factor /= n
        # (d/dt + ad_w) (0, u) has no angular part
        w = _ZERO if representation == MIXED else angular(y[n])
        w, u = outward_derivative(omega, triangle, n, w, linear(y[n]))
        if representation == MIXED:
            w = angular(y[n])
        else:
            w = scale(factor, turned(body.world_R, site.R, w))
        store(y[n], w, scale(factor, turned(body.world_R, site.R, u)))


@helper
def twist_at_site(representation, body, site, V, room):
    """The twist of a site as a series in a representation, into room.own."""
    y = room.own
    copy(V, y)
    if representation == SPATIAL:
        carry_outward(V, room.triangle, y)
        to_parent(body.world_R, body.world_p, y)
        return
    to_child(site.R, site.p, y)
    if representation != BODY_FIXED:
        copy(y, room.x)
        only_angular(room.x)
        to_axes(representation, body, site, y, room.x, room.triangle)


@helper
def write_rates(space, plan, room, out):
    """Derivatives of the twists of all sites, out (count sites, 6)."""
    scratch = scratch_of(space)
    sites = frames(space)
    if plan.representation != BODY_FIXED:
        world_pass(bodies(space), scratch)
    count = room.own.shape[0]
    for b in range(sites.shape[0]):
        site = sites[b]
        twist_at_site(plan.representation, scratch[site.row], site, room.V[site.row], room)
        factor = 1.0
        for n in range(count):
            if n > 1:
                factor *= n
            y = room.own[n]
            row = out[n * sites.shape[0] + b]
            store(row, scale(factor, angular(y)), scale(factor, linear(y)))


@address_kernel(EVALUATION)
def body_derivatives(space, option, q, _v, given, out):
    """Twists of the user's bodies and their rates, out (count, bodies + 1, 6).

    Reads   q; given: v and its derivatives (count, nv), then numbers that the plan requires.
    option  address of a PLAN.
    """
    plan = records_at(option, 1, PLAN)[0]
    model = bodies(space)
    count = plan.count
    given = as_array(given, count * model[0].num_velocities + plan.num_given)
    memory, room = new_room(model, plan, given)
    status = outward(space, option, positions(model, q), given, count, memory, room)
    if status == OK:
        write_rates(space, plan, room, as_matrix(out, count * frames(space).shape[0], 6))
    return status


# -------------------------------------------------------------------------------------- Jacobians


@helper
def column_series(row, i, plan, body, c, room):
    """Column c of a row as a series into room.own, body-fixed in the row."""
    y = room.own
    if has_pieces(plan, i):
        copy(room.columns[c], y)
        return
    clear(y)
    w, u = joint_column(row, body, c)
    store(y[0], w, u)


@helper
def column_in(representation, carrier, body, here, site, V, room):
    """The column in room.own as a series in a representation, of a body with a site.

    Reads   V: the twist of the row of the column; room.V[0]: that of the site, room.x its angular
            part; here: the pose of the site in the world, `carrier` the row that it is on.
    """
    y = room.own
    carry_outward(V, room.triangle, y)
    to_parent(body.world_R, body.world_p, y)
    if representation == SPATIAL:
        return
    to_child(here.R, here.p, y)
    carry_inward(room.V[0], room.triangle, y)
    if representation != BODY_FIXED:
        to_axes(representation, carrier, site, y, room.x, room.triangle)


@address_kernel(EVALUATION)
def jacobian_rate(space, option, q, _v, given, out):
    """The rate of order count - 1 of the Jacobian of one of the user's bodies, out (6, nv).

    Reads   q; given: v and its derivatives (count - 1, nv), then numbers that the plan requires.
    option  address of a PLAN.
    """
    plan = records_at(option, 1, PLAN)[0]
    model = bodies(space)
    scratch = scratch_of(space)
    count = plan.count
    nv = model[0].num_velocities
    q = positions(model, q)
    given = as_array(given, (count - 1) * nv + plan.num_given)
    memory, room = new_room(model, plan, given)
    status = outward(space, option, q, given, count - 1, memory, room)
    if status != OK:
        return status
    world_pass(model, scratch)
    here = scratch[0]
    site = frames(space)[plan.body]
    i = site.row
    carrier = scratch[i]
    # row 0, which is the world's, has room for the site: its pose, and its twist
    compose(carrier.world_R, carrier.world_p, site.R, site.p, here.R, here.p)
    copy(room.V[i], room.V[0])
    to_child(site.R, site.p, room.V[0])
    factor = factorial(count - 1)
    matrix = as_matrix(out, 6, nv)
    matrix[:, :] = 0.0
    while i != 0:
        row = model[i]
        body = scratch[i]
        if has_pieces(plan, i):
            behind = given[(count - 1) * nv :]
            if call_address(plan.columns, (space, option, i, q, behind, memory)) != OK:
                return failure(JOINT_FAILED, i)
        copy(room.V[0], room.x)
        only_angular(room.x)
        for c in range(row.num_velocities):
            column_series(row, i, plan, body, c, room)
            column_in(plan.representation, carrier, body, here, site, room.V[i], room)
            y = room.own[count - 1]
            column = row.first_velocity + c
            store(matrix[:, column], scale(factor, angular(y)), scale(factor, linear(y)))
        i = row.parent
    return OK
