"""Inertias: rigid (mass, first moment, moment) and articulated (three packed blocks).

A symmetric 3x3 matrix is six numbers: xx, xy, xz, yy, yz, zz. Any row that has the fields `mass`,
`first_moment` and `moment` is a rigid inertia, of a body in the model or of a composite body.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import limit_of
from mbkit.kernels.lie.matrices import matrix_times, transposed_times
from mbkit.kernels.simd.rows import add_to, plus_times, times
from mbkit.kernels.vectors import (
    add,
    angular,
    columns,
    cross,
    dot,
    linear,
    load,
    plus_cross,
    rotate,
    rotate_back,
    row_cross,
    row_times,
    scale,
)

#: An inertia along S below this part of |S|^2 tr(I) is the rounding of one that is zero.
NEGLIGIBLE = 1e-13
#: The same in single precision.
NEGLIGIBLE_IN_SINGLE = 5e-5


@helper
def negligible(x):
    """The part of |S|^2 tr(I) that is rounding, in the precision of x."""
    return limit_of(x, NEGLIGIBLE, NEGLIGIBLE_IN_SINGLE)


@helper
def symmetric_times(X, a):
    """X a, X packed."""
    return (
        X[0] * a[0] + X[1] * a[1] + X[2] * a[2],
        X[1] * a[0] + X[3] * a[1] + X[4] * a[2],
        X[2] * a[0] + X[4] * a[1] + X[5] * a[2],
    )


@helper
def trace(X):
    """Trace of a packed symmetric matrix."""
    return X[0] + X[3] + X[5]


# ------------------------------------------------------------------------------------- rigid


@helper
def rigid_times(row, w, v):
    """M (w, v) = (Theta w + h x v, m v - h x w), h the first moment."""
    h = load(row.first_moment)
    return (
        add(symmetric_times(row.moment, w), cross(h, v)),
        add(scale(row.mass, v), cross(w, h)),
    )


@helper
def inertial_wrench(row, w, v, a, b):
    """M A - ad_V^T M V, where V = (w, v), A = (a, b).

    The acceleration of the frame's origin is b + w x v.
    """
    return newton_euler_wrench(row, w, a, plus_cross(b, w, v))


@helper
def newton_euler_wrench(row, w, a, c):
    """The wrench about the frame's origin, whose acceleration is c.

    (Theta a + w x Theta w + h x c, m c + a x h + w x (w x h)), h the first moment.
    """
    Theta = as_rows(row.moment)
    h = load(row.first_moment)
    t = plus_cross(row_times(a, Theta), w, row_times(w, Theta))
    f = plus_cross(times(row.mass, c), a, h)
    return plus_cross(t, h, c), plus_cross(f, w, row_cross(w, h))


@helper
def gyroscopic(row, w, v):
    """-ad_V^T M V: the wrench it takes to keep the twist constant in the body's frame.

    That of `inertial_wrench`, with A = 0.
    """
    Tw = row_times(w, as_rows(row.moment))
    h = load(row.first_moment)
    c = row_cross(w, v)
    t = plus_cross(row_cross(w, Tw), h, c)
    return t, plus_cross(times(row.mass, c), w, row_cross(w, h))


@helper
def twice_kinetic_energy(row, w, v):
    """V . M V."""
    t, f = rigid_times(row, w, v)
    return dot(w, t) + dot(v, f)


@helper
def rotate_symmetric(R, X):
    """R X R^T, packed."""
    # rows of R X
    a0, a1, a2 = symmetric_times(X, (R[0, 0], R[0, 1], R[0, 2]))
    b0, b1, b2 = symmetric_times(X, (R[1, 0], R[1, 1], R[1, 2]))
    c0, c1, c2 = symmetric_times(X, (R[2, 0], R[2, 1], R[2, 2]))
    return (
        a0 * R[0, 0] + a1 * R[0, 1] + a2 * R[0, 2],
        a0 * R[1, 0] + a1 * R[1, 1] + a2 * R[1, 2],
        a0 * R[2, 0] + a1 * R[2, 1] + a2 * R[2, 2],
        b0 * R[1, 0] + b1 * R[1, 1] + b2 * R[1, 2],
        b0 * R[2, 0] + b1 * R[2, 1] + b2 * R[2, 2],
        c0 * R[2, 0] + c1 * R[2, 1] + c2 * R[2, 2],
    )


@helper
def congruent(R, X):
    """R X R^T, both by rows."""
    R_t = columns(R)
    Y = row_times(X[0], R_t), row_times(X[1], R_t), row_times(X[2], R_t)
    return row_times(load(R[0]), Y), row_times(load(R[1]), Y), row_times(load(R[2]), Y)


@helper
def copy_rigid(body, row):
    """Let the rigid inertia of `body` be that of `row`."""
    body.mass = row.mass
    for j in range(3):
        body.first_moment[j] = row.first_moment[j]
    for j in range(6):
        body.moment[j] = row.moment[j]


@helper
def set_turned_rigid(row, R, body):
    """Let the rigid inertia of `body` be that of `row`, turned by R: (m, R h, R Theta R^T)."""
    h = rotate(R, load(row.first_moment))
    Theta = rotate_symmetric(R, row.moment)
    body.mass = row.mass
    for j in range(3):
        body.first_moment[j] = h[j]
    for j in range(6):
        body.moment[j] = Theta[j]


@helper
def add_rigid(row, parent):
    """Add the rigid inertia of `row` to that of `parent`, in the same frame."""
    parent.mass += row.mass
    for j in range(3):
        parent.first_moment[j] += row.first_moment[j]
    for j in range(6):
        parent.moment[j] += row.moment[j]


@helper
def add_moment(m, h, Theta, c, parent):
    """Add the rigid inertia (m, h, Theta) at a frame that `parent` sees at c in the same axes.

    h' = h + m c,  Theta' = Theta - (c~ h~ + h~ c~) - m c~ c~.
    """
    parent.mass += m
    for j in range(3):
        parent.first_moment[j] += h[j] + m * c[j]
    # -(a~ b~ + b~ a~) = 2 (a.b) I - a b^T - b a^T; with b = h + m/2 c it serves both terms
    b = add(h, scale(0.5 * m, c))
    diagonal = 2.0 * dot(c, b)
    parent.moment[0] += Theta[0] + diagonal - 2.0 * c[0] * b[0]
    parent.moment[1] += Theta[1] - c[0] * b[1] - c[1] * b[0]
    parent.moment[2] += Theta[2] - c[0] * b[2] - c[2] * b[0]
    parent.moment[3] += Theta[3] + diagonal - 2.0 * c[1] * b[1]
    parent.moment[4] += Theta[4] - c[1] * b[2] - c[2] * b[1]
    parent.moment[5] += Theta[5] + diagonal - 2.0 * c[2] * b[2]


@helper
def add_rigid_shifted(row, d, parent):
    """Add the rigid inertia of `row` to that of `parent`, whose frame sees it at (I, d)."""
    X = row.moment
    Theta = (X[0], X[1], X[2], X[3], X[4], X[5])
    add_moment(row.mass, load(row.first_moment), Theta, d, parent)


@helper
def add_rigid_to_parent(row, R, p, parent):
    """Add the rigid inertia of `row` to that of `parent`, whose frame sees it at (R, p)."""
    h = rotate(R, load(row.first_moment))
    add_moment(row.mass, h, rotate_symmetric(R, row.moment), load(p), parent)


@helper
def set_moved_rigid(row, R, p, body):
    """Let the rigid inertia of `body` be that of `row`, for a frame that sees it at (R, p)."""
    body.mass = 0.0
    for j in range(3):
        body.first_moment[j] = 0.0
    for j in range(6):
        body.moment[j] = 0.0
    add_rigid_to_parent(row, R, p, body)


# ------------------------------------------------------------------------------- articulated


@helper
def set_rigid(body, row):
    """Let the articulated inertia of `body` be the rigid one of `row`: [[Theta, h~], [-h~, m]]."""
    h = row.first_moment
    for j in range(6):
        body.rotational[j] = row.moment[j]
        body.translational[j] = 0.0
    body.translational[0] = row.mass
    body.translational[3] = row.mass
    body.translational[5] = row.mass
    H = body.coupling
    H[0] = 0.0
    H[1] = -h[2]
    H[2] = h[1]
    H[3] = h[2]
    H[4] = 0.0
    H[5] = -h[0]
    H[6] = -h[1]
    H[7] = h[0]
    H[8] = 0.0


@helper
def articulated_times(body, w, v):
    """(Theta w + H v, H^T w + M v)."""
    return (
        add(symmetric_times(body.rotational, w), matrix_times(body.coupling, v)),
        add(transposed_times(body.coupling, w), symmetric_times(body.translational, v)),
    )


@helper
def subtract_outer(body, D, U):
    """Subtract D U U^T."""
    x = angular(U)
    y = linear(U)
    a = scale(D, x)
    b = scale(D, y)
    subtract_symmetric(body.rotational, a, x)
    subtract_symmetric(body.translational, b, y)
    for i in range(3):
        for j in range(3):
            body.coupling[3 * i + j] -= a[i] * y[j]


@helper
def subtract_symmetric(X, a, b):
    """X -= a b^T, X packed, of vectors of which one is a multiple of the other."""
    X[0] -= a[0] * b[0]
    X[1] -= a[0] * b[1]
    X[2] -= a[0] * b[2]
    X[3] -= a[1] * b[1]
    X[4] -= a[1] * b[2]
    X[5] -= a[2] * b[2]


@helper
def add_articulated(body, parent):
    """Add the articulated inertia of `body` to that of `parent`, in the same frame."""
    for j in range(6):
        parent.rotational[j] += body.rotational[j]
        parent.translational[j] += body.translational[j]
    for j in range(9):
        parent.coupling[j] += body.coupling[j]


@helper
def add_blocks(Theta, H, M, parent):
    """Add [[Theta, H], [H^T, M]], by rows, to the articulated inertia of the parent."""
    add_to(parent.rotational, packed(Theta))
    add_to(parent.coupling, (*H[0], *H[1], *H[2]))
    add_to(parent.translational, packed(M))


@helper
def plus_skew(Y, p, X):
    """Y + p~ X, by rows."""
    return (
        plus_times(plus_times(Y[0], -p[2], X[1]), p[1], X[2]),
        plus_times(plus_times(Y[1], p[2], X[0]), -p[0], X[2]),
        plus_times(plus_times(Y[2], -p[1], X[0]), p[0], X[1]),
    )


@helper
def minus_skew(Y, X, p):
    """Y - X p~, by rows: row i of -X p~ is p x X_i."""
    return plus_cross(Y[0], p, X[0]), plus_cross(Y[1], p, X[1]), plus_cross(Y[2], p, X[2])


@helper
def add_shifted(Theta, H, M, p, parent):
    """Add an articulated inertia at a frame that `parent` sees at p, in the same axes.

    All by rows. With P = p~: M' = M, H' = H + P M, Theta' = Theta + P H^T - H' P.
    """
    shifted = plus_skew(H, p, M)
    Theta = plus_skew(Theta, p, transposed(H))
    add_blocks(minus_skew(Theta, shifted, p), shifted, M, parent)


@helper
def as_rows(X):
    """A packed symmetric matrix by rows."""
    return (X[0], X[1], X[2]), (X[1], X[3], X[4]), (X[2], X[4], X[5])


@helper
def packed(X):
    """The six numbers of a symmetric matrix by rows."""
    return X[0][0], X[0][1], X[0][2], X[1][1], X[1][2], X[2][2]


@helper
def as_square(H):
    """Nine numbers by rows."""
    return (H[0], H[1], H[2]), (H[3], H[4], H[5]), (H[6], H[7], H[8])


@helper
def transposed(X):
    """X^T, both by rows."""
    return (X[0][0], X[1][0], X[2][0]), (X[0][1], X[1][1], X[2][1]), (X[0][2], X[1][2], X[2][2])


@helper
def add_articulated_shifted(body, d, parent):
    """Add the articulated inertia of `body` to that of `parent`, which sees it at (I, d)."""
    Theta = as_rows(body.rotational)
    add_shifted(Theta, as_square(body.coupling), as_rows(body.translational), d, parent)


@helper
def add_articulated_to_parent(body, parent):
    """Add Ad_C^-T I Ad_C^-1 to the articulated inertia of the parent, which sees it at (R, p)."""
    R = body.R
    Theta = congruent(R, as_rows(body.rotational))
    H = congruent(R, as_square(body.coupling))
    add_shifted(Theta, H, congruent(R, as_rows(body.translational)), load(body.p), parent)


@helper
def set_rigid_mixed(body, row):
    """The rigid inertia of `row` with forces in the world's axes: [[Theta, h~ R^T], [., m]]."""
    set_rigid(body, row)
    H = body.coupling
    # row i of h~ R^T is (R row of h~)^T
    h0 = rotate(body.world_R, (H[0], H[1], H[2]))
    h1 = rotate(body.world_R, (H[3], H[4], H[5]))
    h2 = rotate(body.world_R, (H[6], H[7], H[8]))
    for j in range(3):
        H[j] = h0[j]
        H[3 + j] = h1[j]
        H[6 + j] = h2[j]


@helper
def add_articulated_mixed(body, parent):
    """Add P^T I P to the articulated inertia of the parent, P = [R^T 0; -R_p p~ I].

    Rows of the coupling H are in the body's axes, its columns and M in the world's. With G = R H,
    K = R_p^T M: M' = M, H' = G + p~ K, Theta' = R Theta R^T + p~ (G R_p)^T - (H' R_p) p~.
    """
    R = body.R
    R_p = parent.world_R
    p = load(body.p)
    M = as_rows(body.translational)
    H = as_square(body.coupling)
    Theta = congruent(R, as_rows(body.rotational))
    G = row_times(load(R[0]), H), row_times(load(R[1]), H), row_times(load(R[2]), H)
    R_t = columns(R_p)
    K = row_times(R_t[0], M), row_times(R_t[1], M), row_times(R_t[2], M)
    shifted = plus_skew(G, p, K)
    Theta = plus_skew(Theta, p, transposed(rows_back(R_p, G)))
    add_blocks(minus_skew(Theta, rows_back(R_p, shifted), p), shifted, M, parent)


@helper
def rows_back(R, X):
    """X R, X by rows."""
    return rotate_back(R, X[0]), rotate_back(R, X[1]), rotate_back(R, X[2])
