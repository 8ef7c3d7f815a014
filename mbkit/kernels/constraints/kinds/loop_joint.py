"""A joint that closes a loop, as rows.

With the joint's frames C_a, C_b in the world, T = C_a^-1 C_b must be a pose the joint can have:
    q_J = configuration_from_pose(T),   g = W^T log(T(q_J)^-1 T),   W^T V = 0,
    W^T (V' - b_J(q_J, v_J)) = 0,
with V the twist of C_b relative to C_a in the axes of C_b, W a basis of the wrenches that do no
work along the joint's motion subspace S, b_J = S' v_J, and S v_J = V. What is on the left is the
exact rate of g where the loop is closed.
Each row is scaled to |t|^2 / L^2 + |f|^2 = 1, L the length of the system: g is in metres.
"""

from mbkit.kernels.compile import at, call_address, floats_at, helper, pointer_at
from mbkit.kernels.constraints.layout import BUFFER_Q, BUFFER_R, BUFFER_SIZE, BUFFER_WRENCHES
from mbkit.kernels.constraints.workspace import joints, sites, wrenches_of
from mbkit.kernels.each_lane import each_lane
from mbkit.kernels.elementary import all_lanes, any_lane, select, sqrt
from mbkit.kernels.joints.loop_joint import joint_configuration_from_pose, joint_wrenches
from mbkit.kernels.joints.revolute_prismatic_screw import place_screw
from mbkit.kernels.layout import SCREW
from mbkit.kernels.lie.so3 import so3_dexp_spatial_inv, so3_log
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    add,
    angular,
    cross,
    dot,
    linear,
    load,
    rotate,
    rotate_back,
    scale,
    store,
    subtract,
)

_ZERO = (0.0, 0.0, 0.0)

#: Squared sines up to which series are short.
NEAR = 1e-4

#: The least size of a turn about z; it is 2 where the rotation is one.
LEAST_TURN = 0.5


@helper
def set_relative_pose(a, b, body):
    """T = C_a^-1 C_b into R, p of the joint's memory."""
    for k in range(3):
        column = rotate_back(a.R, (b.R[0, k], b.R[1, k], b.R[2, k]))
        body.R[0, k], body.R[1, k], body.R[2, k] = column
    d = rotate_back(a.R, subtract(load(b.p), load(a.p)))
    body.p[0], body.p[1], body.p[2] = d


@helper
def relative_twist(a, b):
    """V: (R_b^T w, R_b^T u) with w = w_b - w_a, u = u_b - u_a - w_a x d."""
    d = subtract(load(b.p), load(a.p))
    w = subtract(angular(b.V), angular(a.V))
    u = subtract(subtract(linear(b.V), linear(a.V)), cross(angular(a.V), d))
    return rotate_back(b.R, w), rotate_back(b.R, u)


@helper
def relative_rate(a, b):
    """V': (R_b^T (w' - w_b x w), R_b^T (u' - w_b x u)), with d' = u_b - u_a in u'."""
    d = subtract(load(b.p), load(a.p))
    d_dot = subtract(linear(b.V), linear(a.V))
    w = subtract(angular(b.V), angular(a.V))
    u = subtract(d_dot, cross(angular(a.V), d))
    w_dot = subtract(angular(b.A), angular(a.A))
    u_dot = subtract(linear(b.A), linear(a.A))
    u_dot = subtract(u_dot, add(cross(angular(a.A), d), cross(angular(a.V), d_dot)))
    w_dot = subtract(w_dot, cross(angular(b.V), w))
    u_dot = subtract(u_dot, cross(angular(b.V), u))
    return rotate_back(b.R, w_dot), rotate_back(b.R, u_dot)


@helper
def quotient(a, b):
    """a / b, zero where b is."""
    is_there = b > 0.0
    return select(is_there, a / select(is_there, b, 1.0), 0.0)


@helper
def solve_subspace(S, n, V, v, buffer):
    """The v with S v = V, by Gram and Schmidt, S = Q R; zero where a column depends on others."""
    Q = buffer[BUFFER_Q:BUFFER_R].reshape((6, 6))
    R = buffer[BUFFER_R:BUFFER_SIZE].reshape((6, 6))
    for k in range(n):
        square = 0.0
        for j in range(6):
            Q[k, j] = S[k, j]
            square += S[k, j] * S[k, j]
        for i in range(k):
            product = 0.0
            for j in range(6):
                product += Q[i, j] * Q[k, j]
            R[i, k] = product
            for j in range(6):
                Q[k, j] -= product * Q[i, j]
        rest = 0.0
        for j in range(6):
            rest += Q[k, j] * Q[k, j]
        R[k, k] = select(rest > 1e-20 * square, sqrt(rest), 0.0)
        inverse = quotient(1.0, R[k, k])
        v[k] = 0.0
        for j in range(6):
            Q[k, j] *= inverse
            v[k] += Q[k, j] * V[j]
    for k in range(n - 1, -1, -1):
        for i in range(k + 1, n):
            v[k] -= R[k, i] * v[i]
        v[k] = quotient(v[k], R[k, k])


@helper
def close_joint(joint, body, buffer):
    """x = log(T(q_J)^-1 T) as (angular, linear); q_J into coupling, S into S. T is in R, p.

    Hinges need no angle, but where their axes point the other way.
    """
    c, s, size = nearest_turn(body.R)
    is_hinge = (size > LEAST_TURN) & (joint.kind == SCREW and joint.lead == 0.0)
    x = _ZERO
    y = _ZERO
    if any_lane(is_hinge):
        x, y = close_hinge(c / size, s / size, body.R, body.p)
    if all_lanes(is_hinge):
        return OK, x, y
    status, a, b = close_by_configuration(joint, body, buffer)
    x, y = chosen(is_hinge, (x, y), (a, b))
    return status, x, y


@helper
def close_by_configuration(joint, body, buffer):
    """The same of any joint, by its configuration."""
    q = body.coupling
    T = buffer[:12]
    for j in range(3):
        for k in range(3):
            T[3 * j + k] = body.R[j, k]
        T[9 + j] = body.p[j]
    status = joint_configuration_from_pose(joint, body.slot, at(T, 0), at(q, 0))
    x = _ZERO
    y = _ZERO
    if status == OK:
        status = joint_motion(joint, body, q, joint_rest(body))
        d = rotate_back(body.R, subtract((T[9], T[10], T[11]), load(body.p)))
        r0 = rotate_back(body.R, (T[0], T[3], T[6]))
        r1 = rotate_back(body.R, (T[1], T[4], T[7]))
        r2 = rotate_back(body.R, (T[2], T[5], T[8]))
        x, y = log_near((r0[0], r1[0], r2[0], r0[1], r1[1], r2[1], r0[2], r1[2], r2[2]), d)
    return status, x, y


@helper
def nearest_turn(R):
    """The direction (c, s) of the nearest turn about z, times its size: small if z turns over."""
    c = R[0, 0] + R[1, 1]
    s = R[1, 0] - R[0, 1]
    return c, s, sqrt(c * c + s * s)


@helper
def close_hinge(c, s, R, p):
    """The same of a hinge that turns by the angle of (c, s)."""
    a = (R[0, 0], R[0, 1], R[0, 2])
    b = (R[1, 0], R[1, 1], R[1, 2])
    d = (c * p[0] + s * p[1], c * p[1] - s * p[0], p[2])
    a, b = add(scale(c, a), scale(s, b)), subtract(scale(c, b), scale(s, a))
    return log_near((a[0], a[1], a[2], b[0], b[1], b[2], R[2, 0], R[2, 1], R[2, 2]), d)


@helper
def chosen(condition, first, second):
    """Two vectors where the condition holds, two others elsewhere."""
    (a, b), (x, y) = first, second
    return (
        select(condition, a[0], x[0]), select(condition, a[1], x[1]), select(condition, a[2], x[2])
    ), (
        select(condition, b[0], y[0]), select(condition, b[1], y[1]), select(condition, b[2], y[2])
    )  # fmt: skip


@helper
def log_near(R, d):
    """log(R, d) on SE(3), by series in sin phi where phi is small, as in loops that are closed."""
    sine = (0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1]))
    is_near = (dot(sine, sine) < NEAR) & (R[0] + R[4] + R[8] > 1.0)
    if all_lanes(is_near):
        return log_by_series(sine, d)
    far = each_lane(log_far, (R, d))
    if any_lane(is_near):
        return chosen(is_near, log_by_series(sine, d), far)
    return far


@helper
def log_by_series(sine, d):
    """x = (asin s / s) sin, and dexp_x^-1 d = d - x d / 2 + (1/12 + z / 720 + z^2 / 30240) x x d.

    With z = |x|^2; what is left out is below rounding.
    """
    z = dot(sine, sine)
    x = scale(1.0 + z * (1 / 6 + z * (3 / 40 + z * (15 / 336))), sine)
    z = dot(x, x)
    b = cross(x, d)
    e = 1 / 12 + z * (1 / 720 + z * (1 / 30240))
    return x, add(subtract(d, scale(0.5, b)), scale(e, cross(x, b)))


@helper
def log_far(R, d):
    """The same at every angle."""
    x = so3_log(R)
    return x, so3_dexp_spatial_inv(x, d)


@helper
def joint_rest(body):
    """Velocities of the joint that are zero."""
    for k in range(6):
        body.rotational[k] = 0.0
    return body.rotational


@helper
def joint_motion(joint, body, q, v):
    """Pose, S and S' v of the joint in its canonical frame: R, p, S, bias of its memory."""
    if joint.num_velocities == 0:  # welded: the pose is in the frame of the predecessor's side
        set_identity_pose(body)
        return OK
    if joint.kind == SCREW:
        place_screw(joint, body, q[0])
        store(body.S[0], (0.0, 0.0, joint.rate), (0.0, 0.0, joint.lead))
        store(body.bias, _ZERO, _ZERO)
        return OK
    return call_address(
        joint.motion,
        (
            body.slot,
            pointer_at(joint.parameters),
            at(q, 0),
            at(v, 0),
            at(body.R, 0),
            at(body.p, 0),
            at(body.S, 0),
            at(body.bias, 0),
        ),
    )


@helper
def set_identity_pose(body):
    """R = I, p = 0."""
    for j in range(3):
        for k in range(3):
            body.R[j, k] = 1.0 if j == k else 0.0
        body.p[j] = 0.0


@helper
def write_row(wrenches, r, d, b, t, f):
    """A row: the wrench (t, f), given in the axes of C_b at its origin, on b, its opposite on a.

    d is the way from there to here.
    """
    t = rotate(b.R, t)
    f = rotate(b.R, f)
    store(wrenches[2 * r], scale(-1.0, add(t, cross(d, f))), scale(-1.0, f))
    store(wrenches[2 * r + 1], t, f)


@helper
def loop_joint_rows(closure, constraint):
    """g, A v, A v' + A' v of one loop joint, and its rows as wrenches."""
    table = sites(closure)
    loops, memory = joints(closure)
    joint = loops[constraint.joint]
    body = memory[constraint.joint]
    residual = floats_at(closure.residual, closure.num_position_rows)
    rate = floats_at(closure.rate, closure.num_rows)
    bias = floats_at(closure.bias, closure.num_rows)
    buffer = floats_at(closure.buffer, closure.num_buffer)
    a = table[constraint.first_site]
    b = table[constraint.first_site + 1]
    set_relative_pose(a, b, body)
    status, x, y = close_joint(joint, body, buffer)
    w, u = relative_twist(a, b)
    w_dot, u_dot = relative_rate(a, b)
    if status == OK and joint.constant == 0:
        store(body.V, w, u)
        solve_subspace(body.S, joint.num_velocities, body.V, body.rotational, buffer)
        status = joint_motion(joint, body, body.coupling, body.rotational)
        w_dot = subtract(w_dot, angular(body.bias))
        u_dot = subtract(u_dot, linear(body.bias))
    W = buffer[BUFFER_WRENCHES:BUFFER_Q]
    if status == OK:
        status = joint_wrenches(joint, body.slot, at(body.coupling, 0), at(W, 0))
    if status != OK:
        return status
    wrenches = wrenches_of(closure, constraint)
    least = 1.0 / (closure.length * closure.length)
    d = subtract(load(b.p), load(a.p))
    for r in range(constraint.num_rows):
        t = (W[6 * r], W[6 * r + 1], W[6 * r + 2])
        f = (W[6 * r + 3], W[6 * r + 4], W[6 * r + 5])
        size = 1.0 / sqrt(least * dot(t, t) + dot(f, f))
        t = scale(size, t)
        f = scale(size, f)
        residual[constraint.first_position_row + r] = dot(t, x) + dot(f, y)
        rate[constraint.first_row + r] = dot(t, w) + dot(f, u)
        bias[constraint.first_row + r] = dot(t, w_dot) + dot(f, u_dot)
        write_row(wrenches, r, d, b, t, f)
    return OK
