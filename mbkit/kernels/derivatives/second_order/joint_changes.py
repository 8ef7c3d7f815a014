"""Second derivatives of the pose, S and S-dot v of a joint along its steps.

For joints whose S depends on q. Where a workspace has dual numbers they are exact
(`mbkit.kernels.derivatives.second_order.exact_joint_changes`). Elsewhere, along a direction, by
central differences of eighth order,

    h^2 f'' = -205/72 f(0) + 8/5 f(h) - 1/5 f(2h) + 8/315 f(3h) - 1/560 f(4h) + the same of -h,

at h = 1/32: rounding leaves 1e-12 of f, and what is truncated is less where f changes over a length
of 0.5 in q or more. Mixed ones follow from the directions e_k + e_n, e_k and e_n. S-dot v is
quadratic in v, of which differences are exact.

Where T goes to T exp(D x + E x x / 2) with a step x, E is what its coordinates differ from those of
the exponential map by.
"""

from mbkit.kernels.compile import helper, of_one
from mbkit.kernels.derivatives.joints.changes_in_turn import numbers_in_turn, space_of_one
from mbkit.kernels.derivatives.joints.joint import evaluate, step_from
from mbkit.kernels.derivatives.joints.joint_changes import (
    EXACT,
    STEP,
    to_world,
    weight,
)
from mbkit.kernels.derivatives.second_order.exact_joint_changes import (
    addresses_of_duals,
    along_exact,
)
from mbkit.kernels.derivatives.second_order.pairs import (
    POSE,
    SIZE,
    accumulate_motion,
    pairs_of,
    size_of_row,
)
from mbkit.kernels.of_lanes import of_lanes
from mbkit.kernels.status import CALLBACK_FAILED, OK
from mbkit.kernels.validation import both
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    linear,
    motion_bracket,
    motion_to_child,
    rotate_back,
    scale,
    store,
    subtract,
)
from mbkit.kernels.workspace import changes, trials

#: h.
WIDE = 1.0 / 32.0


@helper
def second_weight(k):
    """The weight of f(k h), k = 0, ..., 4."""
    if k == 0:
        return -205.0 / (72.0 * WIDE * WIDE)
    if k == 1:
        return 8.0 / (5.0 * WIDE * WIDE)
    if k == 2:
        return -1.0 / (5.0 * WIDE * WIDE)
    if k == 3:
        return 8.0 / (315.0 * WIDE * WIDE)
    return -1.0 / (560.0 * WIDE * WIDE)


@helper
def along_direction(joint, trial, dx, first, second, out):
    """out = the second derivative along e_first + e_second, or e_first where they are the same."""
    row, body, q, v, _, _, _ = joint
    for j in range(SIZE):
        out[j] = 0.0
    for k in range(-4, 5):
        dx[second] = k * WIDE
        dx[first] = k * WIDE
        status = step_from(row, body, q, dx, trial)
        if status == OK:
            status = evaluate(joint, trial, v)
        if status != OK:
            return status
        accumulate_motion(out, second_weight(abs(k)), body, row.num_velocities)
    dx[first] = 0.0
    dx[second] = 0.0
    return OK


@helper
def along_differences(space, joint, out):
    """The same by differences."""
    mixed = SIZE * pairs_of(joint.row.ndx)
    status = along_pairs(joint, trials(space), out)
    if status == OK:
        status = along_steps_and_velocities(joint, trials(space), out[mixed:])
    return status


@helper
def along_all(space, joint, out):
    """The same of one sample, in the way that there is."""
    found = along_exact(space, joint, out)
    if found == EXACT:
        return OK
    if found == CALLBACK_FAILED:
        return CALLBACK_FAILED
    return along_differences(space, joint, out)


@helper
def in_turn(space, joint, out):
    """The same of samples side by side, for one after another.

    Products of exponentials, which are written for lanes, have their differences side by side.
    """
    row = joint.row
    if row.product != 0 and addresses_of_duals(space_of_one(space))[2] == 0.0:
        return along_differences(space, joint, out)
    size = SIZE * pairs_of(row.ndx) + 6 * row.ndx * row.num_velocities
    return numbers_in_turn(space, along_all, joint, size, out)


@helper
def along_pairs(joint, trials, out):
    """The second derivatives by all pairs of steps, in the order of `pairs_of`."""
    row = joint.row
    trial, _, dx = trials
    n = row.ndx
    first = row.first_step
    for j in range(first, first + n):
        dx[j] = 0.0
    for k in range(n):
        p = SIZE * (pairs_of(n) - pairs_of(n - k))  # of k with itself
        status = along_direction(joint, trial, dx, first + k, first + k, out[p : p + SIZE])
        if status != OK:
            return status
    for k in range(n):
        own = SIZE * (pairs_of(n) - pairs_of(n - k))
        for m in range(k + 1, n):
            other = SIZE * (pairs_of(n) - pairs_of(n - m))
            p = own + SIZE * (m - k)
            status = along_direction(joint, trial, dx, first + k, first + m, out[p : p + SIZE])
            if status != OK:
                return status
            for j in range(SIZE):
                out[p + j] = 0.5 * (out[p + j] - out[own + j] - out[other + j])
    return OK


@helper
def along_steps_and_velocities(joint, trials, out):
    """S-dot v by each step and velocity: differences by steps of (c(v + e) - c(v - e)) / 2."""
    row, body, q, v, _, _, _ = joint
    trial, speed, dx = trials
    first = row.first_velocity
    for c in range(first, first + row.num_velocities):
        speed[c] = v[c]
    for n in range(row.ndx):
        for c in range(row.num_velocities):
            entry = out[6 * (n * row.num_velocities + c) :]
            for j in range(6):
                entry[j] = 0.0
            for k in range(1, 4):
                for sign in range(-1, 2, 2):
                    dx[row.first_step + n] = sign * k * STEP
                    status = step_from(row, body, q, dx, trial)
                    for side in range(-1, 2, 2):
                        speed[first + c] = v[first + c] + side
                        if status == OK:
                            status = evaluate(joint, trial, speed)
                        if status != OK:
                            return status
                        for j in range(6):
                            entry[j] += 0.5 * side * sign * weight(k) * body.bias[j]
            speed[first + c] = v[first + c]
        dx[row.first_step + n] = 0.0
    return OK


@helper
def along_velocities(joint, speed, out):
    """S-dot v by each pair of velocities: (c(e_a + e_b) - c(e_a - e_b)) / 2."""
    row, body, q, _, _, _, _ = joint
    first = row.first_velocity
    nv = row.num_velocities
    for c in range(nv):
        speed[first + c] = 0.0
    begin = 0
    for a in range(nv):
        for b in range(a, nv):
            for j in range(6):
                out[begin + j] = 0.0
            for sign in range(-1, 2, 2):
                speed[first + a] = 1.0
                speed[first + b] += sign
                status = evaluate(joint, q, speed)
                if status != OK:
                    return status
                for j in range(6):
                    out[begin + j] += 0.5 * sign * body.bias[j]
                speed[first + a] = 0.0
                speed[first + b] = 0.0
            begin += 6
    return OK


@helper
def turn_about(R, pose, k, m):
    """The entry of R^T d2R that is about the axis after k and m."""
    total = 0.0
    for n in range(3):
        total += 0.5 * (R[n, m] * pose[3 * n + k] - R[n, k] * pose[3 * n + m])
    return total


@helper
def set_second_twist(body, D, other, pose):
    """E in the axes of the body, into the first six numbers of a pose (R by rows, p).

    (vee R^T d2R, R^T d2p) less what exp(D x) has, (0, (w_k x u_n + w_n x u_k) / 2).
    """
    R = body.R
    a = motion_to_child(body.world_R, body.world_p, angular(D), linear(D))
    b = motion_to_child(body.world_R, body.world_p, angular(other), linear(other))
    both = scale(0.5, add(cross(a[0], b[1]), cross(b[0], a[1])))
    u = subtract(rotate_back(R, (pose[9], pose[10], pose[11])), both)
    w = turn_about(R, pose, 1, 2), turn_about(R, pose, 2, 0), turn_about(R, pose, 0, 1)
    store(pose, w, u)


@helper
def second_joint_changes(joint, out):
    """Second derivatives of a joint, in the axes of the world; leaves the body as it was.

    Reads   the row, q, v; the pose in the world of the body; D of its steps, in the changes.
    """
    row, body, q, v, _, space, _ = joint
    table = changes(space)
    n = row.ndx
    nv = row.num_velocities
    mixed = SIZE * pairs_of(n)
    end = mixed + 6 * n * nv
    status = of_one(along_all, (space, joint, out))
    status = both(status, of_lanes(in_turn, (space, joint, out)))
    if status == OK:
        status = along_velocities(joint, trials(space)[1], out[end:])
    if status == OK:
        status = evaluate(joint, q, v)
    if status != OK:
        return status
    R = body.world_R
    p = body.world_p
    begin = 0
    for k in range(row.first_step, row.first_step + n):
        for m in range(k, row.first_step + n):
            pair = out[begin : begin + SIZE]
            set_second_twist(body, table[k].D, table[m].D, pair[POSE:])
            for c in range(8):  # six columns at most, S-dot v, E
                to_world(pair[6 * c : 6 * c + 6], R, p)
            begin += SIZE
    for c in range(n * nv + pairs_of(nv)):
        to_world(out[mixed + 6 * c : mixed + 6 * c + 6], R, p)
    return OK


@helper
def turned_second_changes(row, body, out):
    """Of a joint turned round: S = -Ad_T S' gives ([[S, D_k], D_n] + [[S, D_n], D_k]) / 2."""
    for j in range(size_of_row(row)):
        out[j] = 0.0
    begin = 0
    for k in range(row.ndx):
        for m in range(k, row.ndx):
            for c in range(row.num_velocities):
                a = twice_turned(body.S[c], body.S[k], body.S[m])
                b = twice_turned(body.S[c], body.S[m], body.S[k])
                w = scale(0.5, add(a[0], b[0]))
                store(out[begin + 6 * c :], w, scale(0.5, add(a[1], b[1])))
            begin += SIZE


@helper
def twice_turned(S, D, other):
    """[[S, D], other]."""
    w, u = motion_bracket(angular(S), linear(S), angular(D), linear(D))
    return motion_bracket(w, u, angular(other), linear(other))
