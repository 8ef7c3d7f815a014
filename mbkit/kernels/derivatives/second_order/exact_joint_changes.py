"""Second derivatives of the pose, S and S-dot v of a joint along its steps, by dual numbers.

They are central differences of eighth order of first derivatives, which are exact
(`mbkit.kernels.derivatives.joints.exact_joint_changes`),

    h f' = 4/5 (f(h) - f(-h)) - 1/5 (f(2h) - f(-2h)) + 4/105 (f(3h) - f(-3h)) - 1/280 (f(4h) - ...),

at h = 1/64: rounding leaves 1e-14. S-dot v by steps and velocities is exact.
"""

from mbkit.kernels.compile import at, call_address, floats_at, helper, records_at
from mbkit.kernels.derivatives.joints.joint_changes import EXACT
from mbkit.kernels.derivatives.second_order.pairs import SIZE, accumulate_motion, pairs_of
from mbkit.kernels.elementary import isfinite
from mbkit.kernels.layout import CHANGE, SPACE
from mbkit.kernels.status import OK
from mbkit.kernels.workspace import trials

#: Bytes of a change, of which there are ROOM behind those of a workspace.
CHANGE_SIZE = CHANGE.itemsize
ROOM = 6

#: A status of no function.
NO_DUALS = -1

#: h.
BESIDE = 1.0 / 64.0


@helper
def first_weight(k):
    """The weight of f(k h) in f', k = 1, ..., 4."""
    if k == 1:
        return 4.0 / (5.0 * BESIDE)
    if k == 2:
        return -1.0 / (5.0 * BESIDE)
    if k == 3:
        return 4.0 / (105.0 * BESIDE)
    return -1.0 / (280.0 * BESIDE)


@helper
def addresses_of_duals(space):
    """Three addresses behind the memory of `trials`: see `exact_along_steps`."""
    trial, speed, dx = trials(space)
    size = trial.shape[0] + speed.shape[0] + dx.shape[0]
    return floats_at(records_at(space, 1, SPACE)[0].trial, size + 3)[size:]


@helper
def exact_changes_beside(joint, v, k, h):
    """Changes by each entry of a step x at x = h e_k, on dual numbers, behind those of the joints.

    NO_DUALS where there are none.
    """
    space = joint.space
    addresses = addresses_of_duals(space)
    function = int(addresses[2])
    if function == 0 or joint.row.ndx > ROOM:
        return NO_DUALS
    own = records_at(space, 1, SPACE)[0].changes + CHANGE_SIZE * trials(space)[2].shape[0]
    arguments = int(addresses[1]), joint.i, at(joint.q, 0), at(v, 0), k, h, own
    return call_address(function, arguments)


@helper
def changes_beside(joint):
    """Where they are."""
    n = trials(joint.space)[2].shape[0]
    record = records_at(joint.space, 1, SPACE)[0]
    return records_at(record.changes, n + ROOM, CHANGE)[n:]


@helper
def along_exact(space, joint, out):
    """The second derivatives by all pairs of steps, then by each step and velocity.

    EXACT if they are there, otherwise a status: NO_DUALS where dual numbers do not have them.
    """
    row = joint.row
    _, speed, _ = trials(space)
    n = row.ndx
    nv = row.num_velocities
    first = row.first_velocity
    table = changes_beside(joint)
    end = SIZE * pairs_of(n) + 6 * n * nv
    for j in range(end):
        out[j] = 0.0
    begin = 0
    for k in range(n):
        for m in range(1, 5):
            for sign in range(-1, 2, 2):
                status = exact_changes_beside(joint, joint.v, k, sign * m * BESIDE)
                if status != OK:
                    return status
                for j in range(k, n):
                    pair = out[begin + SIZE * (j - k) :]
                    accumulate_motion(pair, sign * first_weight(m), table[j], nv)
        begin += SIZE * (n - k)
    for c in range(first, first + nv):
        speed[c] = joint.v[c]
    for c in range(nv):
        for sign in range(-1, 2, 2):
            speed[first + c] = joint.v[first + c] + sign
            status = exact_changes_beside(joint, speed, 0, 0.0)
            if status != OK:
                return status
            for k in range(n):
                for j in range(6):
                    out[begin + 6 * (k * nv + c) + j] += 0.5 * sign * table[k].bias[j]
        speed[first + c] = joint.v[first + c]
    total = 0.0
    for j in range(end):
        total += abs(out[j])
    return EXACT if isfinite(total) else NO_DUALS
