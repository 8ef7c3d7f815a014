"""Columns of the derivatives of forward dynamics: all D u, then the pass outwards.

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
def answer(tree, some, k, D, u):
    """What an entry u of the result begins with: D u, or -u where vdot is prescribed."""
    if some and is_driven(tree.known, k):
        return -u
    return D * u


@helper
def own_answers(tree, i, out, some):
    """D u of joint i along its own directions, u = -(U.a + b.n)."""
    model, _, memory, _, own, _ = tree
    row = model[i]
    ndx = model[0].ndx
    end = ndx + model[0].num_velocities
    for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
        column = column_of(own, k)
        D = column[12]
        U = column[6:12]
        b = load(column[13:16])
        for n in range(row.first_step, row.first_step + row.ndx):
            push = memory[n].push
            u = pairing(U, angular(push), linear(push)) + dot(b, load(memory[n].turn))
            out[k, n] = answer(tree, some, k, D, -u)
        for n in range(row.first_velocity, row.first_velocity + row.num_velocities):
            S = memory[n].S
            rate = memory[n].rate
            u = pairing(U, angular(rate), linear(rate)) + dot(b, angular(S))
            out[k, ndx + n] = answer(tree, some, k, D, -u)
            if some and is_driven(tree.known, n):
                u = pairing(U, angular(S), linear(S))
                out[k, end + n] = answer(tree, some, k, D, -u)


@helper
def answers_of_joint(tree, i, out, some):
    """D u of joint i along those between it and the world, u = -b.n; its own come to these."""
    model, _, memory, _, own, _ = tree
    row = model[i]
    top = whole(own.heights[i])
    for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
        column = column_of(own, k)
        b = column[13], column[14], column[15]
        weights = scale(answer(tree, some, k, column[12], -1.0), b)
        set_row_between(own.stack, top, weights, out[k])
    for n in range(row.first_step, row.first_step + row.ndx):
        push(own.stack, top, load(memory[n].turn), n)
        top += 1
    for n in range(row.first_velocity, row.first_velocity + row.num_velocities):
        push(own.stack, top, angular(memory[n].S), model[0].ndx + n)
        top += 1


@helper
def add_column(column, a, t, f):
    """(t, f) + a U."""
    t = (t[0] + a * column[6], t[1] + a * column[7], t[2] + a * column[8])
    return t, (f[0] + a * column[9], f[1] + a * column[10], f[2] + a * column[11])


@helper
def wrench_of_step(tree, i, k, some, out):
    """dP of step k of joint i, from where it leaves the joint; adds -dS.F to its entries."""
    model, scratch, memory, cold, own, _ = tree
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
            out[m, n] += answer(tree, some, m, column[12], a)
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
def wrench_of_force(tree, i, n, column, some, out):
    """dP of a force along velocity n of joint i; its entries of the joint go to a column."""
    own = column_of(tree.memory, n)
    out[n, column] = own[12]
    t, f = add_column(own, own[12], _ZERO, _ZERO)
    for m in range(n - 1, tree.model[i].first_velocity - 1, -1):
        own = column_of(tree.memory, m)
        a = -pairing(own, t, f)
        out[m, column] = answer(tree, some, m, own[12], a)
        t, f = add_column(own, own[12] * a, t, f)
    return t, f


@helper
def wrench_of_given(tree, i, n, column, some, out):
    """dP of a force along velocity n of joint i, or of its acceleration if prescribed."""
    if some and is_driven(tree.known, n):
        own = column_of(tree.memory, n)
        return wrench_of(tree.scratch[i], angular(own), linear(own))
    return wrench_of_force(tree, i, n, column, some, out)


@helper
def climb(tree, i, wrenches, columns, some, out):
    """D u, P += U D u of all joints between joint i and the world, u = -S.P, for three columns.

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
            out[k, a] = answer(tree, some, k, D, x)
            out[k, b] = answer(tree, some, k, D, y)
            out[k, c] = answer(tree, some, k, D, z)
            P = add_column(column, D * x, P[0], P[1])
            Q = add_column(column, D * y, Q[0], Q[1])
            R = add_column(column, D * z, R[0], R[1])
        j = row.parent


@helper
def columns_of_joint(tree, i, out, some):
    """D u along the directions of joint i, of the joints between it and the world."""
    row = tree.model[i]
    ndx = tree.model[0].ndx
    nv = tree.model[0].num_velocities
    for k in range(row.ndx):
        n = row.first_step + k
        P = wrench_of_step(tree, i, k, some, out)
        if k < row.num_velocities:
            m = row.first_velocity + k
            Q = wrench_of_velocity(tree, i, m)
            R = wrench_of_given(tree, i, m, ndx + nv + m, some, out)
            climb(tree, i, (P, Q, R), (n, ndx + m, ndx + nv + m), some, out)
        else:  # a step beyond the velocities, of a joint that is nonholonomic
            climb(tree, i, (P, P, P), (n, n, n), some, out)


# ------------------------------------------------------- from the world to the tips: all columns


@helper
def let_efforts_follow(tree):
    """Columns for `carry` where vdot is prescribed: dtau = U.A - u takes the place of -u."""
    for k in range(tree.model[0].num_velocities):
        if is_driven(tree.known, k):
            column = column_of(tree.memory, k)
            column[12] = -1.0
            for j in range(6):
                column[j] = 0.0


@helper
def carry(column, A, first, entries, goes_on):
    """x = D u - D U.A, then A += S x if it goes on, for columns side by side; x replaces D u.

    `A` has the accelerations of the first eight columns from `first` on, then of eight others.
    """
    D = column[12]
    t, f = scale(-D, load(column[6:9])), scale(-D, load(column[9:12]))
    x, y = angular(column), linear(column)
    weights = (t[0], t[1], t[2], f[0], f[1], f[2])
    steps = (x[0], x[1], x[2], y[0], y[1], y[2])
    k = 0
    while k + SIDE_BY_SIDE <= entries.shape[0]:
        if goes_on:
            solve_and_spread(A, first, weights, steps, entries, k)
        else:
            solve_and_spread(A, first, weights, (), entries, k)
        first += 6 * SIDE_BY_SIDE
        k += SIDE_BY_SIDE
    while k < entries.shape[0]:  # fewer than eight
        u = entries[k]
        for j in range(6):
            u += weights[j] * A[first + SIDE_BY_SIDE * j]
        entries[k] = u
        if goes_on:
            for j in range(6):
                A[first + SIDE_BY_SIDE * j] += steps[j] * u
        first += 1
        k += 1


@helper
def whole_eights(count):
    """The next multiple of eight that is not larger."""
    return count & -SIDE_BY_SIDE


@helper
def add_own(A, columns, column, a):
    """A += a beyond a joint, along one of its directions, where its column is one of these."""
    first, end = columns
    if first <= column < end:
        k = column - first
        place = 6 * whole_eights(k) + (k & (SIDE_BY_SIDE - 1))
        x = angular(a)
        y = linear(a)
        for j in range(3):
            A[place + SIDE_BY_SIDE * j] += x[j]
            A[place + SIDE_BY_SIDE * (3 + j)] += y[j]


@helper
def add_own_directions(tree, i, A, columns, some):
    """A += a of all directions of joint i."""
    row = tree.model[i]
    memory = tree.directions
    ndx = tree.model[0].ndx
    end = ndx + tree.model[0].num_velocities
    for n in range(row.first_step, row.first_step + row.ndx):
        add_own(A, columns, n, memory[n].push)
    for n in range(row.first_velocity, row.first_velocity + row.num_velocities):
        add_own(A, columns, ndx + n, memory[n].rate)
        if some and is_driven(tree.known, n):
            add_own(A, columns, end + n, memory[n].S)


@helper
def carry_block(tree, columns, symmetric, some, out):
    """The results in at most `BLOCK` columns, in place of all D u.

    Entries before the diagonal of the columns of forces are left where these are `symmetric`.
    """
    model = tree.model
    memory = tree.memory
    A = memory.A
    first, end = columns
    diagonal = model[0].ndx + model[0].num_velocities
    size = 6 * whole_eights(end - first + SIDE_BY_SIDE - 1)
    for i in range(1, model.shape[0]):
        row = model[i]
        left = 0
        if symmetric and first >= diagonal:  # in eights
            left = whole_eights(min(max(diagonal + row.first_velocity, first), end) - first)
        is_tip = i + 1 == model.shape[0] or model[i + 1].parent != i
        start = LEVEL_SIZE * whole(memory.level[i])
        before = LEVEL_SIZE * whole(memory.level[row.parent])
        if row.parent == 0:
            A[start : start + size] = 0.0
        elif is_tip and row.num_velocities == 1:
            start = before  # it is read alone
        elif before != start:
            assign(A[start + 6 * left : start + size], A[before + 6 * left : before + size])
        last = row.first_velocity + row.num_velocities - 1
        for k in range(row.first_velocity, last + 1):
            entries = out[k, first + left : end]
            carry(column_of(memory, k), A, start + 6 * left, entries, not (is_tip and k == last))
        if not is_tip:
            add_own_directions(tree, i, A[start : start + size], columns, some)


@helper
def parents_come_first(model):
    """Whether the velocities of each joint follow those of the joints between it and the world."""
    for i in range(1, model.shape[0]):
        if model[i].first_velocity < model[model[i].parent].first_velocity:
            return False
    return True


@helper
def carry_outwards(tree, some, out):
    """The results from all D u, in place."""
    nv = tree.model[0].num_velocities
    forces = tree.model[0].ndx + nv
    symmetric = not some and parents_come_first(tree.model)
    for begin, end in ((0, forces), (forces, forces + nv)):
        for first in range(begin, end, BLOCK):
            carry_block(tree, (first, min(first + BLOCK, end)), symmetric, some, out)
    if symmetric:
        for k in range(nv):
            for j in range(k):
                out[k, forces + j] = out[j, forces + k]
