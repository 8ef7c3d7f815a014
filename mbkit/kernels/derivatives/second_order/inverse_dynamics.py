"""Second derivatives of inverse dynamics with respect to configuration and velocity.

In the axes of the world, with n, a and D of a step or a velocity as in
`mbkit.kernels.derivatives.inverse_dynamics`: D is zero of a velocity. For a direction x of joint j
and a direction y of joint k beyond it, twists and accelerations of the bodies beyond k have, seen
from these, the second derivatives

    n_xy = [n_x, D_y],   a_xy = [a_x, D_y] + [n_x, n_y],

and the wrench that they need together

    Q = M a_xy + B n_xy - ad_n_x^T M n_y - ad_n_y^T M n_x,

which is M [a_x, D_y] + B [n_x, D_y] + B_y n_x with the B_y that bodies have which move with n_y.
With y_x = M_k a_x + B_k n_x, y_y likewise, F the wrench, and dS what changes in the body,

    d2 tau_i = S_i . Q                                    for i beyond k,
    d2 tau_k = S_k . Q + dS_y . y_x,
    d2 tau_i = S_i . Z,  Z = Q - ad_D_y^T y_x             for i between j and k,
    d2 tau_j = S_j . Z + dS_x . w,  w = y_y - ad_D_y^T F,
    d2 tau_i = S_i . (Z - ad_D_x^T w)                     for i between j and the world.

Two steps of one joint take T to T exp(D_x x + D_y y + E xy), and S to S + dS_x x + dS_y y + ddS xy:
both are the second derivatives along retract(q, dx) at dx = 0, so that they are symmetric. Then

    n_xy = V_p'' + ddS v,   V_p'' = [V_p, E] + ([D_x, [D_y, V_p]] + [D_y, [D_x, V_p]]) / 2,
    a_xy = A_p'' + ddS vdot - [n_xy, V_p] + [n_x, dS_y v] + [n_y, dS_x v] + [V, ddS v]
           + dd(S-dot v),
    d2 tau_j = S_j . Q + dS_x . y_y + dS_y . y_x + ddS . F,
    d2 tau_i = S_i . (Q - ad_D_x^T y_y - ad_D_y^T y_x - ad_E^T F
                      + (ad_D_x^T ad_D_y^T + ad_D_y^T ad_D_x^T) F / 2)      on the way to the world.

Sources: Singh, Wensing 2023 (On second-order derivatives of rigid-body dynamics), for joints about
one screw; derived here for any joint.
"""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.derivatives.inverse_dynamics import add_to_parent
from mbkit.kernels.derivatives.second_order.efforts import efforts_of_joint
from mbkit.kernels.derivatives.second_order.inwards import inwards_of_joint
from mbkit.kernels.derivatives.second_order.motion import (
    outward_to_second_order,
    room_for,
    set_path,
)
from mbkit.kernels.derivatives.second_order.tensors import Tensors
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, positions, velocities
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies, changes, directions, scratch_of


@address_kernel(EVALUATION)
def inverse_dynamics_second_derivatives(space, loaded, q, v, vdot, out):
    """d2 tau by dq dq, (nv, ndx, ndx), after it by dv dv, (nv, nv, nv), and dq dv, (nv, ndx, nv).

    Reads   model, q, v, vdot; where `loaded`, the wrenches in scratch, in the axes of the bodies,
            to which they stay fixed.
    Writes  scratch, directions, changes, out. Cost: O(nv depth^2), beside the zeros.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    nv = model[0].num_velocities
    ndx = model[0].ndx
    q = positions(model, q)
    v = velocities(model, v)
    vdot = velocities(model, vdot)
    status = joint_pass(model, scratch, q, v)
    if status != OK:
        return status
    room = room_for(model, q)
    status = outward_to_second_order(space, room, loaded, q, v, vdot)
    if status != OK:
        return status
    a = nv * ndx * ndx
    b = a + nv * nv * nv
    end = b + nv * ndx * nv
    every = as_matrix(out, 1, end)[0]
    every[:] = 0.0
    tensors = Tensors(
        model,
        scratch,
        directions(space),
        changes(space),
        room,
        every[:a].reshape((nv, ndx, ndx)),
        every[a:b].reshape((nv, nv, nv)),
        every[b:].reshape((nv, ndx, nv)),
    )
    for i in range(model.shape[0] - 1, 0, -1):
        ends = set_path(model, tensors.directions, i, room)
        efforts_of_joint(tensors, i, ends)
        if model[i].parent != 0:
            inwards_of_joint(tensors, i, ends)
            add_to_parent(scratch[i], scratch[model[i].parent])
    return OK
