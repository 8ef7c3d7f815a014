"""Residual of the equations of motion and of the constraints at the end of a step.

M vdot + b - f - tau - A^T lambda,   g(q, t),   A v + g_t.
"""

from mbkit.kernels.arrays import assign
from mbkit.kernels.compile import call_address, floats_at, helper, records_at
from mbkit.kernels.constraints.power import constraint_power
from mbkit.kernels.constraints.workspace import closure_of, rows_of
from mbkit.kernels.implicit_integrators.step_memory import flags_at, memory_of
from mbkit.kernels.layout import (
    CLOSED,
    DISSIPATED,
    DRIVE_NUM_POSITIONS,
    DRIVE_NUM_VELOCITIES,
    DRIVE_SIZE,
    NUM_POWERS,
    SPACE,
    SUPPLIED,
)
from mbkit.kernels.prescribed_motion import drive
from mbkit.kernels.status import CALLBACK_FAILED, NOT_FINITE, OK, failure
from mbkit.kernels.validation import all_finite


@helper
def mark_prescribed(space, step):
    """Which velocities a drive prescribes, by flags; their vdot."""
    record = memory_of(step)
    equations = records_at(space, 1, SPACE)[0]
    prescribed = flags_at(record.prescribed, record.nv)
    prescribed[:] = 0
    if equations.drive == 0:
        return
    nv = record.nv
    head = floats_at(equations.drive_slot, DRIVE_SIZE)
    first = DRIVE_SIZE + 2 * int(head[DRIVE_NUM_POSITIONS]) + 2 * int(head[DRIVE_NUM_VELOCITIES])
    known = floats_at(equations.drive_slot, first + 3 * nv)[first:]
    vdot = floats_at(record.vdot, nv)
    for k in range(nv):
        if known[2 * nv + k] != 0.0:
            prescribed[k] = 1
            vdot[k] = known[nv + k]


@helper
def place(space, step, t, q, v):
    """Let prescribed joints take q, v and vdot of t."""
    status = drive(space, t, q, v)
    if status == OK:
        mark_prescribed(space, step)
    return status


@helper
def applied_forces(space, step, t, q, v):
    """f + tau, into `applied`; the powers of the forces are left in SPACE."""
    record = memory_of(step)
    equations = records_at(space, 1, SPACE)[0]
    tau = floats_at(equations.tau, record.nv)
    applied = floats_at(record.applied, record.nv)
    time = floats_at(equations.time, 1)
    time[0] = t
    if equations.force != 0:
        if call_address(equations.force, (equations.force_slot, t, q, v, tau)) != OK:
            return failure(CALLBACK_FAILED, 0)
        if not all_finite(tau):
            return failure(NOT_FINITE, 0)
    if equations.num_forces == 0:
        assign(applied, tau)
        return OK
    status = call_address(record.generalized_forces, (space, 0, q, v, time, applied))
    for j in range(record.nv):
        applied[j] += tau[j]
    return status


@helper
def rates_at(space, step, t, q, v):
    """A v + g_t into `rate`."""
    record = memory_of(step)
    given = floats_at(record.given, record.nv + 1)
    given[:] = 0.0
    given[record.nv] = t
    found = floats_at(record.constraint_values, record.mp + 2 * record.m)
    status = call_address(record.constraint_state, (space, 0, q, v, given, found))
    assign(floats_at(record.rate, record.m), found[record.mp : record.mp + record.m])
    return status


@helper
def powers_at_end(space, step, v, powers):
    """Powers that forces, drives and constraints dissipate and supply at the last `evaluate`."""
    record = memory_of(step)
    equations = records_at(space, 1, SPACE)[0]
    powers[DISSIPATED] = 0.0
    powers[SUPPLIED] = 0.0
    if equations.num_forces > 0:
        assign(powers, floats_at(record.powers_kept, NUM_POWERS))
    tau = floats_at(equations.tau, record.nv)
    left = floats_at(record.left, record.nv)
    prescribed = flags_at(record.prescribed, record.nv)
    for j in range(record.nv):
        powers[SUPPLIED] += tau[j] * v[j]
        if prescribed[j] != 0:  # what its drive adds to tau
            powers[SUPPLIED] += left[j] * v[j]
    powers[SUPPLIED] += constraint_power(space)


@helper
def jacobian_at(space, record, t, q, A):
    """A(q, t) into an array that a step's record has for it; nothing for a tree."""
    if record.m == 0:
        return OK
    time = floats_at(records_at(space, 1, SPACE)[0].time, 1)
    time[0] = t
    return call_address(record.constraint_jacobian, (space, 0, q, q, time, A))


@helper
def give_multipliers(space, record):
    """The multipliers of the step are those of the constraints."""
    if record.m > 0:
        closure = closure_of(space)
        assign(rows_of(closure, closure.multipliers), floats_at(record.multipliers, record.m))


@helper
def take_rows(space, record):
    """g and A v + g_t, as inverse dynamics has left them, into `state` and `rate`."""
    if record.m > 0:
        closure = closure_of(space)
        assign(
            floats_at(record.constraint_values, record.mp), floats_at(closure.residual, record.mp)
        )
        assign(floats_at(record.rate, record.m), rows_of(closure, closure.rate))


@helper
def evaluate(space, step, t, q, v):
    """All residuals at (q, v, vdot, multipliers): into `left`, `state` and `rate`, unscaled."""
    record = memory_of(step)
    if not (all_finite(q) and all_finite(v)):
        return failure(NOT_FINITE, 0)
    left = floats_at(record.left, record.nv)
    vdot = floats_at(record.vdot, record.nv)
    status = applied_forces(space, step, t, q, v)
    if status == OK:
        give_multipliers(space, record)
        inverse_dynamics = records_at(space, 1, SPACE)[0].inverse_dynamics
        option = CLOSED if record.m > 0 else 0
        status = call_address(inverse_dynamics, (space, option, q, v, vdot, left))
    if status != OK:
        return status
    applied = floats_at(record.applied, record.nv)
    for j in range(record.nv):
        left[j] -= applied[j]
    take_rows(space, record)
    return OK
