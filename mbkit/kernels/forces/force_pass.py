"""The force pass: what all forces do, and what each of them is worth."""

from mbkit.kernels.body_fixed.steps import (
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
from mbkit.kernels.evaluation import EVALUATION, rows, velocities
from mbkit.kernels.forces.form import force_rows
from mbkit.kernels.forces.linear import add_linear
from mbkit.kernels.forces.sites import carried, clear_sites, move_sites
from mbkit.kernels.layout import DISSIPATED, NUM_POWERS, SPACE, SUPPLIED
from mbkit.kernels.recursions.energy import motion_pass
from mbkit.kernels.space import at_rest, bodies, powers_of, scratch, sites
from mbkit.kernels.status import FORCE_FAILED, FORCE_NOT_FINITE, OK, status
from mbkit.kernels.validation import all_finite
from mbkit.kernels.vectors import accumulate, angular, linear, store

_ZERO = (0.0, 0.0, 0.0)


@helper
def call_force(space, k, t, q, v, tau, powers):
    """Let force k add what it does."""
    function = force_rows(space)[k].function
    if call_address(function, (space, k, t[0], q, v, tau, powers)) != OK:
        return status(FORCE_FAILED, k)
    return OK


@helper
def call_forces(space, first, end, q, v, t, tau):
    """Call the forces from `first` to `end` in the order; they add to tau, to wrenches, to powers.

    Needs the sites without wrenches; where `first` is 0, and not the number of fields, the rows
    too.
    """
    order = integers_at(records_at(space, 1, SPACE)[0].force_order, end)
    powers = powers_of(space)
    for j in range(first, end):
        state = call_force(space, order[j], t, q, v, tau, powers)
        if state != OK:
            return state
    return OK


@address_kernel(EVALUATION)
def force_pass(space, _option, q, v, t, tau):
    """What the forces do that time loops call."""
    record = records_at(space, 1, SPACE)[0]
    tau = velocities(bodies(space), tau)
    return call_forces(space, record.num_fields, record.num_called, q, v, t, tau)


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
        state = call_force(space, k, t, q, v, tau, powers)
        if state != OK:
            return state
        finite = all_finite(tau) and all_finite(powers)
        for s in range(table.shape[0]):
            finite = finite and all_finite(table[s].W)
        if not finite:
            return status(FORCE_NOT_FINITE, k)
    return OK


@helper
def clear_rows(space):
    """No wrench on any row."""
    work = scratch(space)
    for i in range(bodies(space).shape[0]):
        store(work[i].wrench, _ZERO, _ZERO)


@helper
def add_wrenches(space, tau):
    """tau += J^T W: from the tips inwards, tau += S^T W, W_p += Ad_C^-T W. Cost: O(bodies)."""
    model = bodies(space)
    work = scratch(space)
    table = sites(space)
    for s in range(table.shape[0]):
        body = work[table[s].row]
        t, f = carried(table[s])
        t, f = wrench_from_world(body, t, f)
        accumulate(body.wrench, t, f)
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
def have_bodies(space):
    """Whether forces act on bodies, or want to know their motion."""
    record = records_at(space, 1, SPACE)[0]
    return record.num_sites + record.num_fields > 0


@helper
def motion_for_forces(space, q, v):
    """Poses and twists of rows and sites, where forces want them."""
    if not have_bodies(space):
        return OK
    state = motion_pass(bodies(space), scratch(space), q, v)
    if state == OK:
        move_sites(space, sites(space).shape[0], twist_in_world)
    return state


@helper
def have_forces(space):
    """Whether there are any: without, SPACE has no memory for them."""
    return records_at(space, 1, SPACE)[0].num_forces > 0


@address_kernel(EVALUATION)
def generalized_forces(space, _option, q, v, t, out):
    """Sum of all forces, out (nv,); leaves what they dissipate and supply in SPACE.powers."""
    tau = velocities(bodies(space), out)
    tau[:] = 0.0
    if not have_forces(space):
        return OK
    state = motion_for_forces(space, q, v)
    if state != OK:
        return state
    clear_rows(space)
    powers = powers_of(space)
    powers[DISSIPATED] = add_linear(space, q, v, tau)
    powers[SUPPLIED] = 0.0
    ordered = records_at(space, 1, SPACE)[0].num_ordered
    state = call_forces(space, 0, ordered, q, v, t, tau)
    if state != OK:
        return state
    if have_bodies(space):
        add_wrenches(space, tau)
    if all_finite(tau) and all_finite(powers_of(space)):
        return OK
    search = records_at(space, 1, SPACE)[0].force_search
    return call_address(search, (space, 0, q, v, t, out))


@address_kernel(EVALUATION)
def force_powers(space, _option, q, v, t, out):
    """What each force dissipates and supplies, out (forces, NUM_POWERS)."""
    if not have_forces(space):
        return OK
    count = force_rows(space).shape[0]
    powers = rows(out, count, NUM_POWERS)
    powers[:, :] = 0.0
    tau = floats_at(records_at(space, 1, SPACE)[0].efforts, bodies(space)[0].num_velocities)
    state = motion_for_forces(space, q, v)
    for k in range(count):
        if state != OK:
            return state
        state = call_force(space, k, t, q, v, tau, powers[k])
    return state


@address_kernel(EVALUATION)
def force_potentials(space, _option, q, _v, t, out):
    """Potential energy of each force, out (forces,)."""
    if not have_forces(space):
        return OK
    table = force_rows(space)
    state = motion_for_forces(space, q, at(at_rest(space), 0))
    if state != OK:
        return state
    for k in range(table.shape[0]):
        out[k] = 0.0
    for k in range(table.shape[0]):
        if table[k].potential != 0:
            energy = powers_of(space)
            energy[0] = 0.0
            if call_address(table[k].potential, (space, k, t[0], q, energy)) != OK:
                return status(FORCE_FAILED, k)
            out[k] = energy[0]
    return OK
