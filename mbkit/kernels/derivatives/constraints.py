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

from typing import Any, NamedTuple

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.constraints.evaluate import set_time
from mbkit.kernels.constraints.workspace import closure_of
from mbkit.kernels.derivatives.directions import (
    depends_on_q,
    place_and_move,
    twist_of_step,
    weighted_change,
)
from mbkit.kernels.derivatives.joints.loop_joint import (
    add_force,
    add_power,
    at_loop_joints,
    move_sites,
    power_of,
    set_changes,
    set_current_wrenches,
)
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions, velocities
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    add,
    angular,
    dot,
    force_bracket,
    force_to_parent,
    linear,
    motion_bracket,
    motion_to_child,
    pairing,
    scale,
    subtract,
)
from mbkit.kernels.workspace import at_rest, bodies, changes, columns_of, num_columns, scratch_of

_ZERO = (0.0, 0.0, 0.0)

# ------------------------------------------------------------------------------------ A v by q


class Moving(NamedTuple):
    """How a loop moves: the velocities v, and the twist V_a of its predecessor."""

    v: Any
    V_a: Any


@helper
def add_velocity_columns(space, loop, j, sign, moving, out):
    """Add the derivatives of the rows of a constraint by the steps of body j."""
    row = bodies(space)[j]
    body = scratch_of(space)[j]
    parent = scratch_of(space)[row.parent]
    table = changes(space)
    column_of = columns_of(space)
    b = loop.b
    for k in range(row.ndx):
        n = row.first_step + k
        D = twist_of_step(row, body, k, table[n])
        # [V_p, D] + [D, V_a] = [V_p - V_a, D]
        w = subtract(angular(parent.V), moving.V_a[0])
        u = subtract(linear(parent.V), moving.V_a[1])
        w, u = motion_bracket(w, u, D[0], D[1])
        if depends_on_q(row):
            x, y = weighted_change(table[n], row, moving.v)
            w = add(w, x)
            u = add(u, y)
        w, u = motion_to_child(b.R, b.p, w, u)
        x, y = motion_to_child(b.R, b.p, D[0], D[1])
        for r in range(loop.constraint.num_rows):
            change = power_of(loop.W, r, w, u)
            if loop.joint.constant == 0:
                change += power_of(loop.changes, r, x, y)
            out[loop.constraint.first_row + r, column_of[n]] += sign * change


@helper
def along_branches(space, loop, add_columns, what, out):
    """Call add_columns(space, loop, j, sign, what, out) for the bodies j of both branches.

    Up to where they meet: what is inward of it moves the loop as one. sign: 1 on the side of b.
    """
    model = bodies(space)
    i = loop.a.row
    j = loop.b.row
    while i != j:
        if i > j:
            add_columns(space, loop, i, -1.0, what, out)
            i = model[i].parent
        else:
            add_columns(space, loop, j, 1.0, what, out)
            j = model[j].parent


@helper
def velocity_rows(space, loop, v, out):
    """The derivatives of the rows of one loop joint."""
    scratch = scratch_of(space)
    a, b = loop.a, loop.b
    V_a = angular(scratch[a.row].V), linear(scratch[a.row].V)
    w = subtract(angular(scratch[b.row].V), V_a[0])
    u = subtract(linear(scratch[b.row].V), V_a[1])
    status = set_changes(loop, add_power, motion_to_child(b.R, b.p, w, u))
    if status == OK:
        status = set_current_wrenches(loop)
    if status == OK:
        along_branches(space, loop, add_velocity_columns, Moving(v, V_a), out)
    return status


@address_kernel(EVALUATION)
def velocity_derivative(space, _option, q, v, t, out):
    """D_q(A v), out (num_rows, ndx), or as many columns as velocities share."""
    set_time(space, t[0])
    model = bodies(space)
    closure = closure_of(space)
    v = velocities(model, v)
    matrix = as_matrix(out, closure.num_rows, num_columns(space, model[0].ndx))
    matrix[:, :] = 0.0
    status = place_and_move(space, positions(model, q), v, True)
    if status != OK:
        return status
    move_sites(space)
    return at_loop_joints(space, velocity_rows, v, matrix)


# ------------------------------------------------------------------------------ A^T lambda by q


class Step(NamedTuple):
    """A step k of row j along D, and how it changes L: by dL; sign: 1 on the side of b.

    turned  sign ad_D^T L, whose power with V is that of L with sign [D, V].
    """

    j: int
    k: int
    sign: float
    L: Any
    dL: Any
    turned: Any


@helper
def entry(space, i, c, on_b, step):
    """d(L.V_i) along a step.

    V_i = S_c of row i, on the side of b; where i is on that of a, V_i = -S_c, and S_c moves a.
    """
    j, k, sign, L, dL, turned = step
    model = bodies(space)
    S = scratch_of(space)[i].S[c]
    t, f = dL
    if not on_b:  # L . [D, V_a] with V_a = S, wherever row j is
        t = subtract(turned[0], t)
        f = subtract(turned[1], f)
    if i < j and on_b == (sign > 0.0):  # beyond row i: n = [S, D]
        t = subtract(t, turned[0])
        f = subtract(f, turned[1])
    found = pairing(S, t, f)
    if i == j and depends_on_q(model[i]):
        dS = changes(space)[model[i].first_step + k].S[c]
        found += sign * (dot(L[0], angular(dS)) + dot(L[1], linear(dS)))
    return found


@helper
def add_force_columns(space, loop, j, sign, L, out):
    """Add the derivatives of the forces on all bodies of the loop by the steps of body j."""
    model = bodies(space)
    row = model[j]
    b = loop.b
    Q = loop.changes
    for k in range(row.ndx):
        n = row.first_step + k
        D = twist_of_step(row, scratch_of(space)[j], k, changes(space)[n])
        x = motion_to_child(b.R, b.p, D[0], D[1])
        t = _ZERO
        f = _ZERO
        for m in range(6):
            factor = sign * (x[0][m] if m < 3 else x[1][m - 3])
            t = add(t, scale(factor, (Q[6 * m], Q[6 * m + 1], Q[6 * m + 2])))
            f = add(f, scale(factor, (Q[6 * m + 3], Q[6 * m + 4], Q[6 * m + 5])))
        dL = force_to_parent(b.R, b.p, t, f)
        x, y = force_bracket(D[0], D[1], L[0], L[1])
        step = Step(j, k, sign, L, dL, (scale(-sign, x), scale(-sign, y)))
        column = columns_of(space)[n]
        on_a = loop.a.row
        on_b = b.row
        while on_a != on_b:
            is_b = on_b > on_a
            i = on_b if is_b else on_a
            for c in range(model[i].num_velocities):
                out[model[i].first_velocity + c, column] += entry(space, i, c, is_b, step)
            if is_b:
                on_b = model[on_b].parent
            else:
                on_a = model[on_a].parent


@helper
def force_rows(space, loop, multipliers, out):
    """The derivatives of the generalized forces of one loop joint."""
    constraint, W = loop.constraint, loop.W
    status = set_changes(loop, add_force, multipliers)
    if status == OK:
        status = set_current_wrenches(loop)
    if status != OK:
        return status
    t = _ZERO
    f = _ZERO
    for r in range(constraint.num_rows):
        factor = multipliers[constraint.first_row + r]
        t = add(t, scale(factor, (W[6 * r], W[6 * r + 1], W[6 * r + 2])))
        f = add(f, scale(factor, (W[6 * r + 3], W[6 * r + 4], W[6 * r + 5])))
    L = force_to_parent(loop.b.R, loop.b.p, t, f)
    along_branches(space, loop, add_force_columns, L, out)
    return OK


@address_kernel(EVALUATION)
def force_derivative(space, _option, q, multipliers, t, out):
    """D_q(A^T multipliers), out (nv, ndx), or as many columns as velocities share."""
    set_time(space, t[0])
    model = bodies(space)
    matrix = as_matrix(out, model[0].num_velocities, num_columns(space, model[0].ndx))
    matrix[:, :] = 0.0
    status = place_and_move(space, positions(model, q), at_rest(space), True)
    if status != OK:
        return status
    move_sites(space)
    return at_loop_joints(space, force_rows, multipliers, matrix)
