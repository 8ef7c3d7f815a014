"""The equations of motion as a time loop sees them: vdot = f(t, q, v)."""

from mbkit.kernels.compile import call_address, floats_at, helper, records_at
from mbkit.kernels.driving import drive, driving_power
from mbkit.kernels.layout import DISSIPATED, NUM_POWERS, SPACE, SUPPLIED
from mbkit.kernels.status import CALLBACK_FAILED, NOT_FINITE, OK, status
from mbkit.kernels.validation import all_finite


@helper
def acceleration(space, t, q, v, vdot, powers):
    """Evaluate the forces, then the forward dynamics of the system's representation.

    Writes  vdot (nv,), powers (NUM_POWERS,): tau supplies tau.v, and the forces say what is theirs;
            q and v of prescribed joints.
    """
    equations = records_at(space, 1, SPACE)[0]
    nv = v.shape[0]
    tau = floats_at(equations.tau, nv)
    state = drive(space, t, q, v)
    if state != OK:
        return state
    if not (all_finite(q) and all_finite(v)):
        return status(NOT_FINITE, 0)
    if equations.force != 0:
        state = call_address(equations.force, (equations.force_slot, t, q, v, tau))
        if state != OK:
            return status(CALLBACK_FAILED, 0)
        if not all_finite(tau):
            return status(NOT_FINITE, 0)
    supplied = 0.0
    for j in range(nv):
        supplied += tau[j] * v[j]
    powers[DISSIPATED] = 0.0
    powers[SUPPLIED] = supplied
    if equations.num_forces != 0:
        efforts = floats_at(equations.efforts, nv)
        time = floats_at(equations.time, 1)
        time[0] = t
        state = call_address(equations.force_pass, (space, 0, q, v, time, efforts))
        if state != OK:
            return state
        theirs = floats_at(equations.powers, NUM_POWERS)
        powers[DISSIPATED] = theirs[DISSIPATED]
        powers[SUPPLIED] += theirs[SUPPLIED]
        for j in range(nv):
            efforts[j] += tau[j]
        tau = efforts
    state = call_address(equations.forward_dynamics, (space, 0, q, v, tau, vdot))
    powers[SUPPLIED] += driving_power(space, v)
    return state
