"""Derivatives of inverse dynamics (RNEA) with respect to configuration and velocity.

Everything is measured in the axes of the world, at the origin of the body that the tree hangs on
the world by: there twists, wrenches and inertias of all bodies add as they are.

A step along D of joint j moves all bodies beyond it as one, and leaves the others where they are.
Seen from the bodies, the changes of twist and acceleration are the same for all bodies i beyond j
but for a bracket,

    dV_i = n,   dA_i = a + [n, V_i],
    n = [V_p, D] + dS v,   a = [A_p, D] - [n, V_p] + dS vdot + [V_j, dS v] + d(S-dot v),

so that the wrench that the bodies beyond i need together changes by

    dF_i = M a + B n,   B = -M ad_V - ad_V^T M + (h x),   (h x) n = -ad_n^T h,   h = M V,

with the sums of M and B over these bodies (`mbkit.kernels.derivatives.rate_of_inertia`). Then

    d tau_i = S_i . (M_i a + B_i n)                      for i beyond j,
    d tau_j = S_j . (M_j a + B_j n) + dS . F_j,
    d tau_i = S_i . (M_j a + B_j n - ad_D^T F_j)         for i between j and the world,

and nothing in other branches. Along a velocity n = S, a = [V_j + V_p, S] + d(S-dot v), D = 0.

Sources: Carpentier, Mansard 2018 (Analytical derivatives of rigid body dynamics algorithms); Singh,
Russo, Wensing 2022 (Efficient analytical derivatives of rigid-body dynamics using spatial vector
algebra), whose B it is; derived here for joints whose S depends on q, or is turned round.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import address_kernel, as_array, floats_at, helper, records_at
from mbkit.kernels.derivatives.branches import (
    MATRICES,
    branches_in,
    branches_size,
    height_of,
    motion_numbers,
    push,
    row_of,
    set_end,
    set_row,
    set_wrench,
    span_of,
    spans_in,
    spans_size,
    velocity_of_direction,
)
from mbkit.kernels.derivatives.directions import (
    depends_on_q,
    place,
    set_subspace,
    store_vector,
    twist_of_step,
    weighted_change,
)
from mbkit.kernels.derivatives.rate_of_inertia import (
    add_inertia_and_rate,
    changed_wrench,
    set_inertia_and_rate,
    transposed_rate_times,
)
from mbkit.kernels.evaluation_form import EVALUATION, positions, velocities
from mbkit.kernels.layout import SPACE
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.recursions.inertias import rigid_times
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.world import start
from mbkit.kernels.status import JOINT_FAILED, OK, failure
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    force_bracket,
    force_to_parent,
    linear,
    load,
    motion_bracket,
    pairing,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import bodies, changes, columns_of, directions, num_columns, scratch_of

_ZERO = (0.0, 0.0, 0.0)

# ------------------------------------------------------------------ from the world to the tips


@helper
def move(row, body, parent, v, vdot):
    """V = V_p + S v;  A = A_p + S vdot + ad_V S v + S-dot v; returns S v."""
    x = joint_sum(row, body, v)
    y = joint_sum(row, body, vdot)
    w = add(angular(parent.V), x[0])
    u = add(linear(parent.V), x[1])
    store(body.V, w, u)
    a, b = motion_bracket(w, u, x[0], x[1])
    store(
        body.A,
        add(add(angular(parent.A), y[0]), add(a, angular(body.bias))),
        add(add(linear(parent.A), y[1]), add(b, linear(body.bias))),
    )
    return x


class Moving(NamedTuple):
    """A body of the tree, its scratch and that of its parent, and how the system moves."""

    row: Any
    body: Any
    parent: Any
    v: Any
    vdot: Any


@helper
def changes_of_step(moving, k, change):
    """n and a of step k, along D."""
    row, body, parent, v, vdot = moving
    D = twist_of_step(row, body, k, change)
    w, u = motion_bracket(angular(parent.V), linear(parent.V), D[0], D[1])
    a, b = motion_bracket(angular(parent.A), linear(parent.A), D[0], D[1])
    if depends_on_q(row):
        x, y = weighted_change(change, row, v)
        w = add(w, x)
        u = add(u, y)
        c, d = motion_bracket(angular(body.V), linear(body.V), x, y)
        x, y = weighted_change(change, row, vdot)
        a = add(a, add(c, x))
        b = add(b, add(d, y))
        if row.constant == 0:
            a = add(a, angular(change.bias))
            b = add(b, linear(change.bias))
    c, d = motion_bracket(angular(parent.V), linear(parent.V), w, u)
    return w, u, add(a, c), add(b, d)


@helper
def push_of_step(moving, k, direction, change):
    """The angular part of n, and a, of step k."""
    w, _, a, b = changes_of_step(moving, k, change)
    store_vector(direction.turn, w)
    store(direction.push, a, b)


@helper
def push_of_velocity(row, body, S, direction, change, x):
    """a of a velocity: [2 V - S v, S] + d(S-dot v), where V - S v is the parent's."""
    w = subtract(scale(2.0, angular(body.V)), x[0])
    u = subtract(scale(2.0, linear(body.V)), x[1])
    a, b = motion_bracket(w, u, angular(S), linear(S))
    if row.constant == 0:
        a = add(a, angular(change.bias_rate))
        b = add(b, linear(change.bias_rate))
    store(direction.rate, a, b)
    store(direction.S, angular(S), linear(S))


@helper
def own_terms(row, body, loaded):
    """M, X, momentum and F = M A - ad_V^T M V of a body alone; less the wrench applied to it."""
    t, f = set_inertia_and_rate(row, body)
    x, y = force_bracket(angular(body.V), linear(body.V), t, f)
    t, f = rigid_times(body, angular(body.A), linear(body.A))
    store(body.F, add(t, x), add(f, y))
    if loaded != 0:
        W = body.wrench
        t, f = force_to_parent(body.world_R, body.world_p, angular(W), linear(W))
        accumulate(body.F, scale(-1.0, t), scale(-1.0, f))


@helper
def outward(space, loaded, q, v, vdot):
    """Motion, own terms, and n and a of every direction."""
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
        if set_subspace(space, i, q, v) != OK:
            return failure(JOINT_FAILED, i)
        x = move(row, body, parent, v, vdot)
        moving = Moving(row, body, parent, v, vdot)
        for k in range(row.ndx):
            j = row.first_step + k
            push_of_step(moving, k, memory[j], cold[j])
        for c in range(row.num_velocities):
            j = row.first_velocity + c
            push_of_velocity(row, body, body.S[c], memory[j], cold[j], x)
        own_terms(row, body, loaded)
    return OK


# ------------------------------------------------------------------ from the tips to the world


class Tree(NamedTuple):
    """Arguments and results of the pass from the tips to the world.

    Attributes
    ----------
    model, scratch, directions, changes : (n,)
        Bodies of the tree, their scratch, and what each step and each velocity changes.
    column_of : (n,)
        The column of each step, and of each velocity.
    steps, velocities, mass : Branches
        Of the derivatives by q and v, and of the mass matrix: there W = U, and a = S.
    spans : Spans
        Where the directions of joints are.
    """

    model: Any
    scratch: Any
    directions: Any
    changes: Any
    column_of: Any
    steps: Any
    velocities: Any
    mass: Any
    spans: Any


class Result(NamedTuple):
    """The derivatives and the mass matrix, or none of it, row by row; how long rows are."""

    d_q: Any
    d_v: Any
    mass: Any
    steps_wide: Any
    wide: Any


@helper
def tree_of(space, model):
    """The tree, with its memory."""
    size = branches_size(model[0].ndx)
    address = records_at(space, 1, SPACE)[0].columns
    memory = floats_at(address, MATRICES * size + spans_size(model.shape[0]))
    return Tree(
        model,
        scratch_of(space),
        directions(space),
        changes(space),
        columns_of(space),
        branches_in(memory[:size]),
        branches_in(memory[size : 2 * size]),
        branches_in(memory[2 * size : MATRICES * size]),
        spans_in(model, memory[MATRICES * size :]),
    )


@helper
def push_joint(tree, i, with_mass):
    """The directions of joint i come to the stacks."""
    memory, column_of = tree.directions, tree.column_of
    row = tree.model[i]
    for k in range(row.ndx):
        height = height_of(tree.spans, i) + k
        step = memory[row.first_step + k]
        numbers = motion_numbers(step.push, load(step.turn))
        push(tree.steps.stack, height, numbers, column_of[row.first_step + k])
        c = velocity_of_direction(row, k)
        n = angular(memory[c].S)
        numbers = motion_numbers(memory[c].rate, n)
        push(tree.velocities.stack, height, numbers, column_of[c])
        if with_mass:
            push(tree.mass.stack, height, motion_numbers(memory[c].S, n), column_of[c])


@helper
def zeros_in(entries, k, width):
    """Row k, made zero just before it is written: all zeros at once leave the nearest cache."""
    row = row_of(entries, k, width)
    row[:] = 0.0
    return row


@helper
def rows_of_joint(tree, i, first, result):
    """The rows of the velocities of joint i, whose directions begin at `first`."""
    row = tree.model[i]
    body = tree.scratch[i]
    span = span_of(tree.spans, row, i, first)
    for c in range(row.num_velocities):
        velocity = row.first_velocity + c
        S = body.S[c]
        U = rigid_times(body, angular(S), linear(S))
        b = transposed_rate_times(body, angular(S), linear(S))
        set_row(tree.steps, span, S, U, b, zeros_in(result.d_q, velocity, result.steps_wide))
        set_row(tree.velocities, span, S, U, b, zeros_in(result.d_v, velocity, result.wide))
        if result.mass.shape[0] > 0:
            set_row(tree.mass, span, S, U, _ZERO, zeros_in(result.mass, velocity, result.wide))
    if depends_on_q(row):
        add_change_of_subspace(row, body, tree, result)


@helper
def add_change_of_subspace(row, body, tree, result):
    """d tau += dS . F for the joint itself."""
    t = angular(body.F)
    f = linear(body.F)
    for c in range(row.num_velocities):
        d_q = row_of(result.d_q, row.first_velocity + c, result.steps_wide)
        for k in range(row.first_step, row.first_step + row.ndx):
            d_q[tree.column_of[k]] += pairing(tree.changes[k].S[c], t, f)


@helper
def wrenches_of_joint(tree, i, first, with_mass):
    """W of the directions of joint i, for the rows of the joints between it and the world."""
    memory, column_of = tree.directions, tree.column_of
    row = tree.model[i]
    body = tree.scratch[i]
    for k in range(row.ndx):
        n = row.first_step + k
        t, f = changed_wrench(body, load(memory[n].turn), memory[n].push)
        w, u = twist_of_step(row, body, k, tree.changes[n])
        x, y = force_bracket(w, u, angular(body.F), linear(body.F))
        set_wrench(tree.steps, first + k, add(t, x), add(f, y), column_of[n])
        n = velocity_of_direction(row, k)
        S = memory[n].S
        t, f = changed_wrench(body, angular(S), memory[n].rate)
        set_wrench(tree.velocities, first + k, t, f, column_of[n])
        if with_mass:
            t, f = rigid_times(body, angular(S), linear(S))
            set_wrench(tree.mass, first + k, t, f, column_of[n])


@helper
def add_to_parent(body, parent):
    """Sums over the bodies beyond a joint."""
    add_inertia_and_rate(body, parent)
    accumulate(parent.F, angular(body.F), linear(body.F))


@address_kernel(EVALUATION)
def inverse_dynamics_derivatives(space, loaded, q, v, vdot, out):
    """d tau by d q, (nv, ndx), and after it by d v, (nv, nv).

    Where columns are shared, (nv, num_columns) both, and after them the mass matrix.

    Reads   model, q, v, vdot; where `loaded`, the wrenches in scratch, in the axes of the bodies,
            to which they stay fixed.
    Writes  scratch, directions, out. Cost: O(nv depth), beside the zeros.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    nv = model[0].num_velocities
    ndx = model[0].ndx
    q = positions(model, q)
    v = velocities(model, v)
    vdot = velocities(model, vdot)
    status = joint_pass(model, scratch, q, v)
    if status == OK:
        status = outward(space, loaded, q, v, vdot)
    if status != OK:
        return status
    steps_wide = num_columns(space, ndx)
    wide = num_columns(space, nv)
    more = nv if num_columns(space, 0) > 0 else 0  # rows of the mass matrix
    every = as_array(out, nv * (steps_wide + wide) + more * wide)
    by_v = nv * steps_wide
    end = by_v + nv * wide
    result = Result(every[:by_v], every[by_v:end], every[end:], steps_wide, wide)
    tree = tree_of(space, model)
    end = ndx
    pushed = 0  # this body and those between it and the world are on the stacks
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        j = i
        while j != pushed:
            push_joint(tree, j, more > 0)
            set_end(tree.spans, j, end)
            j = model[j].parent
        end -= row.ndx
        rows_of_joint(tree, i, end, result)
        if row.parent != 0:
            wrenches_of_joint(tree, i, end, more > 0)
            add_to_parent(scratch[i], scratch[row.parent])
        pushed = row.parent
    return OK
