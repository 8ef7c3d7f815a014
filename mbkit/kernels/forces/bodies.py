"""Points and frames of bodies for forces: where they are, how they move, and wrenches on them.

A body is its index in `SITE`, which a force finds by `mbkit.kernels.forces.form.site`.
Pose, twist and wrench are there in the world's axes, at the body's own frame.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.lie.matrices import load_matrix
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    linear,
    load,
    rotate,
    rotate_back,
)
from mbkit.kernels.workspace import sites

_ZERO = (0.0, 0.0, 0.0)


@helper
def pose_of(space, body):
    """R (9, by rows) and p of a body's frame in the world."""
    site = sites(space)[body]
    return load_matrix(site.R), load(site.p)


@helper
def velocity_of(space, body):
    """Angular velocity, and velocity of the origin, of a body's frame, both in world axes."""
    V = sites(space)[body].V
    return angular(V), linear(V)


@helper
def twist_of(space, body):
    """Body-fixed twist (w, u) of a body at its own frame."""
    site = sites(space)[body]
    return rotate_back(site.R, angular(site.V)), rotate_back(site.R, linear(site.V))


@helper
def point_of(space, body, r):
    """Position and velocity in the world of the point r of a body."""
    site = sites(space)[body]
    x = rotate(site.R, r)
    return add(load(site.p), x), add(linear(site.V), cross(angular(site.V), x))


@helper
def apply(space, body, t, f):
    """A moment t about the origin of a body's frame and a force f there, both in world axes."""
    accumulate(sites(space)[body].W, t, f)


@helper
def push(space, body, r, f):
    """A force f, in world axes, at the point r of a body."""
    site = sites(space)[body]
    accumulate(site.W, cross(rotate(site.R, r), f), f)


@helper
def turn(space, body, t):
    """A moment t, in world axes, on a body."""
    accumulate(sites(space)[body].W, t, _ZERO)


@helper
def add_body_fixed(space, body, t, f):
    """A wrench on a body, given at its own frame in its axes."""
    site = sites(space)[body]
    accumulate(site.W, rotate(site.R, t), rotate(site.R, f))
