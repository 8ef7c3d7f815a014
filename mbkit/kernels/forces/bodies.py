"""Points and frames of bodies for forces: where they are, how they move, and wrenches on them.

A body is the number of its row in `FRAME`. Its wrench is collected in the scratch memory,
body-fixed at the frame of the row that carries it.
"""

from mbkit.kernels.compile import helper
from mbkit.kernels.lie.matrices import load_matrix, matrix_product
from mbkit.kernels.space import frames, scratch
from mbkit.kernels.vectors import (
    accumulate,
    add,
    angular,
    cross,
    force_to_parent,
    linear,
    load,
    motion_to_child,
    rotate,
    rotate_back,
)


@helper
def pose_of(space, body):
    """R (9, by rows) and p of a body's frame in the world."""
    frame = frames(space)[body]
    carrier = scratch(space)[frame.row]
    R = matrix_product(load_matrix(carrier.world_R), load_matrix(frame.R))
    return R, add(load(carrier.world_p), rotate(carrier.world_R, load(frame.p)))


@helper
def twist_of(space, body):
    """Body-fixed twist (w, u) of a body at its own frame."""
    frame = frames(space)[body]
    V = scratch(space)[frame.row].V
    return motion_to_child(frame.R, frame.p, angular(V), linear(V))


@helper
def add_body_fixed(space, body, t, f):
    """A wrench on a body, given at its own frame in its axes."""
    frame = frames(space)[body]
    t, f = force_to_parent(frame.R, frame.p, t, f)
    accumulate(scratch(space)[frame.row].wrench, t, f)


@helper
def point_of(space, body, r):
    """Position and velocity in the world of the point r of a body."""
    frame = frames(space)[body]
    carrier = scratch(space)[frame.row]
    x = add(load(frame.p), rotate(frame.R, r))
    velocity = add(linear(carrier.V), cross(angular(carrier.V), x))
    return (
        add(load(carrier.world_p), rotate(carrier.world_R, x)),
        rotate(carrier.world_R, velocity),
    )


@helper
def push(space, body, r, f):
    """A force f, in world axes, at the point r of a body."""
    frame = frames(space)[body]
    carrier = scratch(space)[frame.row]
    x = add(load(frame.p), rotate(frame.R, r))
    f = rotate_back(carrier.world_R, f)
    accumulate(carrier.wrench, cross(x, f), f)


@helper
def turn(space, body, t):
    """A moment t, in world axes, on a body."""
    carrier = scratch(space)[frames(space)[body].row]
    accumulate(carrier.wrench, rotate_back(carrier.world_R, t), (0.0, 0.0, 0.0))
