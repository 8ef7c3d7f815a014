"""Changes of twists and accelerations with two steps or velocities at once.

The formulas are in `mbkit.kernels.derivatives.second_order.inverse_dynamics`. Directions of a joint
are its steps and after them its velocities.
"""

from typing import Any, NamedTuple

import numpy as np

from mbkit.kernels.compile import helper
from mbkit.kernels.derivatives.directions import (
    depends_on_q,
    place,
    set_subspace,
    twist_of_step,
    weighted_change,
)
from mbkit.kernels.derivatives.inverse_dynamics import (
    Moving,
    changes_of_step,
    move,
    own_terms,
    push_of_velocity,
)
from mbkit.kernels.derivatives.joints.joint import Joint, stage_of
from mbkit.kernels.derivatives.second_order.joint_changes import (
    second_joint_changes,
    turned_second_changes,
)
from mbkit.kernels.derivatives.second_order.pairs import (
    S_DOT_V,
    SIZE,
    TWIST,
    pairs_of,
    size_of_row,
)
from mbkit.kernels.new_numbers import new_numbers
from mbkit.kernels.recursions.world import start
from mbkit.kernels.spatial.operators import move_subspace
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import (
    add,
    angular,
    linear,
    load,
    motion_bracket,
    scale,
    store,
)
from mbkit.kernels.workspace import bodies, changes, directions, scratch_of

_ZERO = (0.0, 0.0, 0.0)


class Room(NamedTuple):
    """Memory of an evaluation, allocated at once and divided.

    Attributes
    ----------
    steps : (ndx, 18)
        D, n and a of each step.
    pairs : (pairs, 12)
        n and a of each pair of directions of a joint, joint by joint.
    seconds : (numbers,)
        What `second_joint_changes` leaves, joint by joint.
    path_w, path_a : (3, ndx), (6, ndx)
        The angular part of n, and a, of the steps between a body and the world, from it inwards.
    path_S, path_rate : (6, nv), (6, nv)
        S and a of the velocities there.
    line : (max(ndx, nv),)
        One number for each of them.
    step_of, velocity_of : (ndx,), (nv,)
        Which steps and velocities these are.
    first_pair, first_second : (bodies + 2,)
        Where what belongs to a joint begins.
    """

    steps: Any
    pairs: Any
    seconds: Any
    path_w: Any
    path_a: Any
    path_S: Any
    path_rate: Any
    line: Any
    step_of: Any
    velocity_of: Any
    first_pair: Any
    first_second: Any


@helper
def room_for(model, q):
    """The room for a tree, of numbers like those of q."""
    num_rows = model.shape[0]
    ndx = model[0].ndx
    nv = model[0].num_velocities
    integers = np.empty(ndx + nv + 2 * (num_rows + 1), np.int64)
    first_pair = integers[ndx + nv : ndx + nv + num_rows + 1]
    first_second = integers[ndx + nv + num_rows + 1 :]
    pairs = 0
    seconds = 0
    for i in range(1, num_rows):
        first_pair[i] = pairs
        first_second[i] = seconds
        pairs += pairs_of(model[i].ndx + model[i].num_velocities)
        seconds += size_of_row(model[i])
    a = 18 * ndx
    b = a + 12 * pairs
    c = b + seconds
    d = c + 9 * ndx
    e = d + 12 * nv
    memory = new_numbers(q, e + max(ndx, nv))
    return Room(
        memory[:a].reshape((ndx, 18)),
        memory[a:b].reshape((pairs, 12)),
        memory[b:c],
        memory[c : c + 3 * ndx].reshape((3, ndx)),
        memory[c + 3 * ndx : d].reshape((6, ndx)),
        memory[d : d + 6 * nv].reshape((6, nv)),
        memory[d + 6 * nv : e].reshape((6, nv)),
        memory[e:],
        integers[:ndx],
        integers[ndx : ndx + nv],
        first_pair,
        first_second,
    )


@helper
def half_sum(D, other, w, u):
    """([D, [D', (w, u)]] + [D', [D, (w, u)]]) / 2."""
    a, b = motion_bracket(other[0], other[1], w, u)
    a, b = motion_bracket(D[0], D[1], a, b)
    c, d = motion_bracket(D[0], D[1], w, u)
    c, d = motion_bracket(other[0], other[1], c, d)
    return scale(0.5, add(a, c)), scale(0.5, add(b, d))


@helper
def weighted_columns(row, columns, v):
    """ddS v."""
    x = _ZERO
    y = _ZERO
    for c in range(row.num_velocities):
        a = v[row.first_velocity + c]
        S = columns[6 * c : 6 * c + 6]
        x = add(x, scale(a, angular(S)))
        y = add(y, scale(a, linear(S)))
    return x, y


@helper
def add_bracket(a, x, y):
    """a + [x, y], all (angular, linear)."""
    w, u = motion_bracket(x[0], x[1], y[0], y[1])
    return add(a[0], w), add(a[1], u)


@helper
def twist_of(V):
    """An array as (angular, linear)."""
    return angular(V), linear(V)


@helper
def pair_of_steps(moving, steps, k, m, cold, second, out):
    """n_xy and a_xy of the steps k and m of a joint; `second` is theirs where S changes."""
    row, body, parent, v, vdot = moving
    x = steps[row.first_step + k]
    y = steps[row.first_step + m]
    D = twist_of(x)
    other = twist_of(y)
    V = angular(parent.V), linear(parent.V)
    A = angular(parent.A), linear(parent.A)
    n = half_sum(D, other, V[0], V[1])
    a = half_sum(D, other, A[0], A[1])
    if depends_on_q(row):
        E = twist_of(second[TWIST:])
        s = weighted_columns(row, second, v)
        n = add_bracket(n, V, E)
        n = add(n[0], s[0]), add(n[1], s[1])
        a = add_bracket(a, A, E)
        a = add_bracket(a, twist_of(body.V), s)
        s = weighted_columns(row, second, vdot)
        a = add(a[0], s[0]), add(a[1], s[1])
        first = weighted_change(cold[row.first_step + k], row, v)
        then = weighted_change(cold[row.first_step + m], row, v)
        a = add_bracket(a, twist_of(x[6:]), then)
        a = add_bracket(a, twist_of(y[6:]), first)
        c = second[S_DOT_V:]
        a = add(a[0], angular(c)), add(a[1], linear(c))
    a = add_bracket(a, V, n)
    store(out, n[0], n[1])
    store(out[6:], a[0], a[1])


@helper
def pair_with_velocity(moving, step, c, change, second, out):
    """n_xy and a_xy of a step and velocity c of a joint; `second` is d2 (S-dot v) where S changes.

    n = dS_x e_c,   a = -[n, V_p] + [n_x, S_c] + [S_c, dS_x v] + [V, dS_x e_c] + d2 (S-dot v).
    """
    row, body, parent, v, _ = moving
    S = twist_of(body.S[c])
    n = _ZERO, _ZERO
    a = add_bracket(n, twist_of(step[6:]), S)
    if depends_on_q(row):
        n = twist_of(change.S[c])
        a = add_bracket(a, twist_of(parent.V), n)
        a = add_bracket(a, S, weighted_change(change, row, v))
        a = add_bracket(a, twist_of(body.V), n)
        if row.constant == 0:
            a = add(a[0], angular(second)), add(a[1], linear(second))
    store(out, n[0], n[1])
    store(out[6:], a[0], a[1])


@helper
def pairs_of_joint(moving, room, cold, i):
    """n_xy and a_xy of all pairs of directions of a joint."""
    row = moving.row
    nv = row.num_velocities
    seconds = room.seconds[room.first_second[i] :]
    mixed = SIZE * pairs_of(row.ndx)
    end = mixed + 6 * row.ndx * nv
    p = room.first_pair[i]
    begin = 0
    for k in range(row.ndx):
        step = room.steps[row.first_step + k]
        for m in range(k, row.ndx):
            pair_of_steps(moving, room.steps, k, m, cold, seconds[begin:], room.pairs[p])
            begin += SIZE
            p += 1
        for c in range(nv):
            change = cold[row.first_step + k]
            second = seconds[mixed + 6 * (k * nv + c) :]
            pair_with_velocity(moving, step, c, change, second, room.pairs[p])
            p += 1
    for c in range(pairs_of(nv)):
        pair = room.pairs[p]
        store(pair, _ZERO, _ZERO)
        store(pair[6:], _ZERO, _ZERO)
        if row.constant == 0:
            second = seconds[end + 6 * c :]
            store(pair[6:], angular(second), linear(second))
        p += 1


@helper
def set_subspace_to_second_order(space, i, q, v, out):
    """S and S-dot v of a body that is placed, and their first and second changes."""
    row = bodies(space)[i]
    body = scratch_of(space)[i]
    status = set_subspace(space, i, q, v)
    if status == OK and row.constant == 0:
        joint = Joint(row, body, q, v, stage_of(space), space, i)
        status = second_joint_changes(joint, out)
        move_subspace(row, body)
    elif depends_on_q(row):
        turned_second_changes(row, body, out)
    return status


@helper
def outward_to_second_order(space, room, loaded, q, v, vdot):
    """Motion, own terms, and the changes by all directions and pairs of a joint."""
    model = bodies(space)
    scratch = scratch_of(space)
    memory = directions(space)
    cold = changes(space)
    start(scratch, scale(-1.0, load(model[0].gravity)))
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        parent = scratch[row.parent]
        place(row, body, parent, load(body.p))
        second = room.seconds[room.first_second[i] :]
        if set_subspace_to_second_order(space, i, q, v, second) != OK:
            return failure(JOINT_FAILED, i)
        x = move(row, body, parent, v, vdot)
        moving = Moving(row, body, parent, v, vdot)
        for k in range(row.ndx):
            j = row.first_step + k
            step = room.steps[j]
            D = twist_of_step(row, body, k, cold[j])
            w, u, a, b = changes_of_step(moving, k, cold[j])
            store(step, D[0], D[1])
            store(step[6:], w, u)
            store(step[12:], a, b)
        for c in range(row.num_velocities):
            j = row.first_velocity + c
            push_of_velocity(row, body, body.S[c], memory[j], cold[j], x)
        pairs_of_joint(moving, room, cold, i)
        own_terms(row, body, loaded)
    return OK


@helper
def set_path(model, memory, i, room):
    """The directions of body i and of all bodies between it and the world, from it inwards."""
    s = 0
    t = 0
    while i != 0:
        row = model[i]
        for k in range(row.first_step, row.first_step + row.ndx):
            for j in range(3):
                room.path_w[j, s] = room.steps[k, 6 + j]
            for j in range(6):
                room.path_a[j, s] = room.steps[k, 12 + j]
            room.step_of[s] = k
            s += 1
        for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
            for j in range(6):
                room.path_S[j, t] = memory[k].S[j]
                room.path_rate[j, t] = memory[k].rate[j]
            room.velocity_of[t] = k
            t += 1
        i = row.parent
    return s, t
