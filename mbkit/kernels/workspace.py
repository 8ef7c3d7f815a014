"""The workspace of a call: from its one address, `space` in all kernels, to its arrays."""

from mbkit.kernels.compile import floats_at, helper, integers_at, records_at
from mbkit.kernels.layout import (
    BODY,
    CHANGE,
    DIRECTION,
    FRAME,
    NUM_POWERS,
    SCRATCH,
    SITE,
    SPACE,
)


@helper
def bodies(space):
    """The model: one `BODY` row a body."""
    record = records_at(space, 1, SPACE)[0]
    return records_at(record.bodies, record.num_bodies, BODY)


@helper
def scratch_of(space):
    """The scratch memory: `SCRATCH` entries."""
    record = records_at(space, 1, SPACE)[0]
    return records_at(record.scratch, record.num_rows, SCRATCH)


@helper
def frames(space):
    """The user's bodies: one `FRAME` row each."""
    record = records_at(space, 1, SPACE)[0]
    return records_at(record.frames, record.num_frames, FRAME)


@helper
def sites(space):
    """The bodies that forces act on: one `SITE` row each."""
    record = records_at(space, 1, SPACE)[0]
    return records_at(record.sites, record.num_sites, SITE)


@helper
def powers_of(space):
    """The powers that the force pass leaves."""
    return floats_at(records_at(space, 1, SPACE)[0].powers, NUM_POWERS)


@helper
def at_rest(space):
    """Velocities that are zero, for joint passes that need none."""
    record = records_at(space, 1, SPACE)[0]
    nv = records_at(record.bodies, record.num_bodies, BODY)[0].num_velocities
    return floats_at(record.rest, nv)


@helper
def directions(space):
    """Memory for derivatives: one `DIRECTION` row an entry of a step."""
    record = records_at(space, 1, SPACE)[0]
    ndx = records_at(record.bodies, record.num_bodies, BODY)[0].ndx
    return records_at(record.directions, ndx, DIRECTION)


@helper
def changes(space):
    """Memory for changes of joints: one `CHANGE` row an entry of a step."""
    record = records_at(space, 1, SPACE)[0]
    ndx = records_at(record.bodies, record.num_bodies, BODY)[0].ndx
    return records_at(record.changes, ndx, CHANGE)


@helper
def trials(space):
    """Memory for another configuration (nq,), another velocity (nv,) and a step (ndx,)."""
    record = records_at(space, 1, SPACE)[0]
    world = records_at(record.bodies, record.num_bodies, BODY)[0]
    nq = world.num_positions
    nv = world.num_velocities
    memory = floats_at(record.trial, nq + nv + world.ndx)
    return memory[:nq], memory[nq : nq + nv], memory[nq + nv :]


@helper
def columns_of(space):
    """In which column of a matrix of derivatives each entry of a step is, and each velocity."""
    record = records_at(space, 1, SPACE)[0]
    world = records_at(record.bodies, record.num_bodies, BODY)[0]
    return integers_at(record.column_of, max(world.ndx, world.num_velocities))


@helper
def num_columns(space, each):
    """How many columns there are: one for each, unless those that meet no common row share one."""
    shared = records_at(space, 1, SPACE)[0].num_columns
    return shared if shared != 0 else each
