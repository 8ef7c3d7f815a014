"""A constraint written in Python, in the form of the table: copy in, call back, copy out."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import address_kernel, call_address, floats_at, integers_at
from mbkit.kernels.constraints.kinds.form import (
    CONSTRAINT_FORM,
    bias,
    coefficients,
    rate,
    residual,
    wrenches,
)
from mbkit.kernels.constraints.layout import OWN_EVALUATE, OWN_TIME, OWN_VECTORS
from mbkit.kernels.constraints.workspace import closure_of, constraints, sites
from mbkit.kernels.joints.named_joints import copy_state
from mbkit.kernels.layout import (
    DONE,
    JOINT_NUM_POSITIONS,
    JOINT_SIZE,
    PENDING,
    SLOT_STATUS,
)
from mbkit.kernels.status import CALLBACK_FAILED, OK


@address_kernel(CONSTRAINT_FORM)
def evaluate(space, c, t, q, v):
    """Call the slot's `evaluate`."""
    closure = closure_of(space)
    constraint = constraints(closure)[c]
    table = sites(closure)
    joints = integers_at(constraint.joints, JOINT_SIZE * constraint.num_joints)
    nb = constraint.num_sites
    nv = constraint.num_velocities
    m = constraint.num_rows
    nq = 0
    for i in range(constraint.num_joints):
        nq += joints[JOINT_SIZE * i + JOINT_NUM_POSITIONS]
    said = OWN_VECTORS + nq + nv + 22 * nb
    size = said + constraint.num_position_rows + m * (2 + 6 * nb + nv)
    memory = floats_at(constraint.slot, size)
    memory[OWN_TIME] = t
    copy_state(joints, q, v, True, memory[OWN_VECTORS:], nq)
    for s in range(nb):
        site = table[constraint.first_site + s]
        C = memory[OWN_VECTORS + nq + nv + 16 * s :]
        for i in range(3):
            for j in range(3):
                C[4 * i + j] = site.R[i, j]
            C[4 * i + 3] = site.p[i]
        V = memory[OWN_VECTORS + nq + nv + 16 * nb + 6 * s :]
        for i in range(6):
            V[i] = site.V[i]
    memory[SLOT_STATUS] = PENDING
    call_address(int(memory[OWN_EVALUATE]), (constraint.slot,))
    if memory[SLOT_STATUS] != DONE:
        return CALLBACK_FAILED
    g = residual(space, c)
    assign(g, memory[said : said + g.shape[0]])
    said += g.shape[0]
    assign(rate(space, c), memory[said : said + m])
    assign(bias(space, c), memory[said + m : said + 2 * m])
    said += 2 * m
    W = wrenches(space, c)
    assign(W.reshape(-1), memory[said : said + 6 * m * nb])
    said += 6 * m * nb
    assign(coefficients(space, c).reshape(-1), memory[said : said + m * nv])
    return OK
