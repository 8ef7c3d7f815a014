"""Efforts of a joint by two directions of joints between it and the world, or of its own.

The formulas are in `mbkit.kernels.derivatives.second_order.inverse_dynamics`.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper
from mbkit.kernels.derivatives.directions import depends_on_q
from mbkit.kernels.derivatives.rate_of_inertia import rate_of_moment, transposed_rate_times
from mbkit.kernels.derivatives.second_order.motion import twist_of
from mbkit.kernels.derivatives.second_order.pairs import SIZE
from mbkit.kernels.derivatives.second_order.tensors import (
    NOTHING,
    bracket_of_wrench,
    direction_of,
    plus,
    power,
    wrench_of,
    write,
)
from mbkit.kernels.recursions.inertias import rigid_times, symmetric_times
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    linear,
    motion_bracket,
    pairing,
    scale,
)


class Effort(NamedTuple):
    """Effort r of joint i: S, U = M S, the angular part b of B^T S, and dS by steps of the joint.

    `column` is that of S in the changes of the joint.
    """

    r: Any
    i: Any
    column: Any
    S: Any
    U: Any
    b: Any


@helper
def moved_times(body, n, S):
    """B^T S, its angular part, for the B of bodies that move with n."""
    t, f = rigid_times(body, n[0], n[1])
    X = rate_of_moment(body, n[0], n[1])
    x, y = S
    return add(symmetric_times(X, x), add(cross(t, x), scale(2.0, cross(f, y))))


@helper
def effort_on_path(tensors, effort, y, at_joint, s, ends):
    """By y and all directions between its joint and the world: P . a_x + g . w_x.

    P = -ad_D^T U, g = B_y^T S + w_D x b; of the joint itself also M dS and B^T dS. The path begins
    with step s[0] and velocity s[1] and ends before ends.
    """
    room = tensors.room
    r = effort.r
    body = tensors.scratch[effort.i]
    g = moved_times(body, y.n, effort.S)
    P = NOTHING
    if y.is_step:
        P = bracket_of_wrench(y.D, effort.U)
        g = add(g, cross(y.D[0], effort.b))
        if at_joint:
            dS = twist_of(tensors.changes[y.index].S[effort.column])
            P = plus(P, rigid_times(body, dS[0], dS[1]))
            g = add(g, transposed_rate_times(body, dS[0], dS[1]))
    w = room.path_w
    a = room.path_a
    S = room.path_S
    e = room.path_rate
    line = room.line
    k = y.index
    if y.is_step:
        for t in range(s[0], ends[0]):
            line[t] = (
                g[0] * w[0, t] + g[1] * w[1, t] + g[2] * w[2, t]
                + P[0][0] * a[0, t] + P[0][1] * a[1, t] + P[0][2] * a[2, t]
                + P[1][0] * a[3, t] + P[1][1] * a[4, t] + P[1][2] * a[5, t]
            )  # fmt: skip
        for t in range(s[0], ends[0]):
            tensors.qq[r, k, room.step_of[t]] = line[t]
        for t in range(s[0], ends[0]):
            tensors.qq[r, room.step_of[t], k] = line[t]
        for t in range(s[1], ends[1]):
            line[t] = (
                g[0] * S[0, t] + g[1] * S[1, t] + g[2] * S[2, t]
                + P[0][0] * e[0, t] + P[0][1] * e[1, t] + P[0][2] * e[2, t]
                + P[1][0] * e[3, t] + P[1][1] * e[4, t] + P[1][2] * e[5, t]
            )  # fmt: skip
        for t in range(s[1], ends[1]):
            tensors.qv[r, k, room.velocity_of[t]] = line[t]
        return
    for t in range(s[0], ends[0]):
        x = g[0] * w[0, t] + g[1] * w[1, t] + g[2] * w[2, t]
        tensors.qv[r, room.step_of[t], k] = x
    for t in range(s[1], ends[1]):
        line[t] = g[0] * S[0, t] + g[1] * S[1, t] + g[2] * S[2, t]
    for t in range(s[1], ends[1]):
        tensors.vv[r, k, room.velocity_of[t]] = line[t]
    for t in range(s[1], ends[1]):
        tensors.vv[r, room.velocity_of[t], k] = line[t]


@helper
def own_part(tensors, effort, x, y, begin):
    """dS_x . y_y + dS_y . y_x + ddS . F of two directions of the joint of an effort.

    ddS is at `begin` among the second changes, where both are steps.
    """
    body = tensors.scratch[effort.i]
    total = 0.0
    if x.is_step:
        wrench = wrench_of(body, y)
        total += pairing(tensors.changes[x.index].S[effort.column], wrench[0], wrench[1])
    if y.is_step:
        wrench = wrench_of(body, x)
        total += pairing(tensors.changes[y.index].S[effort.column], wrench[0], wrench[1])
        S = tensors.room.seconds[begin + 6 * effort.column :]
        total += pairing(S, angular(body.F), linear(body.F))
    return total


@helper
def effort_at_joint(tensors, effort, k, at_joint):
    """By all pairs of directions of joint k: U . (a_xy - [n_x, n_y]) + b . n_xy + S . B_y n_x."""
    room = tensors.room
    row = tensors.model[k]
    body = tensors.scratch[effort.i]
    num = row.ndx + row.num_velocities
    p = room.first_pair[k]
    begin = room.first_second[k]
    for m in range(num):
        x = direction_of(tensors, k, m)
        for n in range(m, num):
            y = direction_of(tensors, k, n)
            pair = room.pairs[p]
            value = dot(effort.b, angular(pair)) + power(effort.U, twist_of(pair[6:]))
            value += dot(moved_times(body, y.n, effort.S), x.n[0])
            value -= power(effort.U, motion_bracket(x.n[0], x.n[1], y.n[0], y.n[1]))
            if at_joint:
                value += own_part(tensors, effort, x, y, begin)
            write(tensors, effort.r, x, y, value)
            p += 1
            if y.is_step:
                begin += SIZE


@helper
def efforts_of_joint(tensors, i, ends):
    """By all directions of joint i and of those between it and the world; `ends` of the path."""
    model = tensors.model
    body = tensors.scratch[i]
    for c in range(model[i].num_velocities):
        S = twist_of(body.S[c])
        U = rigid_times(body, S[0], S[1])
        b = transposed_rate_times(body, S[0], S[1])
        effort = Effort(model[i].first_velocity + c, i, c, S, U, b)
        s = 0
        t = 0
        k = i
        while k != 0:
            row = model[k]
            at_joint = k == i and depends_on_q(row)
            s += row.ndx
            t += row.num_velocities
            for m in range(row.ndx + row.num_velocities):
                y = direction_of(tensors, k, m)
                effort_on_path(tensors, effort, y, at_joint, (s, t), ends)
            effort_at_joint(tensors, effort, k, at_joint)
            k = row.parent
