"""Kernels behind the methods of `Problem`; compiled integrators use the helpers."""

from mbkit.kernels.compile import float64, floats, helper, int64, kernel, records_at
from mbkit.kernels.configuration import dexp_inv_rows, rates_rows, retract_rows
from mbkit.kernels.equations_of_motion import (
    acceleration,
    choose_rows,
    close_loops,
    stage_acceleration,
)
from mbkit.kernels.explicit_integrators.stages import rates_at
from mbkit.kernels.layout import NUM_POWERS, SPACE
from mbkit.kernels.status import OK, WRONG_LENGTH
from mbkit.kernels.time_loops.event_watch import look
from mbkit.kernels.validation import both, check_positions, check_steps, check_velocities
from mbkit.kernels.workspace import bodies, scratch_of

# All lengths are compared here: what is called behind does not look at them again.


@helper
def check_motion(space, q, v, vdot, powers):
    """Return OK if all four are as long as the system says."""
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


@kernel(int64(int64, floats, floats, floats))
def move(space, q, x, out):
    """Write q exp(x) (nq,), joint by joint."""
    model = bodies(space)
    status = both(check_positions(model, q), check_positions(model, out))
    status = both(status, check_steps(model, x))
    return retract_rows(model, scratch_of(space), q, x, out) if status == OK else status


@kernel(int64(int64, floats, floats, floats))
def rate(space, x, w, out):
    """Write the rate of x while q exp(x) moves with the rates w (ndx,)."""
    model = bodies(space)
    status = both(check_steps(model, x), check_steps(model, w))
    status = both(status, check_steps(model, out))
    return dexp_inv_rows(model, scratch_of(space), x, w, out) if status == OK else status


@kernel(int64(int64, floats, floats, floats))
def rates(space, q, v, out):
    """Write the rates (ndx,) at which a step leaves q with velocity v."""
    model = bodies(space)
    status = both(check_positions(model, q), check_velocities(model, v, v, v))
    status = both(status, check_steps(model, out))
    if status != OK:
        return status
    if records_at(space, 1, SPACE)[0].rates != 0:
        return rates_at(space, q, v, out)
    return rates_rows(model, scratch_of(space), q, v, out)


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
