"""Kernels behind the methods of `Problem`; compiled integrators use the helpers.

Those of steps on the group: `mbkit.kernels.calls.integration_steps`.
"""

from mbkit.kernels.compile import float64, floats, helper, int64, kernel
from mbkit.kernels.equations_of_motion import (
    acceleration,
    choose_rows,
    close_loops,
    stage_acceleration,
)
from mbkit.kernels.layout import NUM_POWERS
from mbkit.kernels.status import OK, WRONG_LENGTH
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.validation import both, check_positions, check_velocities
from mbkit.kernels.workspace import bodies

# All lengths are compared here: what is called behind does not look at them again.


@helper
def check_motion(space, q, v, vdot, powers):
    """Return OK if all four have the lengths of the system."""
    model = bodies(space)
    status = both(check_positions(model, q), check_velocities(model, v, v, vdot))
    return both(status, OK if powers.shape[0] == NUM_POWERS else WRONG_LENGTH)


@kernel(int64(int64, float64, floats, floats, floats, floats))
def accelerate(space, t, q, v, vdot, powers):
    """Write vdot = f(t, q, v) (nv,) and powers (NUM_POWERS,)."""
    status = check_motion(space, q, v, vdot, powers)
    return acceleration(space, t, q, v, vdot, powers) if status == OK else status


@kernel(int64(int64, int64, float64, floats, floats, floats, floats))
def accelerate_stage(space, stage, t, q, v, vdot, powers):
    """The same at a stage of a step; 0 is where it begins."""
    status = check_motion(space, q, v, vdot, powers)
    if status != OK:
        return status
    status = stage_acceleration(space, stage, t, q, v, vdot, powers)
    if status == OK and stage == 0:
        choose_rows(space, True)
    return status


@kernel(int64(int64, float64, floats, floats))
def close_at(space, t, q, v):
    """Bring q and v back to the constraints."""
    model = bodies(space)
    status = both(check_positions(model, q), check_velocities(model, v, v, v))
    return close_loops(space, t, q, v) if status == OK else status


@kernel(int64(int64, float64, floats, floats))
def look_at(space, t, q, v):
    """OK where a step may end at (t, q, v), or the status EVENT."""
    model = bodies(space)
    status = both(check_positions(model, q), check_velocities(model, v, v, v))
    return look(space, t, q, v) if status == OK else status
