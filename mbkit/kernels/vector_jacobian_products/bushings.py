"""Vector-Jacobian products of bushings: six springs and dampers between frames of two bodies.

With x the rotation vector and d the position of frame b in frame a, (w, u) its twist relative to
frame a and (z, y) the same at velocities y, all in the axes of a, the term of a bushing in weights
times efforts, y . tau, is

    K_r x . B z + C_r w . z + (K_t d + C_t u) . y,    B = dexp_x^-1 = I - x~/2 + e x~^2,

with the partial derivatives E = (B^T K_r x + C_r w, K_t d + C_t u) by (z, y), G = (C_r z, C_t y) by
(w, u), K_t y by d, and by a rotation theta in the axes of a, where dx = B theta, with k = K_r x,

    B^T (K_r B z - z x k / 2 + e ((x x z) x k + z x (k x x)) + f (k . x~^2 z) x),    f = e' / |x|.

Steps D of the bodies, D = D_b - D_a at the point of b, move that point by D_u and turn b against a
by D_w; twists change by n = n_b - n_a there, and as the point and the axes move,

    d(w) = n_w + D_w x w_b,    d(u) = n_u + D_w x u_b - w_a x D_u,

u_b the velocity of the point of b; likewise (z, y), without n. So a bushing adds, at that point, E
to F, G to the adjoint of n, and to the adjoint of D

    force   K_t y + w_a x G_u + z_a x E_u,
    moment  that of the rotation + w_b x G_w + u_b x G_u + z_b x E_w + y_b x E_u,

for b, and the opposite for a. If a frame moves on its body by a small twist, bodies and their
twists do not change: in the axes of a, the derivatives by the twist of frame b are

    force   K_t y + G_u x w + E_u x z,      moment  that of the rotation,

and those by the twist of frame a, in whose axes all vectors are written,

    force   -K_t y,
    moment  -(that of the rotation + d x K_t y + z x E_w + y x E_u + w x G_w + u x G_u).

Source: derived here; dexp^-1: Mueller 2018, (39), and its change: `mbkit.kernels.lie.series`;
`mbkit.kernels.vector_jacobian_products.dynamics` has the recursion.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.derivatives.springs import velocity_at
from mbkit.kernels.forces.kinds.bushing import matrix, times, transposed, triple
from mbkit.kernels.integers_in_floats import whole
from mbkit.kernels.layout import SPACE
from mbkit.kernels.lie.matrices import matrix_product, matrix_times, skew_polynomial_times
from mbkit.kernels.lie.quaternion import quaternion_from_rotation, quaternion_log
from mbkit.kernels.lie.series import e_f_of
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    rotate,
    scale,
    subtract,
)
from mbkit.kernels.workspace import scratch_of

#: A row of the table: rows of both bodies, stiffness and damping, and R, p of both frames in these;
#: and the sums of y . tau by stiffness and damping, and by small twists of both frames in their own
#: axes.
ROW_A = 0
ROW_B = 1
STIFFNESS = 2
DAMPING = 8
R_A = 14
P_A = 23
R_B = 26
P_B = 35
BY_STIFFNESS = 38
BY_DAMPING = 44
BY_FRAME_A = 50
BY_FRAME_B = 56
SIZE = 62


class Frame(NamedTuple):
    """A frame on a body: its rotation, its origin in the world."""

    R: Any
    x: Any


class Slopes(NamedTuple):
    """Wrenches on b at its point, in the axes of the world: terms of F, and adjoints of n and D."""

    E: Any
    G: Any
    H: Any


@helper
def frame_of(body, origin, R, p):
    """A frame (R, p) on a body of a tree whose origin is there."""
    B = body.world_R
    R_body = (B[0, 0], B[0, 1], B[0, 2], B[1, 0], B[1, 1], B[1, 2], B[2, 0], B[2, 1], B[2, 2])
    x = add(load(origin), add(load(body.world_p), rotate(B, p)))
    return Frame(matrix_product(R_body, R), x)


@helper
def at_point(V, r):
    """A twist at the point r."""
    w = angular(V)
    return w, velocity_at(w, linear(V), r)


@helper
def seen(back, a, b):
    """The difference of two twists at a point, rotated to other axes."""
    return matrix_times(back, subtract(b[0], a[0])), matrix_times(back, subtract(b[1], a[1]))


@helper
def slope_by_rotation(x, e, f, k, K_B_z, z):
    """B^T times the gradient of k . B z by x, in which K B z comes by k = K x."""
    xz = cross(x, z)
    g = add(K_B_z, scale(-0.5, cross(z, k)))
    g = add(g, scale(e, add(cross(xz, k), cross(z, cross(k, x)))))
    g = add(g, scale(f * dot(k, cross(x, xz)), x))
    return skew_polynomial_times(1.0, 0.5, e, x, g)


@helper
def slopes_of(row, a, b, V, W):
    """The wrenches, V and W of a and of b at the point of b; the sums of the row grow."""
    back = transposed(a.R)
    d = matrix_times(back, subtract(b.x, a.x))
    relative = matrix_product(back, b.R)
    x = quaternion_log(quaternion_from_rotation(relative))
    e, f = e_f_of(x, dot(x, x))
    w, u = seen(back, V[0], V[1])
    z, y = seen(back, W[0], W[1])
    k = times(row, STIFFNESS, x)
    B_z = skew_polynomial_times(1.0, -0.5, e, x, z)
    for j in range(3):
        row[BY_STIFFNESS + j] += x[j] * B_z[j]
        row[BY_STIFFNESS + 3 + j] += d[j] * y[j]
        row[BY_DAMPING + j] += w[j] * z[j]
        row[BY_DAMPING + 3 + j] += u[j] * y[j]
    turn = slope_by_rotation(x, e, f, k, times(row, STIFFNESS, B_z), z)
    moment = add(skew_polynomial_times(1.0, 0.5, e, x, k), times(row, DAMPING, w))
    force = add(times(row, STIFFNESS + 3, d), times(row, DAMPING + 3, u))
    pull = times(row, STIFFNESS + 3, y)
    G_a = times(row, DAMPING, z), times(row, DAMPING + 3, y)
    by_b = add(pull, add(cross(G_a[1], w), cross(force, z)))
    Q = transposed(relative)
    accumulate(row[BY_FRAME_B:SIZE], matrix_times(Q, turn), matrix_times(Q, by_b))
    by_a = add(add(turn, cross(d, pull)), add(cross(z, moment), cross(y, force)))
    by_a = add(by_a, add(cross(w, G_a[0]), cross(u, G_a[1])))
    accumulate(row[BY_FRAME_A:BY_FRAME_B], scale(-1.0, by_a), scale(-1.0, pull))
    E = matrix_times(a.R, moment), matrix_times(a.R, force)
    G = matrix_times(a.R, G_a[0]), matrix_times(a.R, G_a[1])
    H = matrix_times(a.R, turn), matrix_times(a.R, pull)
    of_a = add(cross(V[0][0], G[1]), cross(W[0][0], E[1]))
    by_w = add(cross(V[1][0], G[0]), cross(W[1][0], E[0]))
    by_u = add(cross(V[1][1], G[1]), cross(W[1][1], E[1]))
    return Slopes(E, G, (add(H[0], add(by_w, by_u)), add(H[1], of_a)))


@helper
def at_origin(sign, r, wrench):
    """A wrench at the point r, times a sign, at the origin."""
    t, f = wrench
    return scale(sign, add(t, cross(r, f))), scale(sign, f)


@helper
def pull(body, sums, i, r, sign, slopes):
    """Add the terms of body i to F, and to the adjoints of n and of D."""
    t, f = at_origin(sign, r, slopes.E)
    accumulate(body.F, t, f)
    t, f = at_origin(sign, r, slopes.G)
    accumulate(sums.turns[i], t, f)
    t, f = at_origin(sign, r, slopes.H)
    accumulate(sums.pushes[i], t, f)


@helper
def add_bushings(space, sums):
    """Add the bushings to the sums of their bodies alone, and y . tau by their parameters.

    Needs poses, V and W; those of the world are zero. Adds nothing where the memory is that of the
    mechanism without forces.
    """
    scratch = scratch_of(space)
    count = sums.bushings.shape[0] if records_at(space, 1, SPACE)[0].num_forces != 0 else 0
    for k in range(count):
        row = sums.bushings[k]
        i, j = whole(row[ROW_A]), whole(row[ROW_B])
        a = frame_of(scratch[i], sums.origins[i], matrix(row, R_A), triple(row, P_A))
        b = frame_of(scratch[j], sums.origins[j], matrix(row, R_B), triple(row, P_B))
        r_a = subtract(b.x, load(sums.origins[i]))
        r_b = subtract(b.x, load(sums.origins[j]))
        V = at_point(scratch[i].V, r_a), at_point(scratch[j].V, r_b)
        W = at_point(sums.twists[i], r_a), at_point(sums.twists[j], r_b)
        slopes = slopes_of(row, a, b, V, W)
        if i != 0:
            pull(scratch[i], sums, i, r_a, -1.0, slopes)
        if j != 0:
            pull(scratch[j], sums, j, r_b, 1.0, slopes)
