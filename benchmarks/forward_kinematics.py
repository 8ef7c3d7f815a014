"""Forward kinematics of the recursions alone: poses in the world, twists and accelerations.

At the frames in which the recursions run: a system's methods go on from there to the frames of the
user's bodies, which costs the same or more in every representation. The accelerations stay in the
scratch memory; nothing is written.
"""

from mbkit.kernels.body_fixed.operators import RECURSION as body_fixed
from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.evaluation_form import EVALUATION, positions, velocities
from mbkit.kernels.hybrid.operators import RECURSION as hybrid
from mbkit.kernels.mixed.operators import RECURSION as mixed
from mbkit.kernels.recursions.joint_pass import joint_pass
from mbkit.kernels.recursions.poses import world_pass
from mbkit.kernels.spatial.operators import RECURSION as spatial
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import bodies, scratch_of

_ZERO = (0.0, 0.0, 0.0)


@helper
def kinematics(space, q, v, vdot, recursion, needs_poses):
    """C_i = C_p C_pi,  V_i = P V_p + S v,  A_i = P A_p + S vdot + c.

    Body-fixed twists do without the poses in the world; the other recursions make them as they go.
    """
    model = bodies(space)
    scratch = scratch_of(space)
    v = velocities(model, v)
    vdot = velocities(model, vdot)
    state = joint_pass(model, scratch, positions(model, q), v)
    if state != OK:
        return state
    if needs_poses:
        world_pass(model, scratch)
    recursion.start(scratch, _ZERO)
    for i in range(1, model.shape[0]):
        recursion.twist(model, scratch, i, v)
        recursion.acceleration(model, scratch, i, vdot, recursion)
    return OK


@address_kernel(EVALUATION)
def kinematics_body_fixed(space, _option, q, v, vdot, _out):
    """Compute in body-fixed twists."""
    return kinematics(space, q, v, vdot, body_fixed, True)


@address_kernel(EVALUATION)
def kinematics_spatial(space, _option, q, v, vdot, _out):
    """In spatial twists."""
    return kinematics(space, q, v, vdot, spatial, False)


@address_kernel(EVALUATION)
def kinematics_hybrid(space, _option, q, v, vdot, _out):
    """In hybrid twists."""
    return kinematics(space, q, v, vdot, hybrid, False)


@address_kernel(EVALUATION)
def kinematics_mixed(space, _option, q, v, vdot, _out):
    """In mixed twists."""
    return kinematics(space, q, v, vdot, mixed, False)


@address_kernel(EVALUATION)
def joints_alone(space, _option, q, v, _vdot, _out):
    """Do the joint pass, the same in all of them: pose in the parent, S and S-dot v."""
    model = bodies(space)
    return joint_pass(model, scratch_of(space), positions(model, q), velocities(model, v))
