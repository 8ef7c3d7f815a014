"""The rank of constraints: the one rule that decides which rows count.

With A in parts of the length L of the system, along velocities that turn by radians and along those
that slide by lengths, a row counts where more than a part `tolerance` of the largest row is left of
it after the rows before. Masses do not matter: what a mechanism can do is geometry, and a body may
be lighter than another by any factor.

Where rows are few (`MOST_ROWS`) they are orthogonalised, that of the largest remainder first, and
all strategies use the result; `mbkit.systems.rank` uses the same rule. Where they are many, this
finds rows that are zero, and the others are judged by the pivots of the factor of A M^-1 A^T, which
do depend on masses: see `mbkit.kernels.constraints.solve.factor`.

Source: Golub and Van Loan, Matrix Computations, 4th edition, section 5.4.2.
Cost: a response of the tree and rows^2 nv, once where a step begins.
"""

from mbkit.kernels.compile import call_address, floats_at, helper, integers_at
from mbkit.kernels.constraints.layout import MOST_OPENED, OPENNESS
from mbkit.kernels.constraints.solve.response import is_floating
from mbkit.kernels.constraints.workspace import (
    closure_of,
    coefficients_of,
    constraints,
    counted_rows,
    response_of,
    wrenches_of,
)
from mbkit.kernels.elementary import any_lane, select, sqrt
from mbkit.kernels.linear_algebra.pivot_orders import put, row_at
from mbkit.kernels.recursions.floating_bodies import roots_of
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import angular, dot, linear
from mbkit.kernels.workspace import bodies, scratch_of

INFINITE = 1e300


@helper
def opened_part(closure):
    """Which part of a row may be independent of others because loops are open."""
    residual = floats_at(closure.residual, closure.num_position_rows)
    gap = 0.0
    for r in range(closure.num_position_rows):
        gap = max(gap, abs(residual[r]))
    return min(OPENNESS * gap / closure.length, MOST_OPENED)


@helper
def least_part(closure):
    """The squared part of the largest row that must be left of one.

    Rows that depend on others once loops close are independent by as much as loops are open.
    """
    opened = opened_part(closure)
    return max(closure.tolerance, opened * opened)


@helper
def own_square(closure, constraint, wrenches, coefficients, scales, r):
    """Squared size of a row by definition, wherever it acts: 1, or less for rows not in metres."""
    least = 1.0 / (closure.length * closure.length)
    most = 0.0
    for s in range(constraint.num_sites):
        W = wrenches[r * constraint.num_sites + s]
        t = angular(W)
        f = linear(W)
        most = max(most, least * dot(t, t) + dot(f, f))
    named = integers_at(constraint.velocities, constraint.num_velocities)
    for k in range(constraint.num_velocities):
        size = coefficients[r, k] * scales[named[k]]
        most = max(most, size * size)
    return select((most > 0.0) & (most < 1.0), most, 1.0)


@helper
def set_row(space, constraint, r, D, own, out):
    """A row of A in parts of the length, out (nv,), from the y of a tree that gives way to nothing.

    It is over its own size, and zero where a velocity is prescribed.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    scales = floats_at(closure.scales, out.shape[0])
    support = integers_at(constraint.support, constraint.num_support)
    y = response_of(closure, constraint)
    for k in range(out.shape[0]):
        out[k] = 0.0
    at = 0
    for s in range(support.shape[0]):
        row = model[support[s]]
        body = scratch[support[s]]
        first = row.first_velocity
        if is_floating(row, body):
            E, _com, root = roots_of(body)
            for j in range(3):
                out[first + j] = y[r, at + j] / (own * closure.length * sqrt(dot(E[j], E[j])))
                out[first + 3 + j] = y[r, at + 3 + j] / (own * root)
            at += 6
            continue
        for c in range(row.num_velocities - 1, -1, -1):
            size = y[r, at] * scales[first + c] / own
            out[first + c] = select(D[first + c] != 0.0, size, 0.0)
            at += 1


@helper
def set_rows(space, D, G):
    """The rows of A that are compared, G (num_rows, nv)."""
    closure = closure_of(space)
    scales = floats_at(closure.scales, G.shape[1])
    every = constraints(closure)
    for a in range(every.shape[0]):
        constraint = every[a]
        wrenches = wrenches_of(closure, constraint)
        coefficients = coefficients_of(closure, constraint)
        for r in range(constraint.num_rows):
            own = sqrt(own_square(closure, constraint, wrenches, coefficients, scales, r))
            set_row(space, constraint, r, D, own, G[constraint.first_row + r])


@helper
def square_of_row(space, constraint, r):
    """The square of a row of y in parts of the length."""
    model = bodies(space)
    scratch = scratch_of(space)
    closure = closure_of(space)
    scales = floats_at(closure.scales, model[0].num_velocities)
    support = integers_at(constraint.support, constraint.num_support)
    y = response_of(closure, constraint)
    square = 0.0
    at = 0
    for s in range(support.shape[0]):
        row = model[support[s]]
        body = scratch[support[s]]
        if is_floating(row, body):
            E, _com, root = roots_of(body)
            for j in range(3):
                angle = y[r, at + j] / closure.length
                way = y[r, at + 3 + j] / root
                square += angle * angle / dot(E[j], E[j]) + way * way
            at += 6
            continue
        for c in range(row.num_velocities - 1, -1, -1):
            k = row.first_velocity + c
            size = select(scratch[k].D != 0.0, y[r, at] * scales[k], 0.0)
            square += size * size
            at += 1
    return square


@helper
def drop_zeros(space, least):
    """Of many rows those that are zero do not count, by the same part of the largest."""
    closure = closure_of(space)
    scales = floats_at(closure.scales, bodies(space)[0].num_velocities)
    squares = floats_at(closure.room, closure.num_rows)
    every = constraints(closure)
    top = 0.0
    for a in range(every.shape[0]):
        constraint = every[a]
        wrenches = wrenches_of(closure, constraint)
        coefficients = coefficients_of(closure, constraint)
        for r in range(constraint.num_rows):
            own = own_square(closure, constraint, wrenches, coefficients, scales, r)
            square = square_of_row(space, constraint, r) / own
            squares[constraint.first_row + r] = square
            top = max(top, square)
    counted = counted_rows(closure)
    for r in range(closure.num_rows):
        counted[r] = select(squares[r] > least * top, 1, 0)


@helper
def count_rows(G, room, least, counted):
    """Orthogonalise rows, most left first: 1 for those of which more is left than `least`.

    least: squared, by the largest row; room: for a row. G is overwritten; return the rank.
    """
    m, n = G.shape
    top = 0.0
    for r in range(m):
        counted[r] = 0
    for found in range(m):
        best = 0
        most = 0.0
        for r in range(m):
            is_left = counted[r] == 0
            if any_lane(is_left):
                square = 0.0
                for k in range(n):
                    square += G[r, k] * G[r, k]
                is_longer = is_left & (square > most)
                if any_lane(is_longer):
                    best = select(is_longer, r, best)
                    most = select(is_longer, square, most)
        top = max(top, most)
        counts = most > least * top
        if not any_lane(counts):
            return found
        put(counted, best, 1, counts)
        longest = row_at(G, best, room)
        for r in range(m):
            is_left = (counted[r] == 0) & counts
            if any_lane(is_left):
                product = 0.0
                for k in range(n):
                    product += longest[k] * G[r, k]
                product = select(is_left, product / most, 0.0)
                for k in range(n):
                    G[r, k] -= product * longest[k]
    return m


@helper
def judge(space, option, q, v, tau, vdot):
    """Which rows count, where they are few and a step begins; needs the rows and U, D of the tree.

    A is what `respond` leaves where no joint gives way: D = 0.
    """
    closure = closure_of(space)
    closure.judged = 0
    if closure.num_compared == 0 or closure.follows != 0 or not closure.tolerance > 0.0:
        return OK
    scratch = scratch_of(space)
    nv = bodies(space)[0].num_velocities
    memory = floats_at(closure.compared, nv * (closure.num_rows + 1))
    D = memory[:nv]
    for k in range(nv):
        D[k] = scratch[k].D
        scratch[k].D = 0.0
    status = call_address(closure.respond, (space, option, q, v, tau, vdot))
    for k in range(nv):
        scratch[k].D = D[k]
    if status == OK:
        G = memory[nv:].reshape((closure.num_rows, nv))
        set_rows(space, D, G)
        count_rows(G, D, least_part(closure), counted_rows(closure))
        closure.judged = 1
    return status
