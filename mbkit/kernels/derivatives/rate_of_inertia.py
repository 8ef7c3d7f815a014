"""The inertia of a body, and the operator B that is its rate but for a skew part.

In the axes of the world, at a place at rest. A body of twist V and momentum h = M V = (t, f) has

    dM/dt = -ad_V^T M - M ad_V,   B = dM/dt + (h x),   (h x) n = -ad_n^T h,

so that B + B^T = 2 dM/dt. With X, the rate of the moment of inertia,

    B (w, u) = (X w + w x t, 2 w x f),   B^T (x, y) = (X x + t x x + 2 f x y, 0).

M, X and h of bodies that move as one add. X is where articulated inertias have `rotational`, h
where they have `coupling`.
Source: Singh, Russo, Wensing 2022 (Efficient analytical derivatives of rigid-body dynamics using
spatial vector algebra), whose B it is.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.recursions.inertias import (
    add_rigid,
    rigid_times,
    set_moved_rigid,
    symmetric_times,
)
from mbkit.kernels.vectors import add, angular, cross, dot, linear, load, scale, store


@helper
def rate_of_moment(body, w, u):
    """w~ Theta - Theta w~ - (h~ u~ + u~ h~), h the first moment: the moment moves with (w, u).

    -(a~ b~ + b~ a~) = 2 (a.b) I - a b^T - b a^T.
    """
    h = load(body.first_moment)
    Y = body.moment
    # columns of w~ Theta, to which the transpose is added
    a = cross(w, (Y[0], Y[1], Y[2]))
    b = cross(w, (Y[1], Y[3], Y[4]))
    c = cross(w, (Y[2], Y[4], Y[5]))
    diagonal = 2.0 * dot(h, u)
    return (
        2.0 * (a[0] - h[0] * u[0]) + diagonal,
        a[1] + b[0] - h[0] * u[1] - h[1] * u[0],
        a[2] + c[0] - h[0] * u[2] - h[2] * u[0],
        2.0 * (b[1] - h[1] * u[1]) + diagonal,
        b[2] + c[1] - h[1] * u[2] - h[2] * u[1],
        2.0 * (c[2] - h[2] * u[2]) + diagonal,
    )


@helper
def rate_of_first_moment(body, w, u):
    """w x h + m u."""
    return add(cross(w, load(body.first_moment)), scale(body.mass, u))


@helper
def rate_times(X, m, w, u):
    """dM/dt (w, u) = (X w + m x u, w x m), m the rate of the first moment."""
    return add(symmetric_times(X, w), cross(m, u)), cross(w, m)


@helper
def set_inertia_and_rate(row, body):
    """M, X and h of a body alone; returns h."""
    set_moved_rigid(row, body.world_R, body.world_p, body)
    X = rate_of_moment(body, angular(body.V), linear(body.V))
    for j in range(6):
        body.rotational[j] = X[j]
    t, f = rigid_times(body, angular(body.V), linear(body.V))
    store(body.coupling, t, f)
    return t, f


@helper
def add_inertia_and_rate(body, parent):
    """Add those of a body to those of its parent."""
    add_rigid(body, parent)
    for j in range(6):
        parent.rotational[j] += body.rotational[j]
        parent.coupling[j] += body.coupling[j]


@helper
def changed_wrench(body, w, a):
    """M a + B n, w the angular part of n."""
    t, f = rigid_times(body, angular(a), linear(a))
    h = body.coupling
    t = add(t, add(symmetric_times(body.rotational, w), cross(w, angular(h))))
    return t, add(f, scale(2.0, cross(w, linear(h))))


@helper
def transposed_rate_times(body, x, y):
    """B^T (x, y), its angular part."""
    h = body.coupling
    b = add(cross(angular(h), x), scale(2.0, cross(linear(h), y)))
    return add(b, symmetric_times(body.rotational, x))
