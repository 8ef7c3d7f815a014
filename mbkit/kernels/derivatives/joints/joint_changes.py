"""Changes of the pose, S and S-dot v of a joint along its group, and S-dot.

For joints whose S depends on q. Products of exponentials have closed forms (`screw_product` beside
this module); others are moved on dual numbers, exact, where a workspace has these
(`exact_joint_changes`). In other workspaces, those of Newton's matrices, which need no digits, and
for functions that dual numbers do not have, central differences of sixth order are taken, at
h = 1/256:

    f' = (45 (f(h) - f(-h)) - 9 (f(2h) - f(-2h)) + (f(3h) - f(-3h))) / 60 h + h^6 f^(7) / 140,

rounding leaves 1e-13 of f, and what is truncated is less where f changes over a length of 0.3 in q
or more. S-dot v is quadratic in v, of which central differences are exact.

Where v are rates of coordinates, S-dot needs no other differences. With d_j for the derivative by
coordinate j,

    S-dot_k = sum_j v_j d_j S_k,   p_k = d(S-dot v)/dv_k = sum_j v_j (d_j S_k + d_k S_j),

and the columns S of the twist of the body in its own frame obey d_j S_k - d_k S_j = [S_k, S_j], the
equation of Maurer and Cartan, so that

    S-dot_k = 1/2 (p_k + [S_k, S v]),   sum_k v_k p_k = 2 S-dot v,

of which the second gives the p_k of the fastest velocity from the others.

Derived here.
"""

from mbkit.kernels import vectors
from mbkit.kernels.compile import at, call_address, floats_at, helper, of_one, records_at
from mbkit.kernels.configuration import call_joint
from mbkit.kernels.derivatives.joints import screw_product
from mbkit.kernels.derivatives.joints.changes_in_turn import changes_in_turn
from mbkit.kernels.derivatives.joints.joint import evaluate, step_from
from mbkit.kernels.elementary import all_lanes, isfinite, select
from mbkit.kernels.layout import SPACE
from mbkit.kernels.linear_algebra.pivot_orders import put
from mbkit.kernels.of_lanes import of_lanes
from mbkit.kernels.recursions.columns import joint_sum
from mbkit.kernels.status import CALLBACK_FAILED, OK
from mbkit.kernels.validation import both
from mbkit.kernels.vectors import (
    angular,
    linear,
    motion_bracket,
    motion_to_parent,
    scale,
    store,
)
from mbkit.kernels.workspace import bodies, changes, trials

#: That changes are there; CALLBACK_FAILED is another number.
EXACT = 1

#: h.
STEP = 1.0 / 256.0


@helper
def weight(k):
    """The weight of f(k h), k = 1, 2, 3."""
    if k == 1:
        return 45.0 / (60.0 * STEP)
    if k == 2:
        return -9.0 / (60.0 * STEP)
    return 1.0 / (60.0 * STEP)


@helper
def clear(change, nv):
    """No change."""
    for j in range(6):
        change.bias[j] = 0.0
        for c in range(nv):
            change.S[c, j] = 0.0
    for i in range(3):
        change.p[i] = 0.0
        for j in range(3):
            change.R[i, j] = 0.0


@helper
def add(change, factor, body, nv):
    """Add `factor` times the motion of a body that the joint pass has written."""
    for j in range(6):
        change.bias[j] += factor * body.bias[j]
        for c in range(nv):
            change.S[c, j] += factor * body.S[c, j]
    for i in range(3):
        change.p[i] += factor * body.p[i]
        for j in range(3):
            change.R[i, j] += factor * body.R[i, j]


@helper
def exact_along_steps(space, i, q, v):
    """The same on dual numbers: EXACT if they are there, 0 if not, or CALLBACK_FAILED.

    Behind the memory of `trials` there are two addresses, of the function and of its SPACE; zero in
    workspaces without dual numbers.
    """
    row = bodies(space)[i]
    trial, speed, dx = trials(space)
    record = records_at(space, 1, SPACE)[0]
    size = trial.shape[0] + speed.shape[0] + dx.shape[0]
    addresses = floats_at(record.trial, size + 2)[size:]
    function = int(addresses[0])
    if function == 0:
        return 0
    arguments = int(addresses[1]), i, at(q, 0), at(v, 0), record.changes
    status = call_address(function, arguments)
    if status != OK:
        return CALLBACK_FAILED if status == CALLBACK_FAILED else 0
    total = 0.0
    table = changes(space)
    for j in range(row.first_step, row.first_step + row.ndx):
        for m in range(6):
            total += abs(table[j].bias[m])
            for c in range(row.num_velocities):
                total += abs(table[j].S[c, m])
    return EXACT if isfinite(total) else 0


@helper
def along_steps(space, joint):
    """The changes by unit of each entry of a step, of one sample."""
    row, body, q, v, _, _, i = joint
    trial, _, dx = trials(space)
    table = changes(space)
    found = exact_along_steps(space, i, q, v)
    if found != 0:
        return OK if found == EXACT else CALLBACK_FAILED
    nv = row.num_velocities
    for j in range(row.ndx):
        dx[row.first_step + j] = 0.0
    for j in range(row.first_step, row.first_step + row.ndx):
        clear(table[j], nv)
        for k in range(1, 4):
            for sign in range(-1, 2, 2):
                dx[j] = sign * k * STEP
                status = step_from(row, body, q, dx, trial)
                if status == OK:
                    status = evaluate(joint, trial, v)
                if status != OK:
                    return status
                add(table[j], sign * weight(k), body, nv)
        dx[j] = 0.0
    return OK


@helper
def set_rates(row, body, q, v, dx):
    """dx = the rates of a step from q with velocity v, of one joint."""
    d = row.first_step
    if row.rates == 0:
        for j in range(row.ndx):
            dx[d + j] = v[row.first_velocity + j]
        return OK
    a = at(q, row.first_position)
    b = at(v, row.first_velocity)
    return call_joint(row, body, row.rates, a, b, at(dx, d))


@helper
def along_motion(joint, change):
    """change.S = S-dot, its columns in the body's frame; leaves the body as it is at (q, v).

    `change` is the first of the joint in the workspace.
    """
    if joint.row.product != 0:
        screw_product.rates_of_columns(joint.row, joint.body, joint.v, change)
        return OK
    if joint.row.retract == 0 and joint.row.rates == 0:
        return along_coordinates(joint, change)
    return of_each_sample(along_steps_of_motion, joint)


@helper
def along_coordinates(joint, change):
    """S-dot where velocities are rates of coordinates: 1/2 (p_k + [S_k, S v])."""
    row, body, q, v, _, space, _ = joint
    _, trial, _ = trials(space)
    first = row.first_velocity
    fastest = 0
    fast = v[first]
    for c in range(row.num_velocities):
        trial[first + c] = v[first + c]
        is_faster = abs(v[first + c]) > abs(fast)
        fastest = select(is_faster, c, fastest)
        fast = select(is_faster, v[first + c], fast)
    clear(change, row.num_velocities)
    size = abs(fast)
    if all_lanes(size == 0.0):
        return OK
    for c in range(row.num_velocities):
        follows = (fastest == c) | (size == 0.0)  # from the others, or from no motion
        if all_lanes(follows):
            continue
        for sign in range(-1, 2, 2):
            trial[first + c] = v[first + c] + sign * size
            status = evaluate(joint, q, trial)
            if status != OK:
                return status
            for j in range(6):
                a = change.S[c, j]
                change.S[c, j] = select(follows, a, a + sign * body.bias[j] / (2.0 * size))
        trial[first + c] = v[first + c]
    status = evaluate(joint, q, v)
    if status != OK:
        return status
    for j in range(6):
        others = 0.0
        for c in range(row.num_velocities):
            others += v[first + c] * change.S[c, j]  # zero yet for the fastest
        put(change.S[:, j], fastest, (2.0 * body.bias[j] - others) / fast, size != 0.0)
    w, u = joint_sum(row, body, v)
    for c in range(row.num_velocities):
        S = body.S[c]
        p = change.S[c]
        a, b = motion_bracket(angular(S), linear(S), w, u)
        store(p, scale(0.5, vectors.add(angular(p), a)), scale(0.5, vectors.add(linear(p), b)))
    return OK


@helper
def sum_along(table, steps, nv):
    """S of the first change becomes the sum of all, with these weights."""
    for c in range(nv):
        for j in range(6):
            total = 0.0
            for k in range(steps.shape[0]):
                total += steps[k] * table[k].S[c, j]
            table[0].S[c, j] = total


@helper
def along_steps_of_motion(space, joint):
    """S-dot of one sample by its changes along steps, or by differences along the motion."""
    row, body, q, v, _, _, i = joint
    trial, _, dx = trials(space)
    table = changes(space)[row.first_step : row.first_step + row.ndx]
    change = table[0]
    nv = row.num_velocities
    steps = dx[row.first_step : row.first_step + row.ndx]
    status = set_rates(row, body, q, v, dx)
    found = exact_along_steps(space, i, q, v) if status == OK else 0
    if found == EXACT:
        sum_along(table, steps, nv)
        return OK
    if found != 0:
        return CALLBACK_FAILED
    clear(change, nv)
    speed = 0.0
    for j in range(steps.shape[0]):
        speed = max(speed, abs(steps[j]))
    if status != OK or speed == 0.0:
        return status
    for k in range(1, 4):
        for sign in range(-1, 2, 2):
            status = set_rates(row, body, q, v, dx)
            for j in range(steps.shape[0]):
                steps[j] *= sign * k * STEP / speed
            if status == OK:
                status = step_from(row, body, q, dx, trial)
            if status == OK:
                status = evaluate(joint, trial, v)
            if status != OK:
                return status
            add(change, sign * speed * weight(k), body, nv)
    return evaluate(joint, q, v)


@helper
def along_velocities(joint, trial, changes):
    """The change of S-dot v by unit of each velocity; leaves the body as it is at (q, v)."""
    row, body, q, v, _, _, _ = joint
    first = row.first_velocity
    end = first + row.num_velocities
    size = 1.0
    for c in range(first, end):
        trial[c] = v[c]
        size = max(size, abs(v[c]))
    for c in range(first, end):
        for j in range(6):
            changes[c].bias_rate[j] = 0.0
        for sign in range(-1, 2, 2):
            trial[c] = v[c] + sign * size
            status = evaluate(joint, q, trial)
            if status != OK:
                return status
            for j in range(6):
                changes[c].bias_rate[j] += sign * body.bias[j] / (2.0 * size)
        trial[c] = v[c]
    return evaluate(joint, q, v)


@helper
def of_each_sample(find, joint):
    """Let find(space, joint) write changes, of one sample or of all that are side by side."""
    status = of_one(find, (joint.space, joint))
    return both(status, of_lanes(changes_in_turn, (joint.space, find, joint)))


@helper
def set_twists(row, body, changes):
    """D = (vee R^T dR, R^T dp) of each entry of a step; S where velocities are rates of steps."""
    R = body.R
    for j in range(row.ndx):
        change = changes[row.first_step + j]
        if row.rates == 0:
            store(change.D, angular(body.S[j]), linear(body.S[j]))
        else:
            dR = change.R
            for i in range(3):
                k = (i + 1) % 3
                m = (i + 2) % 3
                # entries (m, k) and (k, m) of R^T dR
                turn = 0.0
                shift = 0.0
                for n in range(3):
                    turn += 0.5 * (R[n, m] * dR[n, k] - R[n, k] * dR[n, m])
                    shift += R[n, i] * change.p[n]
                change.D[i] = turn
                change.D[3 + i] = shift


@helper
def to_world(V, R, p):
    """V becomes Ad_C V."""
    w, u = motion_to_parent(R, p, angular(V), linear(V))
    store(V, w, u)


@helper
def joint_changes(joint):
    """Fill the CHANGE entries of a joint, in the axes and at the origin of the world.

    Reads   the row, q, v; the pose of the body in its parent and in the world, S in its own frame.
    Writes  D, S, bias of each step, bias_rate of each velocity; leaves the body as it was.
    """
    row, body, _, v, _, space, _ = joint
    table = changes(space)
    status = OK
    if row.product != 0:
        screw_product.along_coordinates(row, body, v, table)
    else:
        status = of_each_sample(along_steps, joint)
        if status == OK:
            status = along_velocities(joint, trials(space)[1], table)
    if status != OK:
        return status
    set_twists(row, body, table)
    R = body.world_R
    p = body.world_p
    for j in range(row.ndx):
        change = table[row.first_step + j]
        to_world(change.D, R, p)
        to_world(change.bias, R, p)
        for c in range(row.num_velocities):
            to_world(change.S[c], R, p)
    for c in range(row.first_velocity, row.first_velocity + row.num_velocities):
        to_world(table[c].bias_rate, R, p)
    return OK
