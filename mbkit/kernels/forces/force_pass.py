"""The force pass: the sum of all forces, and the power and potential energy of each."""

from mbkit.kernels.body_fixed.operators import (
    column_power,
    to_parent,
    twist_in_world,
    wrench_from_world,
)
from mbkit.kernels.compile import (
    address_kernel,
    at,
    call_address,
    floats_at,
    helper,
    integers_at,
    records_at,
)
from mbkit.kernels.evaluation_form import EVALUATION, as_matrix, velocities
from mbkit.kernels.forces.form import force_rows
from mbkit.kernels.forces.linear import add_linear
from mbkit.kernels.forces.sites import carried, clear_sites, move_sites
from mbkit.kernels.layout import DISSIPATED, NUM_POWERS, SPACE, SUPPLIED
from mbkit.kernels.recursions.energy import motion_pass
from mbkit.kernels.status import FORCE_FAILED, FORCE_NOT_FINITE, OK, failure
from mbkit.kernels.validation import all_finite
from mbkit.kernels.vectors import accumulate, angular, linear, store
from mbkit.kernels.workspace import at_rest, bodies, powers_of, scratch_of, sites

_ZERO = (0.0, 0.0, 0.0)


@helper
def call_force(space, k, t, q, v, tau, powers):
    """Add force k."""
    function = force_rows(space)[k].function
    if call_address(function, (space, k, t[0], q, v, tau, powers)) != OK:
        return failure(FORCE_FAILED, k)
    return OK


@helper
def call_forces(space, which, q, v, t, tau):
    """Call the forces from one to another in the order; they add to tau, to wrenches, to powers.

    Needs the sites without wrenches; where the first is 0, and not the number of fields, the rows
    too.
    """
    first, end = which
    order = integers_at(records_at(space, 1, SPACE)[0].force_order, end)
    powers = powers_of(space)
    for j in range(first, end):
        status = call_force(space, order[j], t, q, v, tau, powers)
        if status != OK:
            return status
    return OK


@address_kernel(EVALUATION)
def force_pass(space, _option, q, v, t, tau):
    """Add to tau the forces that time loops call."""
    record = records_at(space, 1, SPACE)[0]
    tau = velocities(bodies(space), tau)
    return call_forces(space, (record.num_fields, record.num_called), q, v, t, tau)


@address_kernel(EVALUATION)
def force_search(space, _option, q, v, t, tau):
    """The status of the first force that is not finite while the motion is; overwrites tau."""
    tau = velocities(bodies(space), tau)
    if motion_for_forces(space, q, v) != OK:
        return OK  # no force's fault
    powers = powers_of(space)
    table = sites(space)
    for s in range(table.shape[0]):
        if not (all_finite(table[s].p) and all_finite(table[s].V)):
            return OK  # no force's fault
    for k in range(force_rows(space).shape[0]):
        clear_rows(space)
        clear_sites(space)
        tau[:] = 0.0
        powers[:] = 0.0
        status = call_force(space, k, t, q, v, tau, powers)
        if status != OK:
            return status
        finite = all_finite(tau) and all_finite(powers)
        for s in range(table.shape[0]):
            finite = finite and all_finite(table[s].W)
        if not finite:
            return failure(FORCE_NOT_FINITE, k)
    return OK


@helper
def clear_rows(space):
    """No wrench on any row."""
    scratch = scratch_of(space)
    for i in range(bodies(space).shape[0]):
        store(scratch[i].wrench, _ZERO, _ZERO)


@helper
def add_wrenches(space, tau):
    """tau += J^T W: from the tips inwards, tau += S^T W, W_p += Ad_C^-T W. Cost: O(bodies)."""
    model = bodies(space)
    scratch = scratch_of(space)
    table = sites(space)
    for s in range(table.shape[0]):
        body = scratch[table[s].row]
        t, f = carried(table[s])
        t, f = wrench_from_world(body, t, f)
        accumulate(body.wrench, t, f)
    for i in range(model.shape[0] - 1, 0, -1):
        row = model[i]
        body = scratch[i]
        t = angular(body.wrench)
        f = linear(body.wrench)
        for c in range(row.num_velocities):
            tau[row.first_velocity + c] += column_power(row, body, c, t, f)
        if row.parent != 0:
            t, f = to_parent(body, scratch[row.parent], t, f)
            accumulate(scratch[row.parent].wrench, t, f)


@helper
def have_bodies(space):
    """Whether forces act on bodies, or depend on their motion."""
    record = records_at(space, 1, SPACE)[0]
    return record.num_sites + record.num_fields > 0


@helper
def motion_for_forces(space, q, v):
    """Poses and twists of bodies and sites, where forces need them."""
    if not have_bodies(space):
        return OK
    status = motion_pass(bodies(space), scratch_of(space), q, v)
    if status == OK:
        move_sites(space, sites(space).shape[0], twist_in_world)
    return status


@helper
def have_forces(space):
    """Whether there are any: without, SPACE has no memory for them."""
    return records_at(space, 1, SPACE)[0].num_forces > 0


@address_kernel(EVALUATION)
def generalized_forces(space, _option, q, v, t, out):
    """Sum of all forces, out (nv,); writes their dissipated and supplied powers to SPACE.powers."""
    tau = velocities(bodies(space), out)
    for j in range(tau.shape[0]):
        tau[j] = 0.0
    if not have_forces(space):
        return OK
    status = motion_for_forces(space, q, v)
    if status != OK:
        return status
    clear_rows(space)
    powers = powers_of(space)
    powers[DISSIPATED] = add_linear(space, q, v, tau)
    powers[SUPPLIED] = 0.0
    ordered = records_at(space, 1, SPACE)[0].num_ordered
    status = call_forces(space, (0, ordered), q, v, t, tau)
    if status != OK:
        return status
    if have_bodies(space):
        add_wrenches(space, tau)
    if all_finite(tau) and all_finite(powers_of(space)):
        return OK
    search = records_at(space, 1, SPACE)[0].force_search
    return call_address(search, (space, 0, q, v, t, out))


@address_kernel(EVALUATION)
def force_powers(space, _option, q, v, t, out):
    """Powers that each force dissipates and supplies, out (forces, NUM_POWERS)."""
    if not have_forces(space):
        return OK
    count = force_rows(space).shape[0]
    powers = as_matrix(out, count, NUM_POWERS)
    powers[:, :] = 0.0
    tau = floats_at(records_at(space, 1, SPACE)[0].efforts, bodies(space)[0].num_velocities)
    status = motion_for_forces(space, q, v)
    for k in range(count):
        if status != OK:
            return status
        status = call_force(space, k, t, q, v, tau, powers[k])
    return status


@address_kernel(EVALUATION)
def force_potentials(space, _option, q, _v, t, out):
    """Potential energy of each force, out (forces,)."""
    if not have_forces(space):
        return OK
    table = force_rows(space)
    status = motion_for_forces(space, q, at(at_rest(space), 0))
    if status != OK:
        return status
    for k in range(table.shape[0]):
        out[k] = 0.0
    for k in range(table.shape[0]):
        if table[k].potential != 0:
            energy = powers_of(space)
            energy[0] = 0.0
            if call_address(table[k].potential, (space, k, t[0], q, energy)) != OK:
                return failure(FORCE_FAILED, k)
            out[k] = energy[0]
    return OK
