"""Momenta of joints on the world, along twists at rest.

What hangs on a joint on the world has the momentum W = (moment, force). p = S^T W is seen along
columns that move with the body or depend on q, so that p changes where W does not, and a step
conserves W up to its own error. Where the motions of the joint are a subgroup of SE(3), the twists
that it lets its body have span the same space in the world at every q. With a basis B of it at rest

    z = B^T W

stands for p: without what acts from outside its rate is exactly zero. W = D z + what does no work
there, with the dual basis D of wrenches, D^T B = 1, so that p = S^T D z. Twists and wrenches are
about a point: of

    all of space, or directions with all shifts across (free, planar, Schoenflies joints): the
    origin of the world without gravity, and the centre of mass of all that hangs on the joint with
    it, which is as well as any other: B has the shifts by which it differs from a point at rest;
    turns about points and axes at rest (ball, cylindrical joints): such a point.

About the origin all of W is constant where nothing acts. But w is M^-1 (moment - r x force), r the
way to the body, so that an error of r is one of w in a fast body: under gravity, where bodies get
fast and the moment about the origin changes, that about the centre of mass is constant, and does
not depend on r. dc/dt x force = 0 for the centre c.

`mbkit.systems.calls.root_motions` finds B. Other joints on the world have z = p.
"""

import numpy as np

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.elementary import all_lanes, any_lane
from mbkit.kernels.layout import OWN_FRAME_P, OWN_FRAME_SIZE
from mbkit.kernels.status import NOT_FINITE, OK, SINGULAR_INERTIA, failure
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    motion_to_parent,
    pairing,
    rotate,
    rotate_back,
    scale,
    store,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)

#: About what the twists of a root are; a joint that is `OTHER` has z = p.
OTHER, FIXED, MASS_CENTRE = range(3)

#: One entry a body, of which those of joints on the world are read: a table of them, by address.
ROOT = np.dtype(
    [
        ("about", np.int64),
        ("point", np.float64, (3,)),  # of what is FIXED, in the body; the joint does not move it
        ("twists", np.float64, (6, 6)),  # rows: B and D, in the axes of the world
        ("wrenches", np.float64, (6, 6)),
    ],
    align=True,
)

#: The largest option that is no address of a table.
NO_TABLE = 7

#: Columns depend on each other if what is across the others is below this part of its square.
DEPENDENT = 1e-26


@helper
def about(option, row, i):
    """`OTHER` where z is p, else about what the twists of the joint are."""
    if option <= NO_TABLE or row.parent != 0:
        return OTHER
    return records_at(option, i + 1, ROOT)[i].about


@helper
def root_of(option, i):
    """The record of a joint that is not `OTHER`."""
    return records_at(option, i + 1, ROOT)[i]


@helper
def column_of_joint(row, body, c):
    """A column of S in the frame of the joint."""
    w = angular(body.S[c])
    u = linear(body.S[c])
    if row.own_frame == 0:
        return w, u
    own = floats_at(row.own_frame, OWN_FRAME_SIZE)
    return motion_to_parent(own[:OWN_FRAME_P].reshape((3, 3)), own[OWN_FRAME_P:], w, u)


@helper
def to_reference(body, root, g):
    """The way from the origin of the body to the point that z is about, in the world's axes.

    Reads   mass and first moment of the body with all beyond it, for MASS_CENTRE, under gravity g.
    """
    if root.about == FIXED:
        return rotate(body.R, load(root.point))
    if dot(g, g) == 0.0 or all_lanes(body.mass == 0.0):
        return scale(-1.0, load(body.p))
    return scale(1.0 / body.mass, rotate(body.R, load(body.first_moment)))


@helper
def wrench_of_momenta(row, root, s, z):
    """D z at the origin of the body, in the axes of the world; s is the way to the point of z."""
    t = _ZERO
    f = _ZERO
    for c in range(row.num_velocities):
        own = z[row.first_velocity + c]
        t = add(t, scale(own, angular(root.wrenches[c])))
        f = add(f, scale(own, linear(root.wrenches[c])))
    return add(t, cross(s, f)), f


@helper
def set_momenta(row, root, t, f, z):
    """z = B^T (t, f), about its point."""
    for c in range(row.num_velocities):
        z[row.first_velocity + c] = pairing(root.twists[c], t, f)


@helper
def wrench_of_efforts(row, scratch, body, tau):
    """A status, and a wrench (t, f) at the origin of the body, in the world, with S^T (t, f) = tau.

    Of those the least, in the frame of the joint: along the columns, each less what it has along
    those before it, which is kept in U.
    """
    t = _ZERO
    f = _ZERO
    first = row.first_velocity
    for c in range(row.num_velocities):
        w, u = column_of_joint(row, body, c)
        across = scratch[first + c]
        store(across.U, w, u)
        for d in range(c):
            other = scratch[first + d]
            a = -other.D * pairing(other.U, angular(across.U), linear(across.U))
            accumulate(across.U, scale(a, angular(other.U)), scale(a, linear(other.U)))
        square = pairing(across.U, angular(across.U), linear(across.U))
        limit = DEPENDENT * (dot(w, w) + dot(u, u))
        if not all_lanes(square > limit):
            code = SINGULAR_INERTIA if any_lane(square <= limit) else NOT_FINITE
            return failure(code, first + c), t, f
        across.D = 1.0 / square
        a = (tau[first + c] - dot(w, t) - dot(u, f)) / square
        t = add(t, scale(a, angular(across.U)))
        f = add(f, scale(a, linear(across.U)))
    if row.own_frame != 0:
        own = floats_at(row.own_frame, OWN_FRAME_SIZE)
        R = own[:OWN_FRAME_P].reshape((3, 3))
        t = rotate_back(R, subtract(t, cross(load(own[OWN_FRAME_P:]), f)))
        f = rotate_back(R, f)
    return OK, rotate(body.R, t), rotate(body.R, f)
