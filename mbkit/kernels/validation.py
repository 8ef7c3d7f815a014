"""Lengths and finiteness of arrays, checked inside the kernels, where it costs nothing."""

from mbkit.kernels.compile import helper
from mbkit.kernels.elementary import all_lanes
from mbkit.kernels.status import OK, WRONG_LENGTH


@helper
def both(first, second):
    """Return OK if both statuses are, else the first that is not."""
    return second if first == OK else first


@helper
def check_positions(model, q):
    """Return OK if q has one entry a position; row 0 holds the totals."""
    return OK if q.shape[0] == model[0].num_positions else WRONG_LENGTH


@helper
def check_velocities(model, a, b, c):
    """Return OK if all three have one entry a velocity."""
    nv = model[0].num_velocities
    return OK if a.shape[0] == nv and b.shape[0] == nv and c.shape[0] == nv else WRONG_LENGTH


@helper
def check_steps(model, a):
    """Return OK if a has one entry a step."""
    return OK if a.shape[0] == model[0].ndx else WRONG_LENGTH


@helper
def check_rows(sites, out, width):
    """Return OK if out has `width` numbers for each of the user's bodies, the world included."""
    return OK if out.shape[0] == sites.shape[0] and out.shape[1] == width else WRONG_LENGTH


@helper
def check_columns(model, out, height):
    """Return OK if out has `height` rows and one column a velocity."""
    width = model[0].num_velocities
    return OK if out.shape[0] == height and out.shape[1] == width else WRONG_LENGTH


@helper
def all_finite(a):
    """Whether no entry is infinite or not a number."""
    return all_lanes(is_finite(a))


@helper
def is_finite(a):
    """The same of each sample: 0 x is 0 for finite x alone."""
    total = 0.0
    for j in range(a.shape[0]):
        total += 0.0 * a[j]
    return total == 0.0
