"""The force pass: generalized forces of all forces, and what each of them is worth."""

from mbkit.kernels.body_fixed.recursion import column_power, to_parent
from mbkit.kernels.compile import (
    address_kernel,
    at,
    call_address,
    floats_at,
    helper,
    records_at,
)
from mbkit.kernels.energy import motion_pass
from mbkit.kernels.evaluation import EVALUATION, rows, velocities
from mbkit.kernels.forces.form import force_rows
from mbkit.kernels.layout import NUM_POWERS, SPACE
from mbkit.kernels.space import at_rest, bodies, scratch
from mbkit.kernels.status import FORCE_FAILED, FORCE_NOT_FINITE, OK, status
from mbkit.kernels.validation import all_finite
from mbkit.kernels.vectors import accumulate, angular, linear, store

_ZERO = (0.0, 0.0, 0.0)


@helper
def clear_wrenches(model, work):
    """No wrench on any row."""
    for i in range(model.shape[0]):
        store(work[i].wrench, _ZERO, _ZERO)


@helper
def add_wrenches(model, work, tau):
    """tau += J^T W: from the tips inwards, tau += S^T W, W_p += Ad_C^-T W. Cost: O(bodies)."""
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = work[i]
        t = angular(body.wrench)
        f = linear(body.wrench)
        for c in range(row.num_velocities):
            tau[row.first_velocity + c] += column_power(row, body, c, t, f)
        if row.parent != 0:
            t, f = to_parent(body, work[row.parent], t, f)
            accumulate(work[row.parent].wrench, t, f)


@helper
def run_forces(space, first, last, t, q, v, tau, powers):
    """Set tau and powers to what the forces from `first` to `last` do. Needs the motion pass."""
    model = bodies(space)
    work = scratch(space)
    table = force_rows(space)
    on_bodies = records_at(space, 1, SPACE)[0].body_forces
    tau[:] = 0.0
    powers[:] = 0.0
    if on_bodies != 0:
        clear_wrenches(model, work)
    for k in range(first, last):
        if call_address(table[k].function, (space, k, t, q, v, tau, powers)) != OK:
            return status(FORCE_FAILED, k)
    if on_bodies != 0:
        add_wrenches(model, work, tau)
    return OK


@helper
def motion_for_forces(space, q, v):
    """Poses and twists of the rows, where a force wants them."""
    if records_at(space, 1, SPACE)[0].body_forces == 0:
        return OK
    return motion_pass(bodies(space), scratch(space), q, v)


@address_kernel(EVALUATION)
def generalized_forces(space, _option, q, v, t, out):
    """Sum of all forces, out (nv,); leaves what they dissipate and supply in SPACE.powers."""
    tau = velocities(bodies(space), out)
    powers = floats_at(records_at(space, 1, SPACE)[0].powers, NUM_POWERS)
    count = force_rows(space).shape[0]
    state = motion_for_forces(space, q, v)
    if state == OK:
        state = run_forces(space, 0, count, t[0], q, v, tau, powers)
    if state != OK or (all_finite(tau) and all_finite(powers)):
        return state
    for k in range(count):  # whose is it?
        state = run_forces(space, k, k + 1, t[0], q, v, tau, powers)
        if state != OK:
            return state
        if not (all_finite(tau) and all_finite(powers)):
            return status(FORCE_NOT_FINITE, k)
    return OK


@address_kernel(EVALUATION)
def force_powers(space, _option, q, v, t, out):
    """What each force dissipates and supplies, out (forces, NUM_POWERS)."""
    count = force_rows(space).shape[0]
    powers = rows(out, count, NUM_POWERS)
    tau = floats_at(records_at(space, 1, SPACE)[0].efforts, bodies(space)[0].num_velocities)
    state = motion_for_forces(space, q, v)
    for k in range(count):
        if state != OK:
            return state
        state = run_forces(space, k, k + 1, t[0], q, v, tau, powers[k])
    return state


@address_kernel(EVALUATION)
def force_potentials(space, _option, q, _v, t, out):
    """Potential energy of each force, out (forces,)."""
    table = force_rows(space)
    state = motion_for_forces(space, q, at(at_rest(space), 0))
    if state != OK:
        return state
    for k in range(table.shape[0]):
        out[k] = 0.0
    for k in range(table.shape[0]):
        if table[k].potential != 0:
            energy = floats_at(records_at(space, 1, SPACE)[0].powers, NUM_POWERS)
            energy[0] = 0.0
            if call_address(table[k].potential, (space, k, t[0], q, energy)) != OK:
                return status(FORCE_FAILED, k)
            out[k] = energy[0]
    return OK
