"""How the tree responds to the wrenches of the rows: A M^-1 A^T by the articulated-body algorithm.

Forward dynamics leaves, for each velocity k, U = I S and D = 1 / (S.U). A wrench f that acts on a
row of the tree is passed on inwards as f - U D (S.f), joint by joint; with y = S.f, where it comes
by, a^T M^-1 b = sum over k of D_k y_k(a) y_k(b). Velocities that are prescribed have D = 0.
Source: Featherstone 2008, section 8.5, with the joint-space inertia matrix never formed; the
factorisation behind it is M^-1 = (1 - H K)^T D (1 - H K) of Rodriguez, Jain and Kreutz-Delgado
(1991).
Cost: O(length of the path to the world) a row.
"""

from mbkit.kernels.compile import floats_at, helper, integers_at
from mbkit.kernels.constraints.sites import move_sites
from mbkit.kernels.constraints.space import (
    closure_of,
    coefficients_of,
    constraints,
    pairs,
    response_of,
    sites,
    wrenches_of,
)
from mbkit.kernels.evaluation import positions, velocities
from mbkit.kernels.joint_pass import joint_pass
from mbkit.kernels.layout import FORCED, KINEMATICS
from mbkit.kernels.recursions.articulated_body import gravity
from mbkit.kernels.space import bodies, scratch
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import accumulate, add, angular, cross, linear, load, scale, store

_ZERO = (0.0, 0.0, 0.0)


@helper
def move_constraint_sites(
    space, option, q, v, start, twist, place_for_forces, twist_in_world, acceleration_in_world
):  # fmt: skip
    """The sites, from what forward dynamics has left: see `move_sites`.

    Or, where option has KINEMATICS, from q and v alone, without accelerations: U and D stay
    what they are.
    Steps   start, twist: V_i = P V_p + S v; the others as in `move_sites`.
    """
    if option & KINEMATICS:
        model = bodies(space)
        work = scratch(space)
        v = velocities(model, v)
        state = joint_pass(model, work, positions(model, q), v)
        if state != OK:
            return state
        start(work, _ZERO)
        for i in range(1, model.shape[0]):
            twist(model, work, i, v)
    fall = gravity(space, option & FORCED)
    return move_sites(space, fall, place_for_forces, twist_in_world, acceleration_in_world)


@helper
def load_row(closure, constraint, r, model, work, wrench_from_world):
    """The wrenches of row r on the rows of the tree, and its coefficients into u of velocities."""
    rows = integers_at(constraint.support, constraint.num_support)
    for s in range(rows.shape[0]):
        i = rows[s]
        store(work[i].wrench, _ZERO, _ZERO)
        for c in range(model[i].num_velocities):
            work[model[i].first_velocity + c].u = 0.0
    coefficients = coefficients_of(closure, constraint)
    places = integers_at(constraint.velocities, constraint.num_velocities)
    for k in range(constraint.num_velocities):
        work[places[k]].u += coefficients[r, k]
    table = sites(closure)
    wrenches = wrenches_of(closure, constraint)
    for s in range(constraint.num_sites):
        site = table[constraint.first_site + s]
        if site.row != 0:
            W = wrenches[r * constraint.num_sites + s]
            f = linear(W)
            body = work[site.row]
            t, f = wrench_from_world(body, add(angular(W), cross(load(site.arm), f)), f)
            accumulate(body.wrench, t, f)


@helper
def respond(space, wrench_from_world, column_power, to_parent):
    """y of every row of every constraint, by columns.

    Steps   wrench_from_world: from world axes, at the row's origin, to the representation's own;
            column_power: S.f;  to_parent: P^T f.
    """
    model = bodies(space)
    work = scratch(space)
    closure = closure_of(space)
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        rows = integers_at(constraint.support, constraint.num_support)
        y = response_of(closure, constraint)
        for r in range(constraint.num_rows):
            load_row(closure, constraint, r, model, work, wrench_from_world)
            at = 0
            for s in range(rows.shape[0]):
                row = model[rows[s]]
                body = work[rows[s]]
                for c in range(row.num_velocities - 1, -1, -1):
                    column = work[row.first_velocity + c]
                    t = angular(body.wrench)
                    f = linear(body.wrench)
                    u = column.u + column_power(row, body, c, t, f)
                    y[at, r] = u
                    U = column.U
                    reach = -column.D * u
                    accumulate(body.wrench, scale(reach, angular(U)), scale(reach, linear(U)))
                    at += 1
                if row.parent != 0:
                    parent = work[row.parent]
                    t, f = to_parent(body, parent, angular(body.wrench), linear(body.wrench))
                    accumulate(parent.wrench, t, f)
    return OK


@helper
def set_gram(space):
    """A M^-1 A^T, where both constraints of a pair move a common column."""
    work = scratch(space)
    closure = closure_of(space)
    gram = floats_at(closure.gram, closure.num_gram)
    gram[:] = 0.0
    every = constraints(closure)
    table = pairs(closure)
    for n in range(table.shape[0]):
        pair = table[n]
        high = every[pair.row]
        low = every[pair.column]
        y_high = response_of(closure, high)
        y_low = response_of(closure, low)
        matches = integers_at(pair.matches, 3 * pair.num_matches)
        for k in range(pair.num_matches):
            i = matches[3 * k]
            j = matches[3 * k + 1]
            D = work[matches[3 * k + 2]].D
            if D != 0.0:
                for r in range(high.num_rows):
                    scaled = D * y_high[i, r]
                    start = pair.target + r * pair.stride
                    for s in range(low.num_rows):
                        gram[start + s] += scaled * y_low[j, s]


@helper
def gather_efforts(space, multipliers):
    """u of every velocity: the sum of y times the multipliers of all rows; zero elsewhere."""
    model = bodies(space)
    work = scratch(space)
    closure = closure_of(space)
    for k in range(model[0].num_velocities):
        work[k].u = 0.0
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        rows = integers_at(constraint.support, constraint.num_support)
        y = response_of(closure, constraint)
        at = 0
        for s in range(rows.shape[0]):
            row = model[rows[s]]
            for c in range(row.num_velocities - 1, -1, -1):
                column = work[row.first_velocity + c]
                for r in range(constraint.num_rows):
                    column.u += y[at, r] * multipliers[constraint.first_row + r]
                at += 1


@helper
def subtract_response(space, x):
    """x -= A M^-1 of the efforts in u: y D u of every row."""
    model = bodies(space)
    work = scratch(space)
    closure = closure_of(space)
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        rows = integers_at(constraint.support, constraint.num_support)
        y = response_of(closure, constraint)
        at = 0
        for s in range(rows.shape[0]):
            row = model[rows[s]]
            for c in range(row.num_velocities - 1, -1, -1):
                column = work[row.first_velocity + c]
                reach = column.D * column.u
                for r in range(constraint.num_rows):
                    x[constraint.first_row + r] -= y[at, r] * reach
                at += 1


@helper
def spread(space, change, from_parent, add_column):
    """change = M^-1 A^T of the multipliers, whose efforts are in u.

    It is 0 where a velocity is prescribed, and u the effort that keeps it so.

    Steps   from_parent: P a;  add_column: a + S x.
    Writes  F of the rows: the change of their accelerations.
    """
    model = bodies(space)
    work = scratch(space)
    store(work[0].F, _ZERO, _ZERO)
    for i in range(1, model.shape[0]):
        row = model[i]
        body = work[i]
        parent = work[row.parent]
        w, u = from_parent(body, parent, angular(parent.F), linear(parent.F))
        for c in range(row.num_velocities):
            k = row.first_velocity + c
            column = work[k]
            U = column.U
            left = column.u - (
                U[0] * w[0] + U[1] * w[1] + U[2] * w[2] + U[3] * u[0] + U[4] * u[1] + U[5] * u[2]
            )
            change[k] = column.D * left
            if column.D == 0.0:
                column.u = -left
            else:
                w, u = add_column(row, body, c, change[k], w, u)
        store(body.F, w, u)
    return OK
