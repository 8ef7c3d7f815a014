"""Efforts of the joints between a joint and the world, by one of its directions and another.

The other is of a joint between it and the world, or its own. The formulas are in
`mbkit.kernels.derivatives.second_order.inverse_dynamics`.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.derivatives.directions import depends_on_q
from mbkit.kernels.derivatives.rate_of_inertia import (
    changed_wrench,
    rate_of_first_moment,
    rate_of_moment,
    rate_times,
)
from mbkit.kernels.derivatives.second_order.motion import twist_of
from mbkit.kernels.derivatives.second_order.pairs import SIZE, TWIST
from mbkit.kernels.derivatives.second_order.tensors import (
    bracket_of_wrench,
    direction_of,
    plus,
    power,
    turned,
    wrench_of,
    write,
)
from mbkit.kernels.recursions.inertias import rigid_times, symmetric_times
from mbkit.kernels.vectors import add, angular, cross, linear, pairing, scale, subtract


@helper
def column_inwards(tensors, x, y, wrench, first, end):
    """S . (t, f) of the velocities from `first` to `end` on the path, by x and y."""
    room = tensors.room
    S = room.path_S
    t, f = wrench
    for n in range(first, end):
        value = (
            S[0, n] * t[0] + S[1, n] * t[1] + S[2, n] * t[2]
            + S[3, n] * f[0] + S[4, n] * f[1] + S[5, n] * f[2]
        )  # fmt: skip
        write(tensors, room.velocity_of[n], x, y, value)


@helper
def rates_of_wrench(body, y, axis):
    """B_y w - ad_D^T B w - B (w_D x w) for a unit vector w."""
    t, f = rigid_times(body, y.n[0], y.n[1])
    X = rate_of_moment(body, y.n[0], y.n[1])
    found = add(symmetric_times(X, axis), cross(axis, t)), scale(2.0, cross(axis, f))
    if y.is_step:
        moved = bracket_of_wrench(y.D, turned(body, axis))
        back = turned(body, cross(y.D[0], axis))
        found = plus(found, (subtract(moved[0], back[0]), subtract(moved[1], back[1])))
    return found


@helper
def combined(columns, w):
    """The sum of columns w."""
    a, b, c = columns
    t = add(scale(w[0], a[0]), add(scale(w[1], b[0]), scale(w[2], c[0])))
    return t, add(scale(w[0], a[1]), add(scale(w[1], b[1]), scale(w[2], c[1])))


@helper
def direction_inwards(tensors, k, y, first, end):
    """By direction y of joint k and all directions between k and the world.

    Z = (B_y + dB/dy) n_x + (dM/dy) a_x; `first` and `end` are those of the velocities on the path.
    """
    model = tensors.model
    body = tensors.scratch[k]
    columns = (
        rates_of_wrench(body, y, (1.0, 0.0, 0.0)),
        rates_of_wrench(body, y, (0.0, 1.0, 0.0)),
        rates_of_wrench(body, y, (0.0, 0.0, 1.0)),
    )
    X = rate_of_moment(body, y.D[0], y.D[1])
    h = rate_of_first_moment(body, y.D[0], y.D[1])
    changed = plus(wrench_of(body, y), bracket_of_wrench(y.D, (angular(body.F), linear(body.F))))
    begin = first
    j = model[k].parent
    while j != 0:
        row = model[j]
        for m in range(row.ndx + row.num_velocities):
            x = direction_of(tensors, j, m)
            Z = combined(columns, x.n[0])
            if y.is_step:
                Z = plus(Z, rate_times(X, h, x.a[0], x.a[1]))
            if x.is_step:
                column_inwards(tensors, x, y, Z, first, begin)
                for c in range(row.num_velocities):
                    value = power(Z, twist_of(tensors.scratch[j].S[c]))
                    if depends_on_q(row):
                        dS = tensors.changes[x.index].S[c]
                        value += pairing(dS, changed[0], changed[1])
                    write(tensors, row.first_velocity + c, x, y, value)
                beyond = begin + row.num_velocities
                Z = plus(Z, bracket_of_wrench(x.D, changed))
                column_inwards(tensors, x, y, Z, beyond, end)
            else:
                column_inwards(tensors, x, y, Z, first, end)
        begin += row.num_velocities
        j = row.parent


@helper
def pair_inwards(tensors, k, x, y, pair, span):
    """By two directions of joint k: their pair, and where its second changes are."""
    p, begin = pair
    body = tensors.scratch[k]
    changes = tensors.room.pairs[p]
    F = angular(body.F), linear(body.F)
    t, f = rigid_times(body, x.n[0], x.n[1])
    own = bracket_of_wrench(y.n, (t, f))
    t, f = rigid_times(body, y.n[0], y.n[1])
    own = plus(own, bracket_of_wrench(x.n, (t, f)))
    own = plus(own, changed_wrench(body, angular(changes), changes[6:]))
    if x.is_step:
        own = plus(own, bracket_of_wrench(x.D, wrench_of(body, y)))
    if y.is_step:
        own = plus(own, bracket_of_wrench(y.D, wrench_of(body, x)))
        both = plus(
            bracket_of_wrench(x.D, bracket_of_wrench(y.D, F)),
            bracket_of_wrench(y.D, bracket_of_wrench(x.D, F)),
        )
        own = plus(own, (scale(0.5, both[0]), scale(0.5, both[1])))
        if depends_on_q(tensors.model[k]):
            E = twist_of(tensors.room.seconds[begin + TWIST :])
            own = plus(own, bracket_of_wrench(E, F))
    column_inwards(tensors, x, y, own, span[0], span[1])


@helper
def inwards_of_joint(tensors, k, ends):
    """Efforts of all joints between joint k and the world, by directions of k and of those."""
    row = tensors.model[k]
    room = tensors.room
    num = row.ndx + row.num_velocities
    first = row.num_velocities
    p = room.first_pair[k]
    begin = room.first_second[k]
    for m in range(num):
        x = direction_of(tensors, k, m)
        direction_inwards(tensors, k, x, first, ends[1])
        for n in range(m, num):
            y = direction_of(tensors, k, n)
            pair_inwards(tensors, k, x, y, (p, begin), (first, ends[1]))
            p += 1
            if y.is_step:
                begin += SIZE
