"""Bodies that float: nothing hangs on them, the world carries them, and their velocity is a twist.

In absolute coordinates all bodies do. Then V = v, S = I, and M^-1 is that of one rigid body: with C
the centre of mass, and E the principal axes about it, each over the root of its moment,
    e = (E (t - c x f), f / root m)                    of a wrench (t, f) at the body's origin,
    a = E^T e_1,   u = e_2 / root m - a x c            at the origin again,
so that M^-1 = e^T e. All is in the axes of the world here; c is where C is seen from the origin.
The recursion takes the wrench there and the twist back to what they are in its representation.
"""

from mbkit.kernels.compile import floats_at, helper
from mbkit.kernels.elementary import any_lane
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    rotate,
    scale,
    store,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)

#: A body that floats: it is alone on the world, and its velocities are its twist. In its axes: the
#: principal axes of inertia about its centre of mass by rows, each over the root of its moment; the
#: centre of mass; one over the root of the mass.
FLOATING_COM = 9
FLOATING_ROOT = 12
FLOATING_SIZE = 13


@helper
def is_prescribed(row, prescribed):
    """Whether a velocity of a row is."""
    for k in range(row.first_velocity, row.first_velocity + row.num_velocities):
        if any_lane(prescribed[k] != 0.0):
            return True
    return False


@helper
def move_floating(row, body, v):
    """The pose in the world; V = v, and nothing is added to the acceleration."""
    for j in range(3):
        body.world_p[j] = body.p[j]
        for k in range(3):
            body.world_R[j, k] = body.R[j, k]
    k = row.first_velocity
    store(body.V, (v[k], v[k + 1], v[k + 2]), (v[k + 3], v[k + 4], v[k + 5]))
    store(body.A, _ZERO, _ZERO)


# E, c and 1 / root m are where other bodies have their articulated inertia.


@helper
def set_roots(numbers, body):
    """E (by rows) and c in the axes of the world, and 1 / root m."""
    for i in range(3):
        e = rotate(body.world_R, (numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]))
        body.coupling[3 * i], body.coupling[3 * i + 1], body.coupling[3 * i + 2] = e
    c = (numbers[FLOATING_COM], numbers[FLOATING_COM + 1], numbers[FLOATING_COM + 2])
    c = rotate(body.world_R, c)
    for j in range(3):
        body.translational[j] = c[j]
    body.translational[3] = numbers[FLOATING_ROOT]


@helper
def roots_of(body):
    """E by rows, c, 1 / root m."""
    E = body.coupling
    axes = (E[0], E[1], E[2]), (E[3], E[4], E[5]), (E[6], E[7], E[8])
    return axes, load(body.translational), body.translational[3]


@helper
def root_of_wrench(E, root, t, f):
    """e of (t - c x f, f)."""
    return (dot(E[0], t), dot(E[1], t), dot(E[2], t)), scale(root, f)


@helper
def motion_of_root(roots, x, y):
    """The twist (a, u) of e = (x, y)."""
    E, c, root = roots
    a = add(scale(x[0], E[0]), add(scale(x[1], E[1]), scale(x[2], E[2])))
    return a, subtract(scale(root, y), cross(a, c))


@helper
def accelerate_floating(row, body, parent, tau, vdot, recursion):
    """A = M^-1 (tau - F), vdot = A - P A_p. It leaves what M^-1 is made of.

    What other bodies have by velocity, U, D and u, is not touched: D is one, and the place of u is
    the bias, which is zero.

    Calls   from_parent, wrench_in_world, motion_from_world.
    """
    numbers = floats_at(row.floating, FLOATING_SIZE)
    set_roots(numbers, body)
    k = row.first_velocity
    t = subtract((tau[k], tau[k + 1], tau[k + 2]), angular(body.F))
    f = subtract((tau[k + 3], tau[k + 4], tau[k + 5]), linear(body.F))
    t, f = recursion.wrench_in_world(body, t, f)
    roots = roots_of(body)
    E, c, root = roots
    x, y = root_of_wrench(E, root, subtract(t, cross(c, f)), f)
    w, u = motion_of_root(roots, x, y)
    w, u = recursion.motion_from_world(body, w, u)
    store(body.A, w, u)
    a, b = recursion.from_parent(body, parent, angular(parent.A), linear(parent.A))
    w = subtract(w, a)
    u = subtract(u, b)
    for j in range(3):
        vdot[k + j] = w[j]
        vdot[k + 3 + j] = u[j]


@helper
def spread_floating(row, body, change, recursion):
    """change = what the sum of all e, which is in the bias, does; also into F.

    Calls   motion_from_world.
    """
    k = row.first_velocity
    w, u = motion_of_root(roots_of(body), angular(body.bias), linear(body.bias))
    w, u = recursion.motion_from_world(body, w, u)
    for j in range(3):
        change[k + j] = w[j]
        change[k + 3 + j] = u[j]
    store(body.F, w, u)
