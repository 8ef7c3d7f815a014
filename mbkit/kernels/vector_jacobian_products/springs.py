"""Vector-Jacobian products of springs and dampers between points of bodies.

The term of a spring in weights times efforts, y . tau, is T c, whose derivatives g_x, g_v and g_y
are those of `mbkit.kernels.derivatives.springs`, with velocities y for a column.

They are wrenches at the point on the body of b, and the opposite on that of a: g_y is added to F,
as W changes seen from the body; g_v to the adjoint of n; and g_x to that of the step D, which turns
the velocities of the point, v and y, as well: x = D_u + D_w x r, d(v) = n(r) + D_w x v.
Source: derived here; `mbkit.kernels.vector_jacobian_products.dynamics` has the recursion.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.derivatives.springs import slopes_of, spring_of, velocity_at
from mbkit.kernels.forces.kinds.spring_damper import (
    DAMPING,
    POINT_A,
    POINT_B,
    REST_LENGTH,
    STIFFNESS,
)
from mbkit.kernels.layout import SPACE, SPRING
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    linear,
    load,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from mbkit.kernels.workspace import scratch_of


class End(NamedTuple):
    """A point of a body: from the origin of its tree, in the world; its velocities by v and y."""

    r: Any
    x: Any
    v: Any
    y: Any


@helper
def end_of(body, sums, i, point):
    """A point of body i."""
    W = sums.twists[i]
    r = add(load(body.world_p), rotate(body.world_R, point))
    return End(
        r,
        add(load(sums.origins[i]), r),
        velocity_at(angular(body.V), linear(body.V), r),
        velocity_at(angular(W), linear(W), r),
    )


@helper
def pull_end(body, sums, i, end, sign, slopes):
    """Add the terms of the body of a point to F, and to the adjoints of n and of D."""
    g_x, g_v, g_y = scale(sign, slopes.x), scale(sign, slopes.v), scale(sign, slopes.y)
    accumulate(body.F, cross(end.r, g_y), g_y)
    accumulate(sums.turns[i], cross(end.r, g_v), g_v)
    turned = add(cross(end.v, g_v), cross(end.y, g_y))
    accumulate(sums.pushes[i], add(cross(end.r, g_x), turned), g_x)


@helper
def add_by_point(body, V, W, sign, slopes, out):
    """By the place of a point in its body: it moves by x, its velocities by w x x."""
    g = add(slopes.x, add(cross(slopes.v, angular(V)), cross(slopes.y, angular(W))))
    g = rotate_back(body.world_R, g)
    for j in range(3):
        out[j] += sign * g[j]


@helper
def add_springs(space, sums):
    """Add the springs to the sums of their bodies alone, and y . tau by their parameters.

    Needs poses, V and W; those of the world are zero.
    """
    record = records_at(space, 1, SPACE)[0]
    if record.num_springs == 0:
        return
    table = records_at(record.springs, record.num_springs, SPRING)
    scratch = scratch_of(space)
    for k in range(table.shape[0]):
        spring = table[k]
        i, j = spring.row_a, spring.row_b
        a = end_of(scratch[i], sums, i, load(spring.point_a))
        b = end_of(scratch[j], sums, j, load(spring.point_b))
        here = spring_of(spring, subtract(b.x, a.x), subtract(b.v, a.v))
        if here.length == 0.0:
            continue  # no direction, and no force
        slopes, c = slopes_of(here, subtract(b.y, a.y))
        if i != 0:
            pull_end(scratch[i], sums, i, a, -1.0, slopes)
        if j != 0:
            pull_end(scratch[j], sums, j, b, 1.0, slopes)
        if sums.springs.shape[0] != 0:
            out = sums.springs[k]
            out[STIFFNESS] += (here.length - spring.rest) * c
            out[REST_LENGTH] -= spring.stiffness * c
            out[DAMPING] += here.rate * c
            V, W = scratch[i].V, sums.twists[i]
            add_by_point(scratch[i], V, W, -1.0, slopes, out[POINT_A : POINT_A + 3])
            V, W = scratch[j].V, sums.twists[j]
            add_by_point(scratch[j], V, W, 1.0, slopes, out[POINT_B : POINT_B + 3])
