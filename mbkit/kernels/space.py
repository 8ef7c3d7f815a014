"""From the one address that a kernel is given to the arrays behind it."""

from mbkit.kernels.compile import helper, records_at
from mbkit.kernels.layout import BODY, FRAME, SPACE, WORK


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
