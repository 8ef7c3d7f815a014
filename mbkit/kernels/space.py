"""From the one address that a kernel is given to the arrays behind it."""

from mbkit.kernels.compile import floats_at, helper, records_at
from mbkit.kernels.layout import BODY, FRAME, NUM_POWERS, SITE, SPACE, WORK


@helper
def bodies(space):
    """The model: one `BODY` row a body."""
    record = records_at(space, 1, SPACE)[0]
    return records_at(record.bodies, record.num_bodies, BODY)


@helper
def scratch(space):
    """The scratch memory: `WORK` rows."""
    record = records_at(space, 1, SPACE)[0]
    return records_at(record.scratch, record.num_rows, WORK)


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
