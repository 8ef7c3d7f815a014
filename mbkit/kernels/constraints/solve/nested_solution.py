"""Multipliers of nested loops, from the factor that `nested` makes.

Inwards, the forces of loops eliminated further out; outwards, accelerations and multipliers:

    u = S.f,  x -= y D u,  f -= U D u,          at a base  x = L^-1 x,  f += Z^T x;
    a += S D (u + sum of y lambda - U.a),       at a base  lambda = L^-T (x - Z a).

Cost: O(number of bodies and of rows that pass them).
"""

from mbkit.kernels.compile import as_array, floats_at, helper, integers_at
from mbkit.kernels.constraints.layout import (
    GATHER,
    INWARD,
    OUTWARD_AT_REST,
    SUBTRACT_MOTION,
)
from mbkit.kernels.constraints.solve.factor import backward_block, factor_of, forward_block, part
from mbkit.kernels.constraints.solve.nested import propagations_at
from mbkit.kernels.constraints.solve.response import clear_efforts, gather_floating, is_floating
from mbkit.kernels.constraints.workspace import (
    closed_columns,
    closure_of,
    coefficients_of,
    constraints,
    response_of,
    sites,
    wrenches_of,
)
from mbkit.kernels.elementary import any_lane
from mbkit.kernels.linear_algebra.pivot_orders import entry, put
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    linear,
    load,
    pairing,
    scale,
    store,
)
from mbkit.kernels.workspace import bodies, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def solve(space, what, x, recursion):
    """A function of `mbkit.kernels.constraints.solve.strategy`, by number; see `layout`."""
    x = as_array(x, closure_of(space).num_rows)
    if what == INWARD:
        return solve_inward(space, x, recursion)
    if what == GATHER:
        return gather_inward(space, x, recursion)
    if what == SUBTRACT_MOTION:
        return subtract_motion(space, x, recursion)
    return solve_outward(space, x, what == OUTWARD_AT_REST, recursion)


@helper
def solve_inward(space, x, recursion):
    """x becomes what the factor leaves of it; u of every velocity is the force that it makes.

    For rows that were left out that is what is left of them.

    Calls   column_power, to_parent.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    columns = closed_columns(closure)
    for i in range(1, model.shape[0]):
        store(scratch[i].F, _ZERO, _ZERO)
    end = 0
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        if is_floating(row, body):
            continue
        end = solve_at(closure, body, i, end, x)
        here = propagations_at(closure, model, i)
        for c in range(row.num_velocities - 1, -1, -1):
            column = columns[row.first_velocity + c]
            column.u = recursion.column_power(row, body, c, angular(body.F), linear(body.F))
            reach = column.D * column.u
            if any_lane(reach != 0.0):
                take_response(closure, here, row.num_velocities - 1 - c, reach, x)
                accumulate(
                    body.F, scale(-reach, angular(column.U)), scale(-reach, linear(column.U))
                )
        if row.parent != 0:
            parent = scratch[row.parent]
            t, f = recursion.to_parent(body, parent, angular(body.F), linear(body.F))
            accumulate(parent.F, t, f)
    solve_at(closure, scratch[0], 0, end, x)
    return OK


@helper
def take_response(closure, here, place, reach, x):
    """x -= y D u of every row that passes."""
    every = constraints(closure)
    for k in range(here.shape[0]):
        if here[k].ends == 0:
            constraint = every[here[k].constraint]
            y = response_of(closure, constraint)
            for r in range(constraint.num_rows):
                x[constraint.first_row + r] -= y[r, here[k].place + place] * reach


@helper
def solve_at(closure, body, base, b, x):
    """The loops whose base this is: x = L^-1 x, f += Z^T x; return the block after them."""
    factor = factor_of(closure)
    gram, table, _, _, _, buffer = factor
    while b < table.shape[0] and table[b].base_row == base:
        forward_block(factor, b, x)
        if base != 0:
            Z = part(gram, table[b].base_start, 6, table[b].num_rows)
            for j in range(6):
                for k in range(table[b].rank):
                    body.F[j] += Z[j, k] * buffer[k]
        b += 1
    return b


@helper
def solve_outward(space, x, at_rest, recursion):
    """x, from what `solve_inward` has left of it, becomes the multipliers of rows that count.

    Those of rows that were left out stay as given. Where `at_rest`, u of every velocity is zero.

    Calls   from_parent, add_column.
    Writes  F of the bodies: the change of their accelerations.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    columns = closed_columns(closure)
    store(scratch[0].F, _ZERO, _ZERO)
    end = open_at(closure, scratch[0], 0, closure.num_blocks - 1, x)
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        if is_floating(row, body):
            continue
        parent = scratch[row.parent]
        here = propagations_at(closure, model, i)
        w, u = recursion.from_parent(body, parent, angular(parent.F), linear(parent.F))
        for c in range(row.num_velocities):
            column = columns[row.first_velocity + c]
            force = 0.0 if at_rest else column.u
            force += response_force(closure, here, row.num_velocities - 1 - c, x)
            a = column.D * (force - pairing(column.U, w, u))
            w, u = recursion.add_column(row, body, c, a, w, u)
        store(body.F, w, u)
        end = open_at(closure, body, i, end, x)
    return OK


@helper
def response_force(closure, here, place, x):
    """The sum of y times the multipliers of all rows that pass."""
    every = constraints(closure)
    force = 0.0
    for k in range(here.shape[0]):
        if here[k].ends == 0:
            constraint = every[here[k].constraint]
            y = response_of(closure, constraint)
            for r in range(constraint.num_rows):
                force += y[r, here[k].place + place] * x[constraint.first_row + r]
    return force


@helper
def open_at(closure, body, base, b, x):
    """The loops whose base this is, the last first: x = L^-T (x - Z a); return the one before."""
    factor = factor_of(closure)
    gram, table, pivots, _, _, _ = factor
    while b >= 0 and table[b].base_row == base:
        block = table[b]
        if base != 0:
            first = block.first_row
            n = block.num_rows
            own = x[first : first + n]
            order = pivots[first : first + n]
            G = part(gram, block.start, n, n)
            Z = part(gram, block.base_start, 6, n)
            for k in range(block.rank):
                value = entry(own, order[k])
                for j in range(6):
                    value -= Z[j, k] * body.F[j]
                put(own, order[k], value, G[k, k] > 0.0)
        backward_block(factor, b, x)
        b -= 1
    return b


# -------------------------------------------------------------------------------------- efforts


@helper
def gather_inward(space, multipliers, recursion):
    """u of every velocity, of the tree with open loops: S.f of one wrench a body.

    Of a floating body it is in the bias.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    clear_efforts(model, scratch)
    for i in range(1, model.shape[0]):
        store(scratch[i].F, _ZERO, _ZERO)
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        here = propagations_at(closure, model, i)
        load_multipliers(space, i, here, multipliers, recursion)
        if is_floating(row, body):
            continue
        for c in range(row.num_velocities - 1, -1, -1):
            column = scratch[row.first_velocity + c]
            column.u = recursion.column_power(row, body, c, angular(body.F), linear(body.F))
            column.u += coefficient_force(closure, here, row.first_velocity + c, multipliers)
            reach = -column.D * column.u
            accumulate(body.F, scale(reach, angular(column.U)), scale(reach, linear(column.U)))
        if row.parent != 0:
            parent = scratch[row.parent]
            t, f = recursion.to_parent(body, parent, angular(body.F), linear(body.F))
            accumulate(parent.F, t, f)
    return OK


@helper
def load_multipliers(space, i, here, multipliers, recursion):
    """F += the wrenches of all rows on body i, each times its multiplier."""
    row = bodies(space)[i]
    body = scratch_of(space)[i]
    closure = closure_of(space)
    table = sites(closure)
    every = constraints(closure)
    for k in range(here.shape[0]):
        constraint = every[here[k].constraint]
        if is_floating(row, body):
            place = here[k].place
            y = response_of(closure, constraint)[:, place : place + 6]
            gather_floating(body, constraint, y, multipliers)
            continue
        wrenches = wrenches_of(closure, constraint)
        count = constraint.num_sites
        for s in range(count):
            site = table[constraint.first_site + s]
            if site.row == i:
                t = _ZERO
                f = _ZERO
                for r in range(constraint.num_rows):
                    x = multipliers[constraint.first_row + r]
                    t = add(t, scale(x, angular(wrenches[r * count + s])))
                    f = add(f, scale(x, linear(wrenches[r * count + s])))
                t, f = recursion.wrench_from_world(body, add(t, cross(load(site.arm), f)), f)
                accumulate(body.F, t, f)


@helper
def coefficient_force(closure, here, velocity, multipliers):
    """Effort along a velocity by its coefficients in the constraints, times the multipliers."""
    every = constraints(closure)
    force = 0.0
    for k in range(here.shape[0]):
        constraint = every[here[k].constraint]
        if constraint.num_velocities != 0:
            places = integers_at(constraint.velocities, constraint.num_velocities)
            coefficients = coefficients_of(closure, constraint)
            for j in range(places.shape[0]):
                if places[j] == velocity:
                    for r in range(constraint.num_rows):
                        force += coefficients[r, j] * multipliers[constraint.first_row + r]
    return force


# -------------------------------------------------------------------------------------- motions


@helper
def subtract_motion(space, x, recursion):
    """x -= A of a motion: each row's wrenches paired with the F that `spread` has left."""
    scratch = scratch_of(space)
    closure = closure_of(space)
    table = sites(closure)
    every = constraints(closure)
    change = floats_at(closure.change, bodies(space)[0].num_velocities)
    for a in range(every.shape[0]):
        constraint = every[a]
        wrenches = wrenches_of(closure, constraint)
        count = constraint.num_sites
        for s in range(count):
            site = table[constraint.first_site + s]
            if site.row == 0:
                continue
            body = scratch[site.row]
            for r in range(constraint.num_rows):
                W = wrenches[r * count + s]
                t, f = angular(W), linear(W)
                t, f = recursion.wrench_from_world(body, add(t, cross(load(site.arm), f)), f)
                x[constraint.first_row + r] -= pairing(body.F, t, f)
        places = integers_at(constraint.velocities, constraint.num_velocities)
        coefficients = coefficients_of(closure, constraint)
        for k in range(places.shape[0]):
            for r in range(constraint.num_rows):
                x[constraint.first_row + r] -= coefficients[r, k] * change[places[k]]
    return OK
