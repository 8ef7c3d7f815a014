"""The regressor Y(q, v, vdot) of inverse dynamics: M vdot + b = Y pi, pi the inertial parameters.

Of one body, in its own frame and about its origin, pi are ten numbers: the mass, the first moment h
and the moment of inertia Theta, as xx, xy, xz, yy, yz, zz. With its angular velocity w and
acceleration a, and the acceleration c of its origin less that of gravity, it needs the wrench

    t = Theta a + w x Theta w + h x c,   f = m c + a x h + w x (w x h),

of which a joint with the column S = (x, y), seen from the frame of the body, bears

    S . (t, f) = m y.c + h . (y x a + w (w.y) - y (w.w) + c x x) + x.Theta a + (x x w).Theta w.

Source: Atkeson, An, Hollerbach 1986 (Estimation of inertial parameters of manipulator loads and
links), here for all joints.
"""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.derivatives.directions import place
from mbkit.kernels.derivatives.inverse_dynamics import move
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions, velocities
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import compose
from mbkit.kernels.recursions.world import start
from mbkit.kernels.spatial.operators import acceleration_in_world, move_subspace
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    motion_to_child,
    rotate_back,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import bodies, frames, scratch_of

_ZERO = (0.0, 0.0, 0.0)

#: Inertial parameters of a body.
PARAMETERS = 10


@helper
def outward(model, scratch, v, vdot):
    """Twists and accelerations, less that of gravity, and columns, in the axes of the world."""
    start(scratch, scale(-1.0, load(model[0].gravity)))
    for i in range(1, model.shape[0]):
        row = model[i]
        body = scratch[i]
        parent = scratch[row.parent]
        place(row, body, parent, load(body.p))
        if row.constant != 0:
            store(body.bias, _ZERO, _ZERO)
        move_subspace(row, body)
        move(row, body, parent, v, vdot)


@helper
def column_block(x, y, w, a, c, out):
    """The ten entries of a column (x, y), all in the frame of the body."""
    z = cross(x, w)
    h = add(cross(y, a), cross(c, x))
    h = add(h, subtract(scale(dot(w, y), w), scale(dot(w, w), y)))
    out[0] = dot(y, c)
    out[1] = h[0]
    out[2] = h[1]
    out[3] = h[2]
    out[4] = x[0] * a[0] + z[0] * w[0]
    out[5] = x[0] * a[1] + x[1] * a[0] + z[0] * w[1] + z[1] * w[0]
    out[6] = x[0] * a[2] + x[2] * a[0] + z[0] * w[2] + z[2] * w[0]
    out[7] = x[1] * a[1] + z[1] * w[1]
    out[8] = x[1] * a[2] + x[2] * a[1] + z[1] * w[2] + z[2] * w[1]
    out[9] = x[2] * a[2] + z[2] * w[2]


@helper
def body_columns(model, scratch, site, here, first, Y):
    """The columns of a body, of the user, from `first` on: one row a velocity that carries it."""
    i = site.row
    carrier = scratch[i]
    compose(carrier.world_R, carrier.world_p, site.R, site.p, here.world_R, here.world_p)
    store(here.V, angular(carrier.V), linear(carrier.V))
    store(here.A, angular(carrier.A), linear(carrier.A))
    R = here.world_R
    p = here.world_p
    w = rotate_back(R, angular(here.V))
    a, c = acceleration_in_world(here)
    a = rotate_back(R, a)
    c = rotate_back(R, c)
    while i != 0:
        row = model[i]
        S = scratch[i].S
        for k in range(row.num_velocities):
            x, y = motion_to_child(R, p, angular(S[k]), linear(S[k]))
            column_block(x, y, w, a, c, Y[row.first_velocity + k, first : first + PARAMETERS])
        i = row.parent


@address_kernel(EVALUATION)
def inertial_regressor(space, _option, q, v, vdot, out):
    """Y, out (nv, 10 bodies), with zeros where a joint does not carry a body.

    Reads   model, q, v, vdot; not the inertias.
    Writes  scratch. Cost: O(bodies depth), beside the zeros.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    sites = frames(space)
    v = velocities(model, v)
    status = joint_pass(model, scratch, positions(model, q), v)
    if status != OK:
        return status
    outward(model, scratch, v, velocities(model, vdot))
    nv = model[0].num_velocities
    Y = as_matrix(out, nv, PARAMETERS * (sites.shape[0] - 1))
    Y[:, :] = 0.0
    for b in range(1, sites.shape[0]):
        if sites[b].row != 0:  # so that nothing needs the motion of row 0 any more
            body_columns(model, scratch, sites[b], scratch[0], PARAMETERS * (b - 1), Y)
    return OK
