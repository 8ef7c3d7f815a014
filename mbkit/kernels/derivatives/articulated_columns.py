"""Columns of the derivatives of forward dynamics: all u, then the pass outwards.

Formulas: `mbkit.kernels.derivatives.forward_dynamics`.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import helper
from mbkit.kernels.derivatives.articulated_memory import (
    BLOCK,
    LEVEL_SIZE,
    column_of,
    is_driven,
    operator_of,
)
from mbkit.kernels.derivatives.branches import push, set_row_between
from mbkit.kernels.derivatives.directions import depends_on_q, twist_of_step
from mbkit.kernels.elementary import all_lanes, any_lane
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.recursions.inertias import (
    articulated_times,
    negligible,
    subtract_outer,
    trace,
)
from mbkit.kernels.simd.weighted_sums import SIDE_BY_SIDE, solve_and_spread
from mbkit.kernels.status import NOT_FINITE, OK, SINGULAR_INERTIA, failure
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    force_bracket,
    linear,
    load,
    pairing,
    scale,
    store,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def wrench_of(body, w, u):
    """I (w, u), I at the body's origin."""
    p = load(body.world_p)
    t, f = articulated_times(body, w, add(u, cross(w, p)))
    return add(t, cross(p, f)), f


@helper
def take_out(body, column, c, k):
    """U = I S and D = 1 / S.U of column c of a joint, velocity k;  I -= U D U^T."""
    p = load(body.world_p)
    x = angular(body.S[c])
    y = add(linear(body.S[c]), cross(x, p))
    t, f = articulated_times(body, x, y)
    inertia = dot(x, t) + dot(y, f)
    limit = dot(x, x) * trace(body.rotational) + dot(y, y) * trace(body.translational)
    limit *= negligible(inertia)
    if not all_lanes(inertia > limit):
        return failure(SINGULAR_INERTIA if any_lane(inertia <= limit) else NOT_FINITE, k)
    column.D = 1.0 / inertia
    store(column.U, t, f)
    subtract_outer(body, column.D, column.U)
    store(column.U, add(t, cross(p, f)), f)
    return OK


@helper
def hold(body, column, c):
    """U = I S of column c of a joint, whose acceleration is prescribed: no wrench moves it."""
    column.D = 0.0
    t, f = wrench_of(body, angular(body.S[c]), linear(body.S[c]))
    store(column.U, t, f)


@helper
def operator_times(G, n):
    """G n."""
    return (
        (dot((G[0], G[1], G[2]), n), dot((G[3], G[4], G[5]), n), dot((G[6], G[7], G[8]), n)),
        (
            dot((G[9], G[10], G[11]), n),
            dot((G[12], G[13], G[14]), n),
            dot((G[15], G[16], G[17]), n),
        ),
    )


@helper
def answers_of_joint(tree, i, out, known, some):
    """u = -(U.a + b.n) of joint i along all directions of its own and between it and the world."""
    model, _, memory, _, own = tree
    row = model[i]
    top = whole(own.heights[i])
    for n in range(row.first_step, row.first_step + row.ndx):
        push(own.stack, top, memory[n].push, load(memory[n].turn), n)
        top += 1
    for n in range(row.first_velocity, row.first_velocity + row.num_velocities):
        push(own.stack, top, memory[n].rate, angular(memory[n].S), model[0].ndx + n)
        top += 1
    if some:
        for n in range(row.first_velocity, row.first_velocity + row.num_velocities):
            if is_driven(known, n):
                end = model[0].ndx + model[0].num_velocities
                push(own.stack, top, column_of(own, n), _ZERO, end + n)
                top += 1
    for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
        column = column_of(own, k)
        U = scale(-1.0, load(column[6:9])), scale(-1.0, load(column[9:12]))
        b = scale(-1.0, load(column[13:16]))
        set_row_between(own.stack, top, U, b, out[k])


@helper
def add_column(column, a, t, f):
    """(t, f) + a U."""
    t = (t[0] + a * column[6], t[1] + a * column[7], t[2] + a * column[8])
    return t, (f[0] + a * column[9], f[1] + a * column[10], f[2] + a * column[11])


@helper
def wrench_of_step(tree, i, k, out):
    """dP of step k of joint i, from where it leaves the joint; adds -dS.F to its u."""
    model, scratch, memory, cold, own = tree
    row = model[i]
    body = scratch[i]
    n = row.first_step + k
    push = memory[n].push
    t, f = wrench_of(body, angular(push), linear(push))
    x, y = operator_times(operator_of(own, i), load(memory[n].turn))
    t = add(t, x)
    f = add(f, y)
    w, u = twist_of_step(row, body, k, cold[n])
    x, y = force_bracket(w, u, angular(body.F), linear(body.F))
    if depends_on_q(row):
        p = _ZERO
        r = _ZERO
        for c in range(row.num_velocities - 1, -1, -1):
            m = row.first_velocity + c
            column = column_of(own, m)
            a = -pairing(cold[n].S[c], angular(body.F), linear(body.F)) - pairing(column, p, r)
            out[m, n] += a
            p, r = add_column(column, column[12] * a, p, r)
        t = add(t, p)
        f = add(f, r)
    return add(t, x), add(f, y)


@helper
def wrench_of_velocity(tree, i, n):
    """dP of velocity n of joint i."""
    memory = tree.directions
    rate = memory[n].rate
    t, f = wrench_of(tree.scratch[i], angular(rate), linear(rate))
    x, y = operator_times(operator_of(tree.memory, i), angular(memory[n].S))
    return add(t, x), add(f, y)


@helper
def wrench_of_force(tree, i, n, column, out):
    """dP of a force along velocity n of joint i, and its u of the joint, in a column."""
    own = column_of(tree.memory, n)
    out[n, column] = 1.0
    t, f = add_column(own, own[12], _ZERO, _ZERO)
    for m in range(n - 1, tree.model[i].first_velocity - 1, -1):
        own = column_of(tree.memory, m)
        a = -pairing(own, t, f)
        out[m, column] = a
        t, f = add_column(own, own[12] * a, t, f)
    return t, f


@helper
def wrench_of_given(tree, i, n, column, known, some, out):
    """dP of a force along velocity n of joint i, or of its acceleration if prescribed."""
    if some and is_driven(known, n):
        own = column_of(tree.memory, n)
        return wrench_of(tree.scratch[i], angular(own), linear(own))
    return wrench_of_force(tree, i, n, column, out)


@helper
def climb(tree, i, wrenches, columns, out):
    """u = -S.P, P += U D u of all joints between joint i and the world, for three columns.

    Three at once: one alone would wait for its own sums.
    """
    model = tree.model
    P, Q, R = wrenches
    a, b, c = columns
    j = model[i].parent
    while j != 0:
        row = model[j]
        for k in range(row.first_velocity + row.num_velocities - 1, row.first_velocity - 1, -1):
            column = column_of(tree.memory, k)
            D = column[12]
            x = -pairing(column, P[0], P[1])
            y = -pairing(column, Q[0], Q[1])
            z = -pairing(column, R[0], R[1])
            out[k, a] = x
            out[k, b] = y
            out[k, c] = z
            P = add_column(column, D * x, P[0], P[1])
            Q = add_column(column, D * y, Q[0], Q[1])
            R = add_column(column, D * z, R[0], R[1])
        j = row.parent


@helper
def columns_of_joint(tree, i, out, known, some):
    """u along the directions of joint i, of the joints between it and the world."""
    row = tree.model[i]
    ndx = tree.model[0].ndx
    nv = tree.model[0].num_velocities
    for k in range(row.ndx):
        n = row.first_step + k
        P = wrench_of_step(tree, i, k, out)
        if k < row.num_velocities:
            m = row.first_velocity + k
            Q = wrench_of_velocity(tree, i, m)
            R = wrench_of_given(tree, i, m, ndx + nv + m, known, some, out)
            climb(tree, i, (P, Q, R), (n, ndx + m, ndx + nv + m), out)
        else:  # a step beyond the velocities, of a joint that is nonholonomic
            climb(tree, i, (P, P, P), (n, n, n), out)


# ------------------------------------------------------- from the world to the tips: all columns


@helper
def let_efforts_follow(model, memory, known):
    """Columns for `carry` where vdot is prescribed: dtau = U.A - u takes the place of u."""
    for k in range(model[0].num_velocities):
        if is_driven(known, k):
            column = column_of(memory, k)
            column[12] = -1.0
            for j in range(6):
                column[j] = 0.0


@helper
def carry(column, A, first, entries):
    """x = D (u - U.A), A += S x, for columns side by side; x takes the place of u.

    `A` has the accelerations of the first eight columns from `first` on, then of eight others.
    """
    D = column[12]
    t, f = scale(-D, load(column[6:9])), scale(-D, load(column[9:12]))
    x, y = angular(column), linear(column)
    weights = (t[0], t[1], t[2], f[0], f[1], f[2], D)
    steps = (x[0], x[1], x[2], y[0], y[1], y[2])
    k = 0
    while k + SIDE_BY_SIDE <= entries.shape[0]:
        solve_and_spread(A, first, weights, steps, entries, k)
        first += 6 * SIDE_BY_SIDE
        k += SIDE_BY_SIDE
    while k < entries.shape[0]:  # fewer than eight
        u = D * entries[k]
        for j in range(6):
            u += weights[j] * A[first + SIDE_BY_SIDE * j]
        entries[k] = u
        for j in range(6):
            A[first + SIDE_BY_SIDE * j] += steps[j] * u
        first += 1
        k += 1


@helper
def carry_outwards(model, memory, out, width):
    """The results from all u, in place."""
    A = memory.A
    for first in range(0, width, BLOCK):
        end = min(first + BLOCK, width)
        for i in range(1, model.shape[0]):
            row = model[i]
            start = LEVEL_SIZE * whole(memory.level[i])
            before = LEVEL_SIZE * whole(memory.level[row.parent]) if row.parent != 0 else start
            if row.parent == 0:
                A[start : start + LEVEL_SIZE] = 0.0
            elif before != start:
                assign(A[start : start + LEVEL_SIZE], A[before : before + LEVEL_SIZE])
            for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
                carry(column_of(memory, k), A, start, out[k, first:end])
