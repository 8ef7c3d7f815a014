"""The world at the start of a recursion, and what needs nothing done in it."""

from mbkit.kernels.compile import helper
from mbkit.kernels.recursions.poses import set_identity
from mbkit.kernels.vectors import store

_ZERO = (0.0, 0.0, 0.0)


@helper
def start(scratch, acceleration):
    """The world: identity pose, no velocity, and the acceleration that is given."""
    set_identity(scratch[0])
    store(scratch[0].V, _ZERO, _ZERO)
    store(scratch[0].A, _ZERO, acceleration)


@helper
def is_placed(model, scratch, i):
    """Nothing: the recursion has left the pose in the world."""
