"""Nested loops: local elimination of each at its base, within the articulated-body algorithm.

The base of a loop is the body nearest to the world that supports all of it. The motion of the base
does not enter the equations of the loop. On the way inwards the wrenches of the loop's rows are
propagated as in `mbkit.kernels.constraints.solve.response`, but no further than to the base b.
There the rows read

    G lambda + Y a_b = r,    G = sum of D y y^T on the way,    Y the propagated wrenches,

and with G = L L^T, Z = L^-1 Y the base is left with the inertia I + Z^T Z and the force
f + Z^T L^-1 r. So the loop is eliminated from all equations further inwards. Loops that pass
each other's bases are eliminated with X = G_other L^-T: Y_other -= X Z.

G is semidefinite, whatever has been eliminated before, and a row of it is zero where the row
depends on those of loops further out: redundant rows are left out inside their block.
Source: the articulated-body algorithm, Featherstone 2008, section 7.3; loops eliminated at a
body on the way: Brandl, Johanni, Otter 1987; the order: Duff and Reid, "The multifrontal solution
of indefinite sparse symmetric linear equations", ACM TOMS 9 (1983) 302-325.
Cost: O(number of bodies, and length of each loop); of loops that pass the same base, as a factor.
"""

from mbkit.kernels.compile import floats_at, helper, integers_at
from mbkit.kernels.constraints.layout import (
    NEIGHBOUR_BLOCK,
    NEIGHBOUR_SIZE,
    NEIGHBOUR_START,
)
from mbkit.kernels.constraints.solve.factor import eliminate_block, factor_of, part, solve_pivots
from mbkit.kernels.constraints.solve.gram import multiply_pair
from mbkit.kernels.constraints.solve.response import (
    Propagation,
    applied_by,
    is_floating,
    load_wrenches,
    pass_on,
    respond_column,
)
from mbkit.kernels.constraints.workspace import (
    closed_columns,
    closure_of,
    coefficients_of,
    constraints,
    pairs,
    propagations,
    response_of,
)
from mbkit.kernels.elementary import all_lanes, any_lane
from mbkit.kernels.recursions.inertias import subtract_outer
from mbkit.kernels.status import NOT_FINITE, OK, failure
from mbkit.kernels.workspace import bodies, scratch_of


@helper
def propagations_at(closure, model, i):
    """Those at row i of the tree."""
    firsts = integers_at(closure.first_propagations, model.shape[0] + 1)
    return propagations(closure)[firsts[i] : firsts[i + 1]]


@helper
def set_sizes(space, sizes):
    """The sum of D y y of every row: its square where the base is held and all loops are open."""
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    every = constraints(closure)
    sizes[:] = 0.0
    for a in range(every.shape[0]):
        constraint = every[a]
        support = integers_at(constraint.support, constraint.num_support)
        y = response_of(closure, constraint)
        place = 0
        for s in range(support.shape[0]):
            row = model[support[s]]
            for c in range(row.num_velocities - 1, -1, -1):
                D = (
                    1.0
                    if is_floating(row, scratch[support[s]])
                    else scratch[row.first_velocity + c].D
                )
                for r in range(constraint.num_rows):
                    sizes[constraint.first_row + r] += D * y[r, place] * y[r, place]
                place += 1


# ---------------------------------------------------------------------------------- the factor


@helper
def eliminate_inward(space, recursion):
    """U and D of the mechanism with closed loops, and the factor of their constraints.

    Calls   own_bias, column_inertia, column_power, to_parent, inertia_to_parent,
            wrench_from_world.
    Reads   what forward dynamics has left, wrenches, limits, y of floating bodies.
    Writes  I of the bodies, closed columns, y, the factor.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    floats_at(closure.gram, closure.num_gram)[:] = 0.0
    for i in range(1, model.shape[0]):
        if not is_floating(model[i], scratch[i]):
            recursion.own_bias(model[i], scratch[i])
    end = 0
    for i in range(model.shape[0] - 1, 0, -1):
        if is_floating(model[i], scratch[i]):
            continue  # its inertia is inverted, and it has no children
        here = propagations_at(closure, model, i)
        add_own_wrenches(closure, here, i, scratch[i], recursion)
        end = eliminate_at(closure, scratch, i, end)
        status = eliminate_columns(closure, here, model[i], scratch, scratch[i], recursion)
        if status != OK:
            return status
        if model[i].parent != 0:
            parent = scratch[model[i].parent]
            recursion.inertia_to_parent(scratch[i], parent)
            propagate(closure, here, scratch[i], parent, recursion)
    eliminate_at(closure, scratch, 0, end)
    return OK


@helper
def wrenches_at(closure, place, m):
    """The wrenches of the m rows of a constraint, (m, 6)."""
    return floats_at(closure.propagated, closure.num_propagated)[place : place + 6 * m].reshape(
        (m, 6)
    )


@helper
def add_own_wrenches(closure, here, i, body, recursion):
    """The constraints' own wrenches on row i, added to those propagated from further out."""
    every = constraints(closure)
    for k in range(here.shape[0]):
        constraint = every[here[k].constraint]
        F = wrenches_at(closure, here[k].wrenches, constraint.num_rows)
        if here[k].begins != 0:
            F[:, :] = 0.0
        load_wrenches(applied_by(closure, constraint), i, body, F, recursion)


@helper
def eliminate_columns(closure, here, row, scratch, body, recursion):
    """D = 1 / (S.U), I -= U D U^T; of every constraint that passes y = S.f, f -= U D y."""
    columns = closed_columns(closure)
    every = constraints(closure)
    for c in range(row.num_velocities - 1, -1, -1):
        column = columns[row.first_velocity + c]
        inertia, _ = recursion.column_inertia(row, body, c, column.U)
        column.D = 0.0
        if any_lane(scratch[row.first_velocity + c].D != 0.0):  # else it is prescribed
            if not all_lanes(inertia > 0.0):  # it is no less than with open loops
                return failure(NOT_FINITE, row.first_velocity + c)
            column.D = 1.0 / inertia
        subtract_outer(body, column.D, column.U)
        for k in range(here.shape[0]):
            if here[k].ends == 0:
                constraint = every[here[k].constraint]
                propagation = Propagation(
                    integers_at(constraint.velocities, constraint.num_velocities),
                    coefficients_of(closure, constraint),
                    wrenches_at(closure, here[k].wrenches, constraint.num_rows),
                    response_of(closure, constraint),
                    here[k].place,
                )
                respond_column(row, body, c, column, propagation, recursion)
    return OK


@helper
def propagate(closure, here, body, parent, recursion):
    """The wrenches of the rows that pass go to the parent."""
    every = constraints(closure)
    for k in range(here.shape[0]):
        if here[k].ends == 0:
            m = every[here[k].constraint].num_rows
            F = wrenches_at(closure, here[k].wrenches, m)
            there = wrenches_at(closure, here[k].there, m)
            pass_on(body, parent, F, there, here[k].there != here[k].wrenches, recursion)


@helper
def eliminate_at(closure, scratch, base, b):
    """Eliminate the loops whose base this is, from block b on; return the block after them."""
    factor = factor_of(closure)
    table = factor.blocks
    columns = closed_columns(closure)
    every = constraints(closure)
    products = pairs(closure)
    while b < table.shape[0] and table[b].base_row == base:
        block = table[b]
        for n in range(block.first_pair, block.first_pair + block.num_pairs):
            multiply_pair(closure, scratch, columns, factor.gram, every, products[n])
        eliminate_block(factor, b)
        if base != 0:
            load_base(closure, factor, block, scratch[base])
        b += 1
    return b


@helper
def load_base(closure, factor, block, body):
    """Z = L^-1 Y by columns;  I += Z^T Z;  Y_other -= X Z."""
    gram, table, pivots, _, _, buffer = factor
    n = block.num_rows
    starts = integers_at(block.propagated, 1 + block.num_neighbours)
    F = wrenches_at(closure, starts[0], n)
    Z = part(gram, block.base_start, 6, n)
    for j in range(6):
        for r in range(n):
            Z[j, r] = F[r, j]
    own = pivots[block.first_row : block.first_row + n]
    solve_pivots(part(gram, block.start, n, n), own, block.rank, Z, buffer)
    for k in range(block.rank):
        z = (Z[0, k], Z[1, k], Z[2, k], Z[3, k], Z[4, k], Z[5, k])
        subtract_outer(body, -1.0, z)
    neighbours = integers_at(block.neighbours, NEIGHBOUR_SIZE * block.num_neighbours)
    for p in range(block.num_neighbours):
        m = table[neighbours[NEIGHBOUR_SIZE * p + NEIGHBOUR_BLOCK]].num_rows
        X = part(gram, neighbours[NEIGHBOUR_SIZE * p + NEIGHBOUR_START], m, n)
        other = wrenches_at(closure, starts[1 + p], m)
        for r in range(m):
            for j in range(6):
                for k in range(block.rank):
                    other[r, j] -= X[r, k] * Z[j, k]
