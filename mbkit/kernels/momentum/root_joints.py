"""Momenta of joints on the world, in the axes of the world.

What hangs on a joint on the world has the momentum W = (moment, force). p = S^T W is seen along
axes that move with the body, so that p changes where W does not, and a step conserves W up to its
own error. In the axes of the world, and about a point for which nothing but what acts from outside
changes it, W has a rate of exactly zero where nothing does. It stands for p of

    a free joint     z = W, all six entries; about the origin of the world without gravity, about
                     the centre of mass of all that hangs on the joint with it;
    a ball joint     z = the moment of W about its centre,
    a planar joint   z = the moment of W about the normal of the plane and its force in the plane,
                     along axes of the plane at rest; about the same points as of a free joint.

Other joints on the world have z = p: a single axis is at rest itself.

About the origin all of W is constant where nothing acts. But w is M^-1 (moment - r x force), r the
way to the body, so that an error of r is one of w in a fast body: under gravity, where bodies get
fast and the moment about the origin changes, that about the centre of mass is the constant one, and
knows of no r. dc/dt x force = 0 for the centre c.
"""

from mbkit.kernels.compile import floats_at, helper
from mbkit.kernels.elementary import all_lanes, any_lane
from mbkit.kernels.layout import OWN_FRAME_P, OWN_FRAME_SIZE
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    motion_to_parent,
    rotate,
    rotate_back,
    scale,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)

#: Columns of S are at right angles if their products are below this part of their squares.
RIGHT_ANGLE = 1e-12

#: Joints on the world by their motion: of all but `OTHER` z is the momentum in the world.
OTHER, BALL, PLANE, FREE = range(4)


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
def axis(row, k):
    """An axis of the joint's frame on the world, which is at rest."""
    return (row.R[0, k], row.R[1, k], row.R[2, k])


@helper
def is_plane(row, body):
    """Whether three columns are a turn about the joint's z axis, which rests, and shifts across."""
    w, u = column_of_joint(row, body, 0)
    normal = rotate(body.R, angular(body.S[0]))
    size = dot(w, w)
    across = cross(normal, axis(row, 2))
    limit = RIGHT_ANGLE * size
    if any_lane((dot(u, u) > limit) | (dot(across, across) > limit)):
        return False
    for c in range(1, 3):
        x, y = column_of_joint(row, body, c)
        along = dot(w, y)
        limit = RIGHT_ANGLE * dot(y, y)
        if any_lane((dot(x, x) > limit) | (along * along > limit * size)):
            return False
    return True


@helper
def motion_on_world(row, body):
    """`FREE`, `BALL` or `PLANE` where z is the momentum in the world, else `OTHER`.

    By what their S is in the joint's frame: constant, six columns, three rotations, or the motions
    in a plane, at right angles to each other. So it is the same for all samples.
    """
    n = row.num_velocities
    if row.parent != 0 or row.constant == 0 or row.reversed != 0 or n != row.ndx:
        return OTHER
    if n != 6 and n != 3:
        return OTHER
    found = FREE if n == 6 else BALL
    for c in range(n):
        w, u = column_of_joint(row, body, c)
        if n == 3 and any_lane(dot(u, u) > RIGHT_ANGLE * dot(w, w)):
            found = PLANE
        for d in range(c):
            x, y = column_of_joint(row, body, d)
            size = dot(w, w) + dot(u, u) + dot(x, x) + dot(y, y)
            if any_lane(abs(dot(w, x) + dot(u, y)) > RIGHT_ANGLE * size):
                return OTHER
    return OTHER if found == PLANE and not is_plane(row, body) else found


@helper
def to_reference(row, body, motion, g):
    """The way from the origin of the body to the point about which z is, in the world's axes.

    Reads   mass and first moment of the body with all beyond it, but of balls, under gravity g.
    """
    if motion == BALL:
        if row.own_frame == 0:
            return _ZERO
        own = floats_at(row.own_frame, OWN_FRAME_SIZE)
        centre = rotate_back(own[:OWN_FRAME_P].reshape((3, 3)), load(own[OWN_FRAME_P:]))
        return scale(-1.0, rotate(body.R, centre))
    if dot(g, g) == 0.0 or all_lanes(body.mass == 0.0):
        return scale(-1.0, load(body.p))
    return scale(1.0 / body.mass, rotate(body.R, load(body.first_moment)))


@helper
def wrench_of_momenta(row, motion, s, z):
    """A wrench W at the origin of the body, in the axes of the world: p = S^T W.

    s is the way to the point about which z is.
    """
    k = row.first_velocity
    if motion == PLANE:
        f = add(scale(z[k + 1], axis(row, 0)), scale(z[k + 2], axis(row, 1)))
        return add(scale(z[k], axis(row, 2)), cross(s, f)), f
    t = (z[k], z[k + 1], z[k + 2])
    if motion == BALL:
        return t, _ZERO
    f = (z[k + 3], z[k + 4], z[k + 5])
    return add(t, cross(s, f)), f


@helper
def wrench_of_efforts(row, body, tau):
    """A wrench at the origin of the body with S^T W = tau: sum of tau S / |S|^2, in the joint."""
    t = _ZERO
    f = _ZERO
    for c in range(row.num_velocities):
        w, u = column_of_joint(row, body, c)
        factor = tau[row.first_velocity + c] / (dot(w, w) + dot(u, u))
        t = add(t, scale(factor, w))
        f = add(f, scale(factor, u))
    if row.own_frame != 0:
        own = floats_at(row.own_frame, OWN_FRAME_SIZE)
        R = own[:OWN_FRAME_P].reshape((3, 3))
        t = rotate_back(R, subtract(t, cross(load(own[OWN_FRAME_P:]), f)))
        f = rotate_back(R, f)
    return rotate(body.R, t), rotate(body.R, f)


@helper
def set_momenta(row, motion, t, f, z):
    """z = (t, f), about its point; the moment alone of a ball joint, what a plane leaves free."""
    k = row.first_velocity
    if motion == PLANE:
        z[k] = dot(axis(row, 2), t)
        z[k + 1] = dot(axis(row, 0), f)
        z[k + 2] = dot(axis(row, 1), f)
        return
    z[k] = t[0]
    z[k + 1] = t[1]
    z[k + 2] = t[2]
    if motion == FREE:
        z[k + 3] = f[0]
        z[k + 4] = f[1]
        z[k + 5] = f[2]
