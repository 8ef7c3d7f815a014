"""The joint pass: where each body stands on its parent, and how its joint can move it.

The recursions start from what it leaves in the scratch memory and never look at a joint again.
"""

from mbkit.kernels.compile import at, call_address, floats_at, helper, pointer_at
from mbkit.kernels.joints.revolute_prismatic_screw import place_screw
from mbkit.kernels.layout import (
    OWN_FRAME_P,
    OWN_FRAME_SIZE,
    SCREW,
    SCREW_IN_OWN_FRAME,
    STAGE_P,
    STAGE_R,
    STAGE_SIZE,
    TABLE,
)
from mbkit.kernels.status import JOINT_FAILED, OK, WRONG_LENGTH, failure
from mbkit.kernels.validation import check_positions, check_velocities
from mbkit.kernels.vectors import (
    angular,
    linear,
    load,
    motion_to_child,
    motion_to_parent,
    rotate,
    rotate_back,
    scale,
    store,
)

_ZERO = (0.0, 0.0, 0.0)


@helper
def turn(R, p, V):
    """V becomes -Ad_T V."""
    w, u = motion_to_parent(R, p, angular(V), linear(V))
    store(V, scale(-1.0, w), scale(-1.0, u))


@helper
def reverse(stage, body, nv):
    """Turn the joint round: T becomes T^-1, S becomes -Ad_T S, S-dot v becomes -Ad_T S-dot v."""
    R = stage[STAGE_R:STAGE_P].reshape((3, 3))
    p = stage[STAGE_P:STAGE_SIZE]
    turn(R, p, body.bias)
    for k in range(nv):
        turn(R, p, body.S[k])
    x = rotate_back(R, load(p))
    for j in range(3):
        p[j] = -x[j]
        for k in range(j):
            R[j, k], R[k, j] = R[k, j], R[j, k]


@helper
def move_by_table(row, body, q, v, stage):
    """Call the joint's function, then compose its pose with the placement: C = (R_T, p_T) T(q)."""
    status = call_address(
        row.motion,
        (
            body.slot,
            pointer_at(row.parameters),
            at(q, row.first_position),
            at(v, row.first_velocity),
            at(stage, STAGE_R),
            at(stage, STAGE_P),
            at(body.S, 0),
            at(body.bias, 0),
        ),
    )
    if row.reversed == 1:
        reverse(stage, body, row.num_velocities)
    for j in range(3):
        column = rotate(row.R, (stage[STAGE_R + j], stage[STAGE_R + 3 + j], stage[STAGE_R + 6 + j]))
        body.R[0, j] = column[0]
        body.R[1, j] = column[1]
        body.R[2, j] = column[2]
    shift = rotate(row.R, (stage[STAGE_P], stage[STAGE_P + 1], stage[STAGE_P + 2]))
    for j in range(3):
        body.p[j] = row.p[j] + shift[j]
    return status


@helper
def take_own_frame(row, body):
    """From the joint's frame to the body's: C becomes C B, S and S-dot v become Ad_B^-1 of them."""
    own_frame = floats_at(row.own_frame, OWN_FRAME_SIZE)
    R = own_frame[:OWN_FRAME_P].reshape((3, 3))
    p = own_frame[OWN_FRAME_P:]
    shift = rotate(body.R, load(p))
    for j in range(3):
        body.p[j] += shift[j]
        # row j of R_C R_B is R_B^T times row j of R_C
        turned = rotate_back(R, (body.R[j, 0], body.R[j, 1], body.R[j, 2]))
        body.R[j, 0] = turned[0]
        body.R[j, 1] = turned[1]
        body.R[j, 2] = turned[2]
    w, u = motion_to_child(R, p, angular(body.bias), linear(body.bias))
    store(body.bias, w, u)
    for k in range(row.num_velocities):
        w, u = motion_to_child(R, p, angular(body.S[k]), linear(body.S[k]))
        store(body.S[k], w, u)


@helper
def move_in_own_frame(row, body, q, v, stage):
    """Pose, S and S-dot v of a joint whose body has another frame."""
    status = OK
    if row.kind == SCREW_IN_OWN_FRAME:
        place_screw(row, body, q[row.first_position])
        store(body.S[0], (0.0, 0.0, row.rate), (0.0, 0.0, row.lead))
        store(body.bias, _ZERO, _ZERO)
    else:
        status = move_by_table(row, body, q, v, stage)
    take_own_frame(row, body)
    return status


@helper
def joint_pass(model, scratch, q, v):
    """Write R, p (pose in the parent), and but for screws of kind SCREW, S and the bias S-dot v."""
    stage = floats_at(scratch[0].slot, STAGE_SIZE)
    for i in range(1, model.shape[0]):
        if model[i].kind == SCREW:
            place_screw(model[i], scratch[i], q[model[i].first_position])
        elif model[i].kind == TABLE:
            if move_by_table(model[i], scratch[i], q, v, stage) != OK:
                return failure(JOINT_FAILED, i)
        elif move_in_own_frame(model[i], scratch[i], q, v, stage) != OK:
            return failure(JOINT_FAILED, i)
    return OK


@helper
def checked_joint_pass(model, scratch, q, v):
    """Compare the lengths of q and v, then do the joint pass."""
    if check_positions(model, q) != OK or check_velocities(model, v, v, v) != OK:
        return WRONG_LENGTH
    return joint_pass(model, scratch, q, v)
