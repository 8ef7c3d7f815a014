"""Columns of the derivatives of forward dynamics: all u, and what they give outwards.

Formulas: `mbkit.kernels.derivatives.forward_dynamics`.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import helper
from mbkit.kernels.derivatives.articulated_memory import BLOCK
from mbkit.kernels.derivatives.directions import depends_on_q, twist_of_step
from mbkit.kernels.elementary import all_lanes, any_lane
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.recursions.inertias import (
    NEGLIGIBLE,
    articulated_times,
    subtract_outer,
    trace,
)
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
    limit *= NEGLIGIBLE
    if not all_lanes(inertia > limit):
        return failure(SINGULAR_INERTIA if any_lane(inertia <= limit) else NOT_FINITE, k)
    column.D = 1.0 / inertia
    store(column.U, t, f)
    subtract_outer(body, column.D, column.U)
    store(column.U, add(t, cross(p, f)), f)
    return OK


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
def answers_of_joint(tree, i, out):
    """u = -(U.a + b.n) of joint i along all directions of its own and between it and the world."""
    model, _, memory, _, own = tree
    ndx = model[0].ndx
    for k in range(model[i].first_velocity, model[i].first_velocity + model[i].num_velocities):
        column = own.columns[k]
        x = (-column[6], -column[7], -column[8])
        y = (-column[9], -column[10], -column[11])
        b = (-column[13], -column[14], -column[15])
        j = i
        while j != 0:
            row = model[j]
            for n in range(row.first_step, row.first_step + row.ndx):
                out[k, n] = pairing(memory[n].push, x, y) + dot(b, load(memory[n].turn))
            for n in range(row.first_velocity, row.first_velocity + row.num_velocities):
                a = pairing(memory[n].rate, x, y)
                out[k, ndx + n] = a + dot(b, angular(memory[n].S))
            j = row.parent


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
    x, y = operator_times(own.G[i], load(memory[n].turn))
    t = add(t, x)
    f = add(f, y)
    w, u = twist_of_step(row, body, k, cold[n])
    x, y = force_bracket(w, u, angular(body.F), linear(body.F))
    if depends_on_q(row):
        p = _ZERO
        r = _ZERO
        for c in range(row.num_velocities - 1, -1, -1):
            m = row.first_velocity + c
            column = own.columns[m]
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
    x, y = operator_times(tree.memory.G[i], angular(memory[n].S))
    return add(t, x), add(f, y)


@helper
def wrench_of_force(tree, i, n, column, out):
    """dP of a force along velocity n of joint i, and its u of the joint, in a column."""
    columns = tree.memory.columns
    out[n, column] = 1.0
    t, f = add_column(columns[n], columns[n][12], _ZERO, _ZERO)
    for m in range(n - 1, tree.model[i].first_velocity - 1, -1):
        a = -pairing(columns[m], t, f)
        out[m, column] = a
        t, f = add_column(columns[m], columns[m][12] * a, t, f)
    return t, f


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
            column = tree.memory.columns[k]
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
def columns_of_joint(tree, i, out):
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
            R = wrench_of_force(tree, i, m, ndx + nv + m, out)
            climb(tree, i, (P, Q, R), (n, ndx + m, ndx + nv + m), out)
        else:  # a step beyond the velocities, of a joint that is nonholonomic
            climb(tree, i, (P, P, P), (n, n, n), out)


# ------------------------------------------------------- from the world to the tips: all columns


@helper
def carry(column, A, entries):
    """x = D (u - U.A), A += S x, for columns side by side; x takes the place of u."""
    a, b, c, d, e, f = A[0], A[1], A[2], A[3], A[4], A[5]
    S0, S1, S2, S3, S4, S5 = column[0], column[1], column[2], column[3], column[4], column[5]
    D = column[12]
    U0, U1, U2 = D * column[6], D * column[7], D * column[8]
    U3, U4, U5 = D * column[9], D * column[10], D * column[11]
    for k in range(entries.shape[0]):
        x = D * entries[k] - (U0 * a[k] + U1 * b[k] + U2 * c[k] + U3 * d[k] + U4 * e[k] + U5 * f[k])
        entries[k] = x
        a[k] += S0 * x
        b[k] += S1 * x
        c[k] += S2 * x
        d[k] += S3 * x
        e[k] += S4 * x
        f[k] += S5 * x


@helper
def carry_outwards(model, memory, out, width):
    """The results from all u, in place."""
    for first in range(0, width, BLOCK):
        end = min(first + BLOCK, width)
        for i in range(1, model.shape[0]):
            row = model[i]
            level = whole(memory.level[i])
            A = memory.A[level]
            if row.parent == 0:
                for j in range(6):
                    A[j, :] = 0.0
            elif whole(memory.level[row.parent]) != level:
                for j in range(6):
                    assign(A[j], memory.A[level - 1, j])
            for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
                carry(memory.columns[k], A, out[k, first:end])
