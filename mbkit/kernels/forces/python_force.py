"""A force written in Python, in the form of the table: copy in, call back, copy out."""

from mbkit.kernels.compile import address_kernel, call_address, floats_at, helper, integers_at
from mbkit.kernels.forces.bodies import apply, pose_of, velocity_of
from mbkit.kernels.forces.form import FORCE_FORM, POTENTIAL_FORM, force_rows
from mbkit.kernels.joints.named_joints import copy_state
from mbkit.kernels.layout import (
    BODY_FIXED,
    DONE,
    JOINT_NUM_VELOCITIES,
    JOINT_SIZE,
    JOINT_VELOCITY,
    MIXED,
    NUM_POWERS,
    OWN_EVALUATE,
    OWN_LEAST,
    OWN_NUM_POSITIONS,
    OWN_NUM_VELOCITIES,
    OWN_ON_BODIES,
    OWN_POTENTIAL,
    OWN_POWER,
    OWN_POWERS,
    OWN_REPRESENTATION,
    OWN_TIME,
    OWN_VECTORS,
    PENDING,
    SLOT_STATUS,
    SPATIAL,
)
from mbkit.kernels.lie.matrices import matrix_times, transposed_times
from mbkit.kernels.status import CALLBACK_FAILED, OK
from mbkit.kernels.vectors import add, cross, dot, store, subtract


@helper
def twist_in(kind, R, p, w, u):
    """A hybrid twist in another representation."""
    if kind == SPATIAL:
        u = add(u, cross(p, w))
    if kind == BODY_FIXED:
        u = transposed_times(R, u)
    if kind in (BODY_FIXED, MIXED):
        w = transposed_times(R, w)
    return w, u


@helper
def wrench_from(kind, R, p, t, f):
    """A wrench of another representation, hybrid: the inverse transpose of `twist_in`."""
    if kind == BODY_FIXED:
        f = matrix_times(R, f)
    if kind in (BODY_FIXED, MIXED):
        t = matrix_times(R, t)
    if kind == SPATIAL:
        t = subtract(t, cross(p, f))
    return t, f


@helper
def copy_in(space, k, t, q, v, with_velocities):
    """Write t, q, v, poses and twists into the slot; return the slot, cleared where it answers."""
    row = force_rows(space)[k]
    head = floats_at(row.slot, OWN_VECTORS)
    nq = int(head[OWN_NUM_POSITIONS])
    nv = int(head[OWN_NUM_VELOCITIES])
    nb = row.num_bodies
    answers = max(OWN_LEAST, 6 * nb if head[OWN_ON_BODIES] != 0.0 else nv)
    memory = floats_at(row.slot, OWN_VECTORS + nq + nv + 22 * nb + answers)
    memory[OWN_TIME] = t
    joints = integers_at(row.joints, JOINT_SIZE * row.num_joints)
    copy_state(joints, q, v, with_velocities, memory[OWN_VECTORS:], nq)
    sites = integers_at(row.bodies, nb)
    kind = int(head[OWN_REPRESENTATION])
    for b in range(nb):
        R, p = pose_of(space, sites[b])
        w, u = velocity_of(space, sites[b])
        w, u = twist_in(kind, R, p, w, u)
        C = memory[OWN_VECTORS + nq + nv + 16 * b :]
        for i in range(3):
            C[4 * i] = R[3 * i]
            C[4 * i + 1] = R[3 * i + 1]
            C[4 * i + 2] = R[3 * i + 2]
            C[4 * i + 3] = p[i]
        store(memory[OWN_VECTORS + nq + nv + 16 * nb + 6 * b :], w, u)
    answer = memory[OWN_VECTORS + nq + nv + 22 * nb :]
    for j in range(answers):
        answer[j] = 0.0
    memory[SLOT_STATUS] = PENDING
    return memory


@helper
def answer_of(space, k, memory):
    """Address in the slot of the results of the function."""
    nq = int(memory[OWN_NUM_POSITIONS])
    nv = int(memory[OWN_NUM_VELOCITIES])
    return memory[OWN_VECTORS + nq + nv + 22 * force_rows(space)[k].num_bodies :]


@helper
def add_efforts(space, k, answer, v, tau):
    """Generalized forces of its joints; returns their power."""
    row = force_rows(space)[k]
    joints = integers_at(row.joints, JOINT_SIZE * row.num_joints)
    power = 0.0
    at = 0
    for i in range(row.num_joints):
        first = joints[JOINT_SIZE * i + JOINT_VELOCITY]
        for j in range(joints[JOINT_SIZE * i + JOINT_NUM_VELOCITIES]):
            tau[first + j] += answer[at]
            power += answer[at] * v[first + j]
            at += 1
    return power


@helper
def add_body_wrenches(space, k, kind, answer):
    """Wrenches on its bodies; returns their power."""
    row = force_rows(space)[k]
    sites = integers_at(row.bodies, row.num_bodies)
    power = 0.0
    for b in range(row.num_bodies):
        R, p = pose_of(space, sites[b])
        W = answer[6 * b : 6 * b + 6]
        t, f = wrench_from(kind, R, p, (W[0], W[1], W[2]), (W[3], W[4], W[5]))
        w, u = velocity_of(space, sites[b])
        apply(space, sites[b], t, f)
        power += dot(t, w) + dot(f, u)
    return power


@address_kernel(FORCE_FORM)
def evaluate(space, k, t, q, v, tau, powers):
    """Call `Force.evaluate`; the power of its result is what the force dissipates or supplies.

    If the force defines both itself, `Force.powers` is called as well.
    """
    memory = copy_in(space, k, t, q, v, True)
    call_address(int(memory[OWN_EVALUATE]), (force_rows(space)[k].slot,))
    if memory[SLOT_STATUS] != DONE:
        return CALLBACK_FAILED
    answer = answer_of(space, k, memory)
    if memory[OWN_ON_BODIES] != 0.0:
        power = add_body_wrenches(space, k, int(memory[OWN_REPRESENTATION]), answer)
    else:
        power = add_efforts(space, k, answer, v, tau)
    kind = int(memory[OWN_POWER])
    if kind == NUM_POWERS:
        memory[SLOT_STATUS] = PENDING
        call_address(int(memory[OWN_POWERS]), (force_rows(space)[k].slot,))
        if memory[SLOT_STATUS] != DONE:
            return CALLBACK_FAILED
        for j in range(NUM_POWERS):
            powers[j] += answer[j]
    elif kind >= 0:
        # what is dissipated leaves, what is supplied comes in
        powers[kind] += -power if kind == 0 else power
    return OK


@address_kernel(POTENTIAL_FORM)
def potential(space, k, t, q, out):
    """Call `Force.potential_energy`."""
    memory = copy_in(space, k, t, q, q, False)
    call_address(int(memory[OWN_POTENTIAL]), (force_rows(space)[k].slot,))
    if memory[SLOT_STATUS] != DONE:
        return CALLBACK_FAILED
    out[0] += answer_of(space, k, memory)[0]
    return OK
