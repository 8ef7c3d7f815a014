"""The equations of motion as a time loop sees them: vdot = f(t, q, v)."""

from mbkit.kernels.compile import call_address, floats_at, helper, records_at
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import CALLBACK_FAILED, NOT_FINITE, OK, status
from mbkit.kernels.validation import all_finite


@helper
def acceleration(space, t, q, v, vdot):
    """Evaluate the forces, then the forward dynamics of the system's representation."""
    equations = records_at(space, 1, SPACE)[0]
    tau = floats_at(equations.tau, v.shape[0])
    if not (all_finite(q) and all_finite(v)):
        return status(NOT_FINITE, 0)
    if equations.force != 0:
        state = call_address(equations.force, (equations.force_slot, t, q, v, tau))
        if state != OK:
            return status(CALLBACK_FAILED, 0)
        if not all_finite(tau):
            return status(NOT_FINITE, 0)
    return call_address(equations.forward_dynamics, (space, 0, q, v, tau, vdot))
