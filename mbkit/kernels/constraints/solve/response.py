"""The tree's response to wrenches of the rows: A M^-1 A^T by articulated bodies.

Forward dynamics leaves, for each velocity k, U = I S and D = 1 / (S.U). A wrench f that acts on a
row of the tree is passed on inwards as f - U D (S.f), joint by joint; with y = S.f, where it comes
by, a^T M^-1 b = sum over k of D_k y_k(a) y_k(b). Velocities that are prescribed have D = 0.
Source: Featherstone 2008, section 8.5, with the joint-space inertia matrix never formed; the
factorisation behind it is M^-1 = (1 - H K)^T D (1 - H K) of Rodriguez, Jain and Kreutz-Delgado
(1991).
Cost: O(length of the path to the world) a row.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import floats_at, helper, integers_at
from mbkit.kernels.constraints.layout import (
    PATH_BEGINS,
    PATH_ON,
    PATH_OWN,
    PATH_SIZE,
)
from mbkit.kernels.constraints.sites import move_sites
from mbkit.kernels.constraints.workspace import (
    closure_of,
    coefficients_of,
    constraints,
    response_of,
    set_zero,
    sites,
    wrenches_of,
)
from mbkit.kernels.elementary import all_lanes
from mbkit.kernels.evaluation_form import positions, velocities
from mbkit.kernels.layout import FORCED, KINEMATICS
from mbkit.kernels.recursions.articulated_body import gravity
from mbkit.kernels.recursions.floating_bodies import (
    move_floating,
    root_of_wrench,
    roots_of,
    spread_floating,
)
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    linear,
    load,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import bodies, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def is_floating(row, body):
    """Whether forward dynamics has taken a row for a floating body."""
    return row.floating != 0 and body.taken_as_floating != 0


@helper
def move_constraint_sites(space, option, q, v, recursion):
    """The sites, by the results of forward dynamics: see `move_sites`.

    Or, where option has KINEMATICS, from q and v alone, without accelerations: U and D stay
    what they are.
    Calls   start, twist; those of `move_sites`.
    """
    if option & KINEMATICS:
        model = bodies(space)
        scratch = scratch_of(space)
        v = velocities(model, v)
        status = joint_pass(model, scratch, positions(model, q), v)
        if status != OK:
            return status
        recursion.start(scratch, _ZERO)
        for i in range(1, model.shape[0]):
            if is_floating(model[i], scratch[i]):
                move_floating(model[i], scratch[i], v)
            else:
                recursion.twist(model, scratch, i, v)
    return move_sites(space, gravity(space, option & FORCED), recursion)


class Applied(NamedTuple):
    """Wrenches of the rows of a constraint at its sites: `wrenches[row * sites + site]`.

    It is made once a constraint, since a matrix on memory by address costs a call.
    """

    sites: Any
    wrenches: Any


@helper
def applied_by(closure, constraint):
    """The sites of a constraint, and the wrenches of its rows on them."""
    first = constraint.first_site
    own = sites(closure)[first : first + constraint.num_sites]
    return Applied(own, wrenches_of(closure, constraint))


@helper
def load_wrenches(applied, i, body, F, recursion):
    """Add the wrenches of the rows of a constraint to body i of the tree."""
    table, wrenches = applied
    count = table.shape[0]
    for s in range(count):
        site = table[s]
        if site.row == i:
            arm = load(site.arm)
            for r in range(F.shape[0]):
                W = wrenches[r * count + s]
                f = linear(W)
                t, f = recursion.wrench_from_world(body, add(angular(W), cross(arm, f)), f)
                accumulate(F[r], t, f)


class Propagation(NamedTuple):
    """The rows of a constraint on their way inwards through a body of the tree.

    Attributes
    ----------
    velocities, coefficients : (n,), (rows, n)
        The velocities that the constraint names, and what it does to them.
    F : (rows, 6)
        The wrench of each, as it has come from further out.
    y : (rows, columns)
        The response.
    place : int
        The column of y of the tree row's last velocity; the others follow inwards.
    """

    velocities: Any
    coefficients: Any
    F: Any
    y: Any
    place: int


@helper
def respond_column(row, body, c, column, propagation, recursion):
    """y = S.f of velocity c of a row, and what f is without what the velocity gives way to."""
    places, coefficients, F, y, place = propagation
    k = place + row.num_velocities - 1 - c
    m = F.shape[0]
    for r in range(m):
        y[r, k] = recursion.column_power(row, body, c, angular(F[r]), linear(F[r]))
    for j in range(places.shape[0]):
        if places[j] == row.first_velocity + c:
            for r in range(m):
                y[r, k] += coefficients[r, j]
    t = scale(-column.D, angular(column.U))
    f = scale(-column.D, linear(column.U))
    for r in range(m):
        accumulate(F[r], scale(y[r, k], t), scale(y[r, k], f))


@helper
def respond_floating(applied, i, body, y, k):
    """y = e of what the rows of a constraint do to a floating body, for which D is 1.

    See `mbkit.kernels.recursions.floating_bodies`.
    """
    table, wrenches = applied
    m = y.shape[0]
    count = table.shape[0]
    E, com, root = roots_of(body)
    first = True
    for s in range(count):
        site = table[s]
        if site.row == i:
            arm = subtract(load(site.arm), com)
            for r in range(m):
                W = wrenches[r * count + s]
                f = linear(W)
                a, b = root_of_wrench(E, root, add(angular(W), cross(arm, f)), f)
                own = y[r, k : k + 6]
                if first:
                    store(own, a, b)
                else:
                    accumulate(own, a, b)
            first = False


@helper
def pass_on(body, parent, F, there, joins, recursion):
    """Propagate the wrenches of all rows to the parent, added where another path has come."""
    if joins:
        for r in range(F.shape[0]):
            t, f = recursion.to_parent(body, parent, angular(F[r]), linear(F[r]))
            accumulate(there[r], t, f)
    else:
        for r in range(F.shape[0]):
            t, f = recursion.to_parent(body, parent, angular(F[r]), linear(F[r]))
            store(F[r], t, f)


@helper
def respond(space, recursion):
    """y of every row of every constraint, by columns.

    The rows of a constraint go inwards together: one after another, each would wait for its own
    last step.

    Calls   wrench_from_world, column_power, to_parent.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    propagated = floats_at(closure.propagated, closure.num_propagated)
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        applied = applied_by(closure, constraint)
        m = constraint.num_rows
        n = constraint.num_support
        support = integers_at(constraint.support, n)
        paths = integers_at(constraint.paths, PATH_SIZE * n)
        places = integers_at(constraint.velocities, constraint.num_velocities)
        coefficients = coefficients_of(closure, constraint)
        y = response_of(closure, constraint)
        column = 0
        for s in range(n):
            i = support[s]
            row = model[i]
            body = scratch[i]
            if is_floating(row, body):
                respond_floating(applied, i, body, y, column)
                column += 6
                continue
            own = paths[PATH_SIZE * s + PATH_OWN]
            here = propagated[6 * m * own : 6 * m * (own + 1)]
            F = here.reshape((m, 6))
            if paths[PATH_SIZE * s + PATH_BEGINS] != 0:
                set_zero(here)
            load_wrenches(applied, i, body, F, recursion)
            propagation = Propagation(places, coefficients, F, y, column)
            for c in range(row.num_velocities - 1, -1, -1):
                respond_column(
                    row, body, c, scratch[row.first_velocity + c], propagation, recursion
                )
            column += row.num_velocities
            if row.parent != 0:
                on = paths[PATH_SIZE * s + PATH_ON]
                there = propagated[6 * m * on : 6 * m * (on + 1)].reshape((m, 6))
                pass_on(body, scratch[row.parent], F, there, on != own, recursion)
    return OK


@helper
def gather_floating(body, constraint, y, multipliers):
    """The sum of e of a floating body += y times the multipliers."""
    a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(constraint.num_rows):
        x = multipliers[constraint.first_row + r]
        own = y[r]
        a += own[0] * x
        b += own[1] * x
        c += own[2] * x
        d += own[3] * x
        e += own[4] * x
        f += own[5] * x
    accumulate(body.bias, (a, b, c), (d, e, f))


@helper
def clear_efforts(model, scratch):
    """u = 0."""
    for i in range(1, model.shape[0]):
        row = model[i]
        if is_floating(row, scratch[i]):
            store(scratch[i].bias, _ZERO, _ZERO)
        else:
            for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
                scratch[k].u = 0.0


@helper
def gather_efforts(space, multipliers):
    """u of every velocity: the sum of y times the multipliers of all rows; zero elsewhere.

    Of a floating body it is in the bias.
    """
    clear_efforts(bodies(space), scratch_of(space))
    add_efforts(space, multipliers)


@helper
def add_efforts(space, multipliers):
    """That sum is added to u."""
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        support = integers_at(constraint.support, constraint.num_support)
        y = response_of(closure, constraint)
        place = 0
        for s in range(support.shape[0]):
            row = model[support[s]]
            if is_floating(row, scratch[support[s]]):
                gather_floating(
                    scratch[support[s]], constraint, y[:, place : place + 6], multipliers
                )
                place += 6
                continue
            for c in range(row.num_velocities - 1, -1, -1):
                column = scratch[row.first_velocity + c]
                for r in range(constraint.num_rows):
                    column.u += y[r, place] * multipliers[constraint.first_row + r]
                place += 1


@helper
def subtract_response(space, x):
    """x -= A M^-1 of the efforts in u: y D u of every row."""
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        support = integers_at(constraint.support, constraint.num_support)
        y = response_of(closure, constraint)
        place = 0
        for s in range(support.shape[0]):
            row = model[support[s]]
            body = scratch[support[s]]
            for c in range(row.num_velocities - 1, -1, -1):
                column = scratch[row.first_velocity + c]
                reach = body.bias[5 - c] if is_floating(row, body) else column.D * column.u
                for r in range(constraint.num_rows):
                    x[constraint.first_row + r] -= y[r, place] * reach
                place += 1


@helper
def spread(space, change, recursion):
    """change = M^-1 A^T of the multipliers, whose efforts are in u.

    It is 0 where a velocity is prescribed, and u the effort that keeps it so.

    Calls   from_parent, add_column, motion_from_world.
    Writes  F of the bodies: the change of their accelerations.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    store(scratch[0].F, _ZERO, _ZERO)
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        if is_floating(row, body):
            spread_floating(row, body, change, recursion)
            continue
        parent = scratch[row.parent]
        w, u = recursion.from_parent(body, parent, angular(parent.F), linear(parent.F))
        for c in range(row.num_velocities):
            k = row.first_velocity + c
            column = scratch[k]
            U = column.U
            left = column.u - (
                U[0] * w[0] + U[1] * w[1] + U[2] * w[2] + U[3] * u[0] + U[4] * u[1] + U[5] * u[2]
            )
            change[k] = column.D * left
            if all_lanes(column.D == 0.0):
                column.u = -left
            else:
                w, u = recursion.add_column(row, body, c, change[k], w, u)
        store(body.F, w, u)
    return OK
