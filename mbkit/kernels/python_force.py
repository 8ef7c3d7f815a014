"""Generalized forces from a Python function, in the form the equations call by address."""

from mbkit.kernels.compile import address_kernel, as_array, call_address, floats_at
from mbkit.kernels.layout import (
    FORCE_CALLBACK,
    FORCE_NUM_POSITIONS,
    FORCE_NUM_VELOCITIES,
    FORCE_STATE,
)
from mbkit.kernels.status import OK


@address_kernel("idppp")
def python_force(slot, t, q, v, tau):
    """Copy t, q, v into the slot, call back with its address, copy tau out."""
    head = floats_at(slot, FORCE_STATE)
    nq = int(head[FORCE_NUM_POSITIONS])
    nv = int(head[FORCE_NUM_VELOCITIES])
    memory = floats_at(slot, FORCE_STATE + 1 + nq + 2 * nv)
    start = FORCE_STATE + 1
    memory[FORCE_STATE] = t
    memory[start : start + nq] = as_array(q, nq)
    memory[start + nq : start + nq + nv] = as_array(v, nv)
    state = call_address(int(head[FORCE_CALLBACK]), (slot,))
    if state == OK:
        as_array(tau, nv)[:] = memory[start + nq + nv : start + nq + 2 * nv]
    return state
