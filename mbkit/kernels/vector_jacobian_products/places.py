"""Vector-Jacobian products of dynamics by places of joints, and of frames, on bodies.

A place moves by a twist D of the body that carries it, and takes all bodies beyond along, as a free
joint at rest there would move them. So psi (`mbkit.kernels.vector_jacobian_products.dynamics`)
changes as along a step of a joint with constant S,

    D . (ad_V^T (Q + ad_V^T P) + ad_A^T P + ad_W^T F + G),

with V, A and W of the body that carries the place, and P, F, Q and G the sums beyond it: for a
joint those of its body, on both of its sides; for a frame in which a constraint is measured the
terms of the constraint for the body.

Each is a wrench, in the axes of the body that carries the place. There places do not move, so that
the wrenches of all states are summed, and a parameter that moves places is given by its twists.
Source: derived here.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    force_bracket,
    linear,
    load,
    rotate_back,
    subtract,
)


@helper
def bracket(V, F):
    """-ad_V^T F, of V in memory."""
    return force_bracket(angular(V), linear(V), F[0], F[1])


@helper
def plus(a, b):
    """The sum of two pairs of tuples."""
    return add(a[0], b[0]), add(a[1], b[1])


@helper
def add_place(body, p, W, beyond, out):
    """Add to out (6,) the wrench of a place on a body, whose frame is at p; `beyond` are pairs."""
    P, F, turn, G = beyond
    t, f = bracket(body.V, P)
    r = subtract(turn[0], t), subtract(turn[1], f)
    g = plus(plus(bracket(body.A, P), bracket(body.V, r)), bracket(W, F))
    t, f = subtract(G[0], g[0]), subtract(G[1], g[1])
    t = subtract(t, cross(p, f))
    accumulate(out, rotate_back(body.world_R, t), rotate_back(body.world_R, f))


@helper
def add_places_of_joint(scratch, row, i, beyond, sums):
    """Add the wrenches of both places of the joint of body i: on its parent, and on itself."""
    parent, body = scratch[row.parent], scratch[i]
    p = load(parent.world_p)
    if row.parent == 0:
        p = subtract(p, load(sums.origins[i]))
    out = sums.places[i]
    add_place(parent, p, sums.twists[row.parent], beyond, out[:6])
    add_place(body, load(body.world_p), sums.twists[i], beyond, out[6:])
