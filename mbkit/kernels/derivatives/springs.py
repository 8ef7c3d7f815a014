"""Derivatives of springs and dampers between points of bodies, exact.

Along a velocity y of the joints the force of a spring is -T c, with T = k (l - l0) + d e . dv, e
the unit vector from point a to point b, l their distance, c = e . dy; dv and dy are differences of
the velocities of the points. As l de = x - e (e . x) where these are displaced by x,

    d(T c) = g_x . x + g_v . d(dv) + g_y . d(dy),
    g_x = k c e + (h - e (e . h)) / l,    h = d c dv + T dy,    g_v = d c e,    g_y = T e.

A step along D of joint j displaces a point at r by x = D_u + D_w x r. Its velocity changes by
n(r) + D_w x v, n the change of the twist as seen from the body, and where y is a column S of joint
i by D_w x y if j is i or before it, and by dS(r) besides if it is i; by S_w x x if j is behind it.
What moves both bodies as one changes nothing: only joints between the bodies count.

Cost: O(p^2) for p joints between the bodies.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.derivatives.directions import (
    depends_on_q,
    place_and_move,
    twist_of_step,
    weighted_change,
)
from mbkit.kernels.elementary import any_lane, select
from mbkit.kernels.forces.kinds.spring_damper import direction
from mbkit.kernels.layout import SPACE, SPRING
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    motion_bracket,
    rotate,
    scale,
    subtract,
)
from mbkit.kernels.workspace import bodies, changes, columns_of, scratch_of

_ZERO = (0.0, 0.0, 0.0)


class Slopes(NamedTuple):
    """g_x, g_v and g_y."""

    x: Any
    v: Any
    y: Any


class Spring(NamedTuple):
    """The state of a spring.

    Attributes
    ----------
    e, length, rate : tuple, float, float
        Direction from a to b, distance, and its rate.
    dv : tuple
        Velocity of b against a.
    tension, stiffness, damping : float
        T, k and d.
    """

    e: Any
    length: Any
    rate: Any
    dv: Any
    tension: Any
    stiffness: Any
    damping: Any


class Placed(NamedTuple):
    """A spring, and its points from the origins of their trees, with their velocities."""

    spring: Any
    r_a: Any
    r_b: Any
    v_a: Any
    v_b: Any


@helper
def spring_of(row, d, dv):
    """The spring of a table's row whose points are apart by d, and by dv in velocity."""
    e, length = direction((0.0, 0.0, 0.0), d)
    rate = dot(e, dv)
    tension = row.stiffness * (length - row.rest) + row.damping * rate
    return Spring(e, length, rate, dv, tension, row.stiffness, row.damping)


@helper
def slopes_of(spring, dy):
    """g_x, g_v, g_y, and c, for a velocity dy of b against a; zero where the points meet."""
    e = spring.e
    c = dot(e, dy)
    h = add(scale(spring.damping * c, spring.dv), scale(spring.tension, dy))
    apart = spring.length != 0.0
    inverse = select(apart, 1.0, 0.0) / select(apart, spring.length, 1.0)
    across = scale(inverse, subtract(h, scale(dot(e, h), e)))
    x = add(scale(spring.stiffness * c, e), across)
    return Slopes(x, scale(spring.damping * c, e), scale(spring.tension, e)), c


@helper
def velocity_at(w, u, r):
    """u + w x r."""
    return add(u, cross(w, r))


@helper
def origin_of(space, i):
    """The origin of the tree that row i is in: that of the body which hangs on the world."""
    model = bodies(space)
    if i == 0:
        return _ZERO
    while model[i].parent != 0:
        i = model[i].parent
    return load(scratch_of(space)[i].p)


class Side(NamedTuple):
    """A row between the bodies, the sign of its side, the point of the body there and its velocity.

    The sign is 1 for bodies between b and where the support paths of a and b meet, else -1.
    """

    row: Any
    sign: Any
    r: Any
    v: Any


class Column(NamedTuple):
    """The column of a velocity of a row, by which an effort is, and the velocity of the point."""

    S: Any
    c: Any
    y: Any


@helper
def next_side(model, spring, pair):
    """The next body on the support path of one of two bodies, which differ; and both after it."""
    a, b = pair
    if b > a:
        return Side(b, 1.0, spring.r_b, spring.v_b), (a, model[b].parent)
    return Side(a, -1.0, spring.r_a, spring.v_a), (model[a].parent, b)


@helper
def turned_velocity(row, effort, side, step):
    """How the velocity y of a point moves along a step of a row, y being that of the effort."""
    of, column = effort
    change, w, x = step
    if of.sign != side.sign:
        return _ZERO
    if side.row > of.row:
        return cross(angular(column.S), x)
    y = cross(w, column.y)
    if side.row == of.row and depends_on_q(row):
        S = change.S[column.c]
        y = add(y, velocity_at(angular(S), linear(S), side.r))
    return y


@helper
def add_steps(space, slopes, effort, side, v, d_q):
    """Add the derivative of an effort along the steps of a row between the bodies."""
    j, sign, r, velocity = side
    row = bodies(space)[j]
    body = scratch_of(space)[j]
    parent = scratch_of(space)[row.parent]
    for k in range(row.ndx):
        change = changes(space)[row.first_step + k]
        w, u = twist_of_step(row, body, k, change)
        x = velocity_at(w, u, r)
        a, b = motion_bracket(angular(parent.V), linear(parent.V), w, u)
        if depends_on_q(row):
            c, d = weighted_change(change, row, v)
            a = add(a, c)
            b = add(b, d)
        y = turned_velocity(row, effort, side, (change, w, x))
        total = dot(slopes.x, x) + dot(slopes.y, y)
        total += dot(slopes.v, add(velocity_at(a, b, r), cross(w, velocity)))
        d_q[columns_of(space)[row.first_step + k]] -= sign * total


@helper
def add_velocities(space, slopes, side, d_v):
    """Add the derivative of an effort by the velocities of a row between the bodies."""
    row = bodies(space)[side.row]
    body = scratch_of(space)[side.row]
    for k in range(row.num_velocities):
        S = body.S[k]
        slope = dot(slopes.v, velocity_at(angular(S), linear(S), side.r))
        d_v[columns_of(space)[row.first_velocity + k]] -= side.sign * slope


@helper
def placed(space, row):
    """A spring of the table where its bodies are."""
    scratch = scratch_of(space)
    a = scratch[row.row_a]
    b = scratch[row.row_b]
    r_a = add(load(a.world_p), rotate(a.world_R, load(row.point_a)))
    r_b = add(load(b.world_p), rotate(b.world_R, load(row.point_b)))
    v_a = velocity_at(angular(a.V), linear(a.V), r_a)
    v_b = velocity_at(angular(b.V), linear(b.V), r_b)
    apart = subtract(origin_of(space, row.row_b), origin_of(space, row.row_a))
    d = add(apart, subtract(r_b, r_a))
    return Placed(spring_of(row, d, subtract(v_b, v_a)), r_a, r_b, v_a, v_b)


@helper
def add_spring(space, row, v, d_q, d_v):
    """Add the derivatives of one spring to d_q and d_v; none where its points meet."""
    model = bodies(space)
    here = placed(space, row)
    if not any_lane(here.spring.length != 0.0):
        return
    pair = (row.row_a, row.row_b)
    while pair[0] != pair[1]:
        of, pair = next_side(model, here, pair)
        S = scratch_of(space)[of.row].S
        for c in range(model[of.row].num_velocities):
            y = velocity_at(angular(S[c]), linear(S[c]), of.r)
            slopes, _ = slopes_of(here.spring, scale(of.sign, y))
            effort = (of, Column(S[c], c, y))
            k = model[of.row].first_velocity + c
            other = (row.row_a, row.row_b)
            while other[0] != other[1]:
                side, other = next_side(model, here, other)
                add_steps(space, slopes, effort, side, v, d_q[k])
                add_velocities(space, slopes, side, d_v[k])


@helper
def add_springs(space, q, v, d_q, d_v):
    """Add the derivatives of the springs between bodies to d_q and d_v."""
    record = records_at(space, 1, SPACE)[0]
    if record.num_springs == 0:
        return OK
    status = place_and_move(space, q, v, False)
    if status != OK:
        return status
    table = records_at(record.springs, record.num_springs, SPRING)
    for k in range(table.shape[0]):
        add_spring(space, table[k], v, d_q, d_v)
    return OK
