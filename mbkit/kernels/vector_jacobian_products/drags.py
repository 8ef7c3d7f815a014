"""Vector-Jacobian products of drags.

With v and y the velocities of its point by v and by velocities y, u = v - wind, and w, z the
angular ones, the term of a drag in weights times efforts, y . tau, is

    (c1 + c2 |u|) u . y + (a1 + a2 |w|) w . z,

with the partial derivatives E = ((a1 + a2 |w|) w, (c1 + c2 |u|) u) by (z, y), and by (w, u)

    G_u = (c1 + c2 |u|) y + c2 u (u . y) / |u|,    G_w likewise.

It depends on the pose of the body by its velocities alone, which turn with it, and on the position
of the point in the body by u and y.
Source: derived here; `mbkit.kernels.vector_jacobian_products.dynamics` has the recursion.
"""

import math

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.derivatives.springs import velocity_at
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.layout import SPACE
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from mbkit.kernels.workspace import scratch_of

#: A row of the table: the row of the body, the coefficients, the point in that row, the wind; and
#: y . tau by all but the row, summed.
ROW = 0
LINEAR = 1
QUADRATIC = 2
ANGULAR = 3
ANGULAR_QUADRATIC = 4
POINT = 5
WIND = 8
BY_LINEAR = 11
BY_QUADRATIC = 12
BY_ANGULAR = 13
BY_ANGULAR_QUADRATIC = 14
BY_POINT = 15
BY_WIND = 18
SIZE = 21

_ZERO = (0.0, 0.0, 0.0)


@helper
def slopes_of(first, second, u, y):
    """E and G of (first + second |u|) u . y; u . y and |u|."""
    size = math.sqrt(dot(u, u))
    power = dot(u, y)
    factor = first + second * size
    more = second * power / size if size > 0.0 else 0.0
    return scale(factor, u), add(scale(factor, y), scale(more, u)), power, size


@helper
def add_drag(row, body, W, turns, pushes):
    """Add a drag to the sums of its body, and y . tau by its parameters to its row."""
    r = add(load(body.world_p), rotate(body.world_R, load(row[POINT:WIND])))
    w, z = angular(body.V), angular(W)
    v = velocity_at(w, linear(body.V), r)
    y = velocity_at(z, linear(W), r)
    u = subtract(v, load(row[WIND:BY_LINEAR]))
    E_u, G_u, power, size = slopes_of(row[LINEAR], row[QUADRATIC], u, y)
    E_w, G_w, turning, spin = slopes_of(row[ANGULAR], row[ANGULAR_QUADRATIC], w, z)
    accumulate(body.F, add(E_w, cross(r, E_u)), E_u)
    accumulate(turns, add(G_w, cross(r, G_u)), G_u)
    turned = add(add(cross(v, G_u), cross(y, E_u)), add(cross(w, G_w), cross(z, E_w)))
    accumulate(pushes, turned, _ZERO)
    row[BY_LINEAR] += power
    row[BY_QUADRATIC] += size * power
    row[BY_ANGULAR] += turning
    row[BY_ANGULAR_QUADRATIC] += spin * turning
    moved = rotate_back(body.world_R, add(cross(G_u, w), cross(E_u, z)))
    for j in range(3):
        row[BY_POINT + j] += moved[j]
        row[BY_WIND + j] -= G_u[j]


@helper
def add_drags(space, sums):
    """Add the drags to the sums of their bodies alone, and y . tau by their parameters.

    Needs poses, V and W; those of the world are zero. Adds nothing where the memory is that of the
    mechanism without forces.
    """
    scratch = scratch_of(space)
    count = sums.drags.shape[0] if records_at(space, 1, SPACE)[0].num_forces != 0 else 0
    for k in range(count):
        i = whole(sums.drags[k, ROW])
        if i != 0:
            add_drag(sums.drags[k], scratch[i], sums.twists[i], sums.turns[i], sums.pushes[i])
