"""Forces of a system as wrenches on bodies and efforts of joints, before they are summed."""

from mbkit.kernels.compile import address_kernel, as_array, records_at
from mbkit.kernels.evaluation_form import EVALUATION, velocities
from mbkit.kernels.forces.force_pass import (
    call_forces,
    clear_rows,
    have_bodies,
    have_forces,
    motion_for_forces,
)
from mbkit.kernels.forces.linear import add_linear
from mbkit.kernels.forces.sites import clear_sites
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import accumulate, angular, cross, linear, load, rotate, scale
from mbkit.kernels.workspace import bodies, frames, scratch_of, sites


@address_kernel(EVALUATION)
def force_wrenches(space, _option, q, v, t, out):
    """Efforts along the joints (nv,), then a wrench on each of the user's bodies.

    The wrenches (moment, force) are in world axes, at the origins of the bodies' own frames; a
    field of acceleration g is the force m g in the centre of mass.
    """
    model = bodies(space)
    nv = model[0].num_velocities
    places = frames(space)
    tau = velocities(model, out)
    count = 6 * places.shape[0]
    wrenches = as_array(out, nv + count)[nv : nv + count].reshape((places.shape[0], 6))
    tau[:] = 0.0
    wrenches[:, :] = 0.0
    if not have_forces(space):
        return OK
    status = motion_for_forces(space, q, v)
    if status != OK:
        return status
    clear_rows(space)
    clear_sites(space)
    record = records_at(space, 1, SPACE)[0]
    add_linear(space, q, v, tau)
    status = call_forces(space, (record.num_fields, record.num_ordered), q, v, t, tau)
    if status != OK or not have_bodies(space):
        return status
    table = sites(space)
    for s in range(table.shape[0]):
        accumulate(wrenches[table[s].frame], angular(table[s].W), linear(table[s].W))
    g = load(record.field)
    scratch = scratch_of(space)
    for i in range(1, places.shape[0]):
        R = scratch[places[i].row].world_R
        arm = rotate(R, rotate(places[i].R, load(places[i].first_moment)))
        accumulate(wrenches[i], cross(arm, g), scale(places[i].mass, g))
    return OK
