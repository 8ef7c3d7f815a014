"""Derivatives of the rates of steps, joint by joint, by dual numbers: exact.

The functions are called by the kernels of `mbkit.kernels.sensitivities.charts`, which take
differences of joints that have no functions for dual numbers.
"""

from mbkit.kernels.compile import at, floats_at, helper, records_at
from mbkit.kernels.configuration import call_joint
from mbkit.kernels.derivatives.joints.joint import step_from
from mbkit.kernels.duals import DIRECTIONS, along, moving
from mbkit.kernels.layout import SPACE
from mbkit.kernels.status import JOINT_FAILED, OK
from mbkit.kernels.workspace import bodies, scratch_of, trials

#: The form of both.
FORM = "siccc"


@helper
def start_of(space):
    """Memory for q, behind that of `trials`, which has room for it."""
    trial, speed, dx = trials(space)
    nq = trial.shape[0]
    size = nq + speed.shape[0] + dx.shape[0]
    return floats_at(records_at(space, 1, SPACE)[0].trial, size + nq)[size:]


@helper
def write_block(found, first, count, size, k, out):
    """Columns k to k + count of a block (size, size), by rows."""
    for c in range(count):
        for j in range(size):
            out[j * size + k + c] = along(found[first + j], c)


def rates_by_step(space, i, x, w, out):
    """Derivatives of dexp_inv(x, w) by x, out (ndx, ndx), of the joint of row i.

    x and w are its own entries.
    """
    row = bodies(space)[i]
    body = scratch_of(space)[i]
    if row.dexp_inv == 0 or row.num_positions < row.ndx:
        return JOINT_FAILED
    trial, _, dx = trials(space)
    found = start_of(space)
    a = row.first_step
    b = row.first_position
    for first in range(0, row.ndx, DIRECTIONS):
        count = min(DIRECTIONS, row.ndx - first)
        for j in range(row.ndx):
            k = j - first
            dx[a + j] = moving(x[j], k, 1.0) if 0 <= k < count else x[j]
            trial[b + j] = w[j]
        status = call_joint(row, body, row.dexp_inv, at(dx, a), at(trial, b), at(found, b))
        if status != OK:
            return status
        write_block(found, b, count, row.ndx, first, out)
    return OK


def rates_by_state(space, i, q, v, out):
    """Derivatives of w(q, v) along steps of q, out (ndx, ndx), of the joint of row i."""
    row = bodies(space)[i]
    body = scratch_of(space)[i]
    if row.rates == 0 or row.motion == 0 or row.num_positions < row.ndx:
        return JOINT_FAILED
    trial, speed, dx = trials(space)
    start = start_of(space)
    a = row.first_step
    b = row.first_position
    c = row.first_velocity
    for first in range(0, row.ndx, DIRECTIONS):
        count = min(DIRECTIONS, row.ndx - first)
        for j in range(row.num_positions):
            start[b + j] = q[j]
        for j in range(row.num_velocities):
            speed[c + j] = v[j]
        for j in range(row.ndx):
            k = j - first
            dx[a + j] = moving(0.0, k, 1.0) if 0 <= k < count else 0.0
        status = step_from(row, body, start, dx, trial)
        if status != OK:
            return status
        status = call_joint(row, body, row.rates, at(trial, b), at(speed, c), at(start, b))
        if status != OK:
            return status
        write_block(start, b, count, row.ndx, first, out)
    return OK
