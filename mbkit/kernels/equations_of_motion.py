"""The equations of motion as a time loop sees them: vdot = f(t, q, v)."""

from mbkit.kernels.compile import call_address, floats_at, helper, records_at
from mbkit.kernels.constraints.power import constraint_power
from mbkit.kernels.constraints.workspace import chosen_rows, closure_of, kept_rows
from mbkit.kernels.elementary import select
from mbkit.kernels.layout import DISSIPATED, FORCED, NUM_POWERS, SPACE, SUPPLIED
from mbkit.kernels.prescribed_motion import drive, driving_power
from mbkit.kernels.status import CALLBACK_FAILED, NOT_FINITE, OK, failure
from mbkit.kernels.validation import all_finite


@helper
def acceleration(space, t, q, v, vdot, powers):
    """Evaluate the forces, then the forward dynamics of the system's representation.

    Writes  vdot (nv,), powers (NUM_POWERS,): tau supplies tau.v, forces add their powers, and
            prescribed joints and constraints that move in time supply theirs; q and v of prescribed
            joints.
    """
    equations = records_at(space, 1, SPACE)[0]
    nv = v.shape[0]
    tau = floats_at(equations.tau, nv)
    time = floats_at(equations.time, 1)
    time[0] = t
    status = drive(space, t, q, v)
    if status != OK:
        return status
    if not (all_finite(q) and all_finite(v)):
        return failure(NOT_FINITE, 0)
    if equations.force != 0:
        status = call_address(equations.force, (equations.force_slot, t, q, v, tau))
        if status != OK:
            return failure(CALLBACK_FAILED, 0)
        if not all_finite(tau):
            return failure(NOT_FINITE, 0)
    if equations.num_forces == 0:
        supplied = 0.0
        for j in range(nv):
            supplied += tau[j] * v[j]
        powers[DISSIPATED] = 0.0
        powers[SUPPLIED] = supplied
        status = call_address(equations.forward_dynamics, (space, 0, q, v, tau, vdot))
    else:
        status = forced_acceleration(space, t, q, v, tau, vdot, powers)
    powers[SUPPLIED] += driving_power(space, v) + constraint_power(space)
    return status


@helper
def stage_acceleration(space, stage, t, q, v, vdot, powers):
    """The same at a stage of a step, of which the first, 0, is where the step begins.

    Which rows of the constraints are independent is decided there, where loops are closed, and
    holds for the step: `choose_rows` is to follow. See
    `mbkit.kernels.constraints.solve.factor.set_limits`.
    """
    if records_at(space, 1, SPACE)[0].closure == 0:
        return acceleration(space, t, q, v, vdot, powers)
    closure = closure_of(space)
    closure.follows = 0 if stage == 0 else 1
    status = acceleration(space, t, q, v, vdot, powers)
    closure.follows = 0
    return status


@helper
def choose_rows(space, begins):
    """Let the rows that count hold for the step: of those, side by side, whose step begins here."""
    if records_at(space, 1, SPACE)[0].closure == 0:
        return
    closure = closure_of(space)
    chosen = chosen_rows(closure)
    kept = kept_rows(closure)
    for r in range(chosen.shape[0]):
        chosen[r] = select(begins, kept[r], chosen[r])
    hold_rows(space)


@helper
def hold_rows(space):
    """Let the rows that were chosen where the step began hold at its end, too."""
    if records_at(space, 1, SPACE)[0].closure != 0:
        closure_of(space).decided = 1


@helper
def close_loops(space, t, q, v):
    """Bring the end of a step back to the constraints, in place; nothing where there are none."""
    record = records_at(space, 1, SPACE)[0]
    if record.project == 0:
        return OK
    time = floats_at(record.time, 1)
    time[0] = t
    return call_address(record.project, (space, time[0], q, v))


@helper
def forced_acceleration(space, t, q, v, tau, vdot, powers):
    """The forward dynamics with the forces, which it evaluates between its passes."""
    equations = records_at(space, 1, SPACE)[0]
    time = floats_at(equations.time, 1)
    efforts = floats_at(equations.efforts, v.shape[0])
    supplied = 0.0
    for j in range(v.shape[0]):
        supplied += tau[j] * v[j]
        efforts[j] = tau[j]
    status = call_address(equations.forward_dynamics, (space, FORCED, q, v, efforts, vdot))
    theirs = floats_at(equations.powers, NUM_POWERS)
    powers[DISSIPATED] = theirs[DISSIPATED]
    powers[SUPPLIED] = supplied + theirs[SUPPLIED]
    if status == OK and not all_finite(theirs):
        status = failure(NOT_FINITE, 0)
    if status == failure(NOT_FINITE, 0):  # whose is it?
        found = call_address(equations.force_search, (space, 0, q, v, time, efforts))
        return status if found == OK else found
    return status
