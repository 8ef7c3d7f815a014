"""Generalized forces from a Python function, in the form the equations call by address."""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import address_kernel, as_array, call_address, floats_at
from mbkit.kernels.layout import (
    DONE,
    FORCE_CALLBACK,
    FORCE_NUM_POSITIONS,
    FORCE_NUM_VELOCITIES,
    FORCE_TIME,
    FORCE_VECTORS,
    PENDING,
    SLOT_STATUS,
)
from mbkit.kernels.status import CALLBACK_FAILED, OK


@address_kernel("idppp")
def python_force(slot, t, q, v, tau):
    """Copy t, q, v into the slot, call back with its address, copy tau out."""
    head = floats_at(slot, FORCE_VECTORS)
    nq = int(head[FORCE_NUM_POSITIONS])
    nv = int(head[FORCE_NUM_VELOCITIES])
    head[FORCE_TIME] = t
    vectors = floats_at(slot, FORCE_VECTORS + nq + 2 * nv)[FORCE_VECTORS:]
    assign(vectors[:nq], as_array(q, nq))
    assign(vectors[nq : nq + nv], as_array(v, nv))
    head[SLOT_STATUS] = PENDING
    call_address(int(head[FORCE_CALLBACK]), (slot,))
    if head[SLOT_STATUS] != DONE:
        return CALLBACK_FAILED
    assign(as_array(tau, nv), vectors[nq + nv :])
    return OK
