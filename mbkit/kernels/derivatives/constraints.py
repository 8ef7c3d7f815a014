"""Derivatives of A v and of A^T lambda with respect to the configuration, for joints in loops.

With a and b the bodies of a loop joint, V = V_b - V_a in the axes of its successor's frame C_b, and
a step that moves b along D, with what `inverse_dynamics` in this package calls n,

    dV = n + [D, V_a],   dT = T hat(D),

and the opposite where it moves a; what moves both changes neither. The wrenches W of the rows
depend on T alone, so that with P_i = (dW/dx_i) . V of the six directions x of T

    d(W.V) = P D + W.dV.

The same for A^T lambda, where V is the column of a velocity, and L = W lambda:

    d(L.V) = dL.V + L.dV,

with V = S_i, V_a = 0 on the side of b, and V = -S_i, V_a = S_i on that of a.

All is exact but for dW, by differences of sixth order where it is not constant.
"""

from mbkit.kernels.compile import address_kernel, floats_at, helper
from mbkit.kernels.constraints.evaluate import set_time
from mbkit.kernels.constraints.layout import BUFFER_Q, BUFFER_R, BUFFER_WRENCHES
from mbkit.kernels.constraints.space import closure_of, constraints, joints, sites
from mbkit.kernels.derivatives.directions import (
    depends_on_q,
    twist_of_step,
    weighted_change,
)
from mbkit.kernels.derivatives.loop_joint import (
    current_wrenches,
    force_changes,
    move_bodies,
    move_sites,
    pose_of_joint,
    power_changes,
    power_of,
)
from mbkit.kernels.evaluation import EVALUATION, positions, rows, velocities
from mbkit.kernels.space import at_rest, bodies, changes, num_places, places, scratch
from mbkit.kernels.status import CONSTRAINT_FAILED, OK, status
from mbkit.kernels.vectors import (
    add,
    angular,
    dot,
    force_to_parent,
    linear,
    motion_bracket,
    motion_to_child,
    scale,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)

# ------------------------------------------------------------------------------------ A v by q


@helper
def add_velocity_columns(space, constraint, joint_row, j, sign, v, b, V_a, out):
    """What the steps of row j add to the rows of a constraint."""
    row = bodies(space)[j]
    body = scratch(space)[j]
    parent = scratch(space)[row.parent]
    table = changes(space)
    place = places(space)
    buffer = floats_at(closure_of(space).buffer, closure_of(space).num_buffer)
    W = buffer[BUFFER_WRENCHES:BUFFER_Q]
    P = buffer[BUFFER_Q:BUFFER_R]
    for k in range(row.ndx):
        n = row.first_step + k
        D = twist_of_step(row, body, k, table[n])
        # [V_p, D] + [D, V_a] = [V_p - V_a, D]
        w = subtract(angular(parent.V), V_a[0])
        u = subtract(linear(parent.V), V_a[1])
        w, u = motion_bracket(w, u, D[0], D[1])
        if depends_on_q(row):
            x, y = weighted_change(table[n], row, v)
            w = add(w, x)
            u = add(u, y)
        w, u = motion_to_child(b.R, b.p, w, u)
        x, y = motion_to_child(b.R, b.p, D[0], D[1])
        for r in range(constraint.num_rows):
            change = power_of(W, r, w, u)
            if joint_row.constant == 0:
                change += power_of(P, r, x, y)
            out[constraint.first_row + r, place[n]] += sign * change


@helper
def velocity_rows(space, constraint, v, out):
    """The derivatives of the rows of one loop joint."""
    closure = closure_of(space)
    model = bodies(space)
    work = scratch(space)
    table = sites(closure)
    loops, loop_work = joints(closure)
    joint = loops[constraint.joint]
    body = loop_work[constraint.joint]
    pose_of_joint(closure, constraint, body)
    a = table[constraint.first_site]
    b = table[constraint.first_site + 1]
    V_a = angular(work[a.row].V), linear(work[a.row].V)
    w = subtract(angular(work[b.row].V), V_a[0])
    u = subtract(linear(work[b.row].V), V_a[1])
    w, u = motion_to_child(b.R, b.p, w, u)
    buffer = floats_at(closure.buffer, closure.num_buffer)
    state = power_changes(closure, constraint, joint, body, w, u, buffer[BUFFER_Q:BUFFER_R])
    if state == OK:
        state = current_wrenches(closure, joint, body)
    if state != OK:
        return state
    i = a.row
    j = b.row
    # up to where both branches meet: what is inward of it moves the loop as one
    while i != j:
        if i > j:
            add_velocity_columns(space, constraint, joint, i, -1.0, v, b, V_a, out)
            i = model[i].parent
        else:
            add_velocity_columns(space, constraint, joint, j, 1.0, v, b, V_a, out)
            j = model[j].parent
    return OK


@address_kernel(EVALUATION)
def velocity_derivative(space, _option, q, v, t, out):
    """D_q(A v), out (num_rows, ndx), or as many columns as there are places."""
    set_time(space, t[0])
    model = bodies(space)
    closure = closure_of(space)
    v = velocities(model, v)
    matrix = rows(out, closure.num_rows, num_places(space, model[0].ndx))
    matrix[:, :] = 0.0
    state = move_bodies(space, positions(model, q), v)
    if state != OK:
        return state
    move_sites(space)
    every = constraints(closure)
    for c in range(every.shape[0]):
        if velocity_rows(space, every[c], v, matrix) != OK:
            return status(CONSTRAINT_FAILED, c)
    return OK


# ------------------------------------------------------------------------------ A^T lambda by q


@helper
def entry(space, i, c, on_b, j, k, D, sign, L, dL):
    """d(L.V_i) along step k of row j; sign: 1 where j is on the side of b.

    V_i = S_c of row i, on the side of b; where i is on that of a, V_i = -S_c, and S_c moves a.
    """
    model = bodies(space)
    S = scratch(space)[i].S[c]
    w = angular(S)
    u = linear(S)
    found = dot(dL[0], w) + dot(dL[1], u)
    if not on_b:
        found = -found
        # L . [D, V_a] with V_a = S, wherever row j is
        x, y = motion_bracket(D[0], D[1], w, u)
        found += sign * (dot(L[0], x) + dot(L[1], y))
    if i < j and on_b == (sign > 0.0):
        # beyond row i: n = [S, D]
        x, y = motion_bracket(w, u, D[0], D[1])
        found += sign * (dot(L[0], x) + dot(L[1], y))
    if i == j and depends_on_q(model[i]):
        dS = changes(space)[model[i].first_step + k].S[c]
        found += sign * (dot(L[0], angular(dS)) + dot(L[1], linear(dS)))
    return found


@helper
def force_columns(space, constraint, j, sign, L, b, out):
    """What the steps of row j add to the forces on all rows of the loop."""
    model = bodies(space)
    row = model[j]
    closure = closure_of(space)
    Q = floats_at(closure.buffer, closure.num_buffer)[BUFFER_Q:BUFFER_R]
    for k in range(row.ndx):
        n = row.first_step + k
        D = twist_of_step(row, scratch(space)[j], k, changes(space)[n])
        x = motion_to_child(b.R, b.p, D[0], D[1])
        t = _ZERO
        f = _ZERO
        for m in range(6):
            factor = sign * (x[0][m] if m < 3 else x[1][m - 3])
            t = add(t, scale(factor, (Q[6 * m], Q[6 * m + 1], Q[6 * m + 2])))
            f = add(f, scale(factor, (Q[6 * m + 3], Q[6 * m + 4], Q[6 * m + 5])))
        dL = force_to_parent(b.R, b.p, t, f)
        column = places(space)[n]
        on_a = sites(closure)[constraint.first_site].row
        on_b = b.row
        while on_a != on_b:
            is_b = on_b > on_a
            i = on_b if is_b else on_a
            for c in range(model[i].num_velocities):
                out[model[i].first_velocity + c, column] += entry(
                    space, i, c, is_b, j, k, D, sign, L, dL
                )
            if is_b:
                on_b = model[on_b].parent
            else:
                on_a = model[on_a].parent


@helper
def force_rows(space, constraint, multipliers, out):
    """The derivatives of the generalized forces of one loop joint."""
    closure = closure_of(space)
    model = bodies(space)
    table = sites(closure)
    loops, loop_work = joints(closure)
    joint = loops[constraint.joint]
    body = loop_work[constraint.joint]
    pose_of_joint(closure, constraint, body)
    a = table[constraint.first_site]
    b = table[constraint.first_site + 1]
    buffer = floats_at(closure.buffer, closure.num_buffer)
    W = buffer[BUFFER_WRENCHES:BUFFER_Q]
    state = force_changes(closure, constraint, joint, body, multipliers, buffer[BUFFER_Q:BUFFER_R])
    if state == OK:
        state = current_wrenches(closure, joint, body)
    if state != OK:
        return state
    t = _ZERO
    f = _ZERO
    for r in range(constraint.num_rows):
        factor = multipliers[constraint.first_row + r]
        t = add(t, scale(factor, (W[6 * r], W[6 * r + 1], W[6 * r + 2])))
        f = add(f, scale(factor, (W[6 * r + 3], W[6 * r + 4], W[6 * r + 5])))
    L = force_to_parent(b.R, b.p, t, f)
    i = a.row
    j = b.row
    while i != j:
        if i > j:
            force_columns(space, constraint, i, -1.0, L, b, out)
            i = model[i].parent
        else:
            force_columns(space, constraint, j, 1.0, L, b, out)
            j = model[j].parent
    return OK


@address_kernel(EVALUATION)
def force_derivative(space, _option, q, multipliers, t, out):
    """D_q(A^T multipliers), out (nv, ndx), or as many columns as there are places."""
    set_time(space, t[0])
    model = bodies(space)
    closure = closure_of(space)
    matrix = rows(out, model[0].num_velocities, num_places(space, model[0].ndx))
    matrix[:, :] = 0.0
    state = move_bodies(space, positions(model, q), at_rest(space))
    if state != OK:
        return state
    move_sites(space)
    every = constraints(closure)
    for c in range(every.shape[0]):
        if force_rows(space, every[c], multipliers, matrix) != OK:
            return status(CONSTRAINT_FAILED, c)
    return OK
