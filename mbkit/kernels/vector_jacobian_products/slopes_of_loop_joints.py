"""Derivatives of the terms of a loop joint by its pose and by its twist, by differences.

They are kappa and beta of `loops` in this package: kappa is the derivative of psi by the pose T,
beta that of Y . b_J by V. With q_J the coordinates nearest to T, x = log(T(q_J)^-1 T), and
f + G . x = psi, where f and G depend on T through q_J alone,

    kappa . delta = df/dq_J dq_J + dG/dq_J dq_J . x + G . dx,
    dx = dexp_-x^-1 delta - dexp_x^-1 S dq_J,

so that psi is evaluated along the joint's few coordinates, and these along the six directions of T.
Both are differences of sixth order, the rest is exact. Where a coordinate jumps in the difference,
from pi to -pi, psi itself is evaluated along the direction.
Source: derived here; dexp^-1: `mbkit.kernels.lie.se3`.
"""

from typing import Any, NamedTuple

from mbkit.kernels.compile import at, helper
from mbkit.kernels.configuration import call_joint
from mbkit.kernels.constraints.kinds.loop_joint import (
    close_joint,
    joint_motion,
    joint_rest,
    quotient,
    solve_subspace,
)
from mbkit.kernels.constraints.layout import BUFFER_Q, BUFFER_R, BUFFER_SIZE
from mbkit.kernels.derivatives.joints.joint_changes import STEP, weight
from mbkit.kernels.derivatives.joints.loop_joint import (
    moved_pose,
    set_coordinates,
    set_wrenches_of_coordinates,
)
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.lie.se3 import se3_dexp_body_inv
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, angular, dot, linear, scale, store, subtract

_ZERO = (0.0, 0.0, 0.0)

#: Coordinates that turn by less than this per unit are translations.
SLOW = 1e-6


class Wrenches(NamedTuple):
    """L, Y, Z and G, pairs of tuples."""

    L: Any
    Y: Any
    Z: Any
    G: Any


class Motion(NamedTuple):
    """X, V, and A - [V_a, V] of a loop joint, pairs of tuples, and its pose."""

    X: Any
    V: Any
    R: Any
    T: Any
    has_bias: bool  # whether Y . b_J is there, and changes


@helper
def power(a, b):
    """A wrench times a twist."""
    return dot(a[0], b[0]) + dot(a[1], b[1])


@helper
def minus(a, b):
    """The difference of two pairs."""
    return subtract(a[0], b[0]), subtract(a[1], b[1])


@helper
def is_zero(a):
    """Whether all entries are zero."""
    return power(a, a) == 0.0


@helper
def unit(i, h):
    """h times the unit twist i."""
    return (h if i == 0 else 0.0, h if i == 1 else 0.0, h if i == 2 else 0.0), (
        h if i == 3 else 0.0, h if i == 4 else 0.0, h if i == 5 else 0.0
    )  # fmt: skip


@helper
def rate_of_log(x, V):
    """The rate of x = log(T) where T moves with the twist V of its own frame."""
    return se3_dexp_body_inv(x[0], x[1], V[0], V[1])


@helper
def total(loop, factors):
    """The sum of the wrenches of the rows times factors."""
    t = _ZERO
    f = _ZERO
    W = loop.W
    for r in range(loop.constraint.num_rows):
        x = factors[loop.constraint.first_row + r]
        a = 6 * r
        t = add(t, scale(x, (W[a], W[a + 1], W[a + 2])))
        f = add(f, scale(x, (W[a + 3], W[a + 4], W[a + 5])))
    return t, f


@helper
def totals(loop, factors):
    """L, Y, Z and G of the wrenches W."""
    L = total(loop, factors.multipliers)
    Y = total(loop, factors.accelerations)
    Z = total(loop, factors.rates)
    if factors.residuals.shape[0] == 0:
        return Wrenches(L, Y, Z, (_ZERO, _ZERO))
    return Wrenches(L, Y, Z, total(loop, factors.residuals))


@helper
def put_pose(body, pose):
    """Copy a pose to R, p."""
    for j in range(3):
        body.R[0, j] = pose[0][j]
        body.R[1, j] = pose[1][j]
        body.R[2, j] = pose[2][j]
        body.p[j] = pose[3][j]


@helper
def put_trial(loop):
    """Copy the trial pose to R, p."""
    for j in range(3):
        for k in range(3):
            loop.body.R[j, k] = loop.T[3 * j + k]
        loop.body.p[j] = loop.T[9 + j]


@helper
def joint_bias(loop, V, buffer):
    """b_J where the configuration is in `coupling`; writes R, p, S, bias, V of the joint."""
    joint, body = loop.joint, loop.body
    status = joint_motion(joint, body, body.coupling, joint_rest(body))
    store(body.V, V[0], V[1])
    solve_subspace(body.S, joint.num_velocities, body.V, body.rotational, buffer)
    if status == OK:
        status = joint_motion(joint, body, body.coupling, body.rotational)
    return status, (angular(body.bias), linear(body.bias))


@helper
def value_at_coordinates(loop, factors, motion, gap):
    """psi without b_J, and Y, at the coordinates in `coupling` and fixed V, A and X."""
    status = set_wrenches_of_coordinates(loop)
    wrenches = totals(loop, factors)
    value = power(wrenches.Z, motion.V) - power(wrenches.L, motion.X)
    value += power(wrenches.Y, motion.R) + power(wrenches.G, gap)
    return status, value, wrenches.Y


@helper
def value_at_trial(loop, wrenches, factors, motion, buffer):
    """psi at the trial pose and fixed V, A and X; writes the pose of the joint."""
    status = OK
    gap = _ZERO, _ZERO
    if factors.residuals.shape[0] != 0:
        put_trial(loop)
        status, w, u = close_joint(loop.joint, loop.body, buffer)
        gap = w, u
    elif loop.joint.constant == 0:
        status = set_coordinates(loop)
    value = power(wrenches.G, gap)
    if loop.joint.constant == 0 and status == OK:
        status, value, Y = value_at_coordinates(loop, factors, motion, gap)
        if motion.has_bias and status == OK:
            status, b = joint_bias(loop, motion.V, buffer)
            value -= power(Y, b)
    return status, value


@helper
def bias_near(loop, Y, V, buffer):
    """Y . b_J at the coordinates in `coupling`, near those of the joint, to first order.

    Of v_J it takes those of the joint, in `rotational`, and their change times the slopes in F.
    """
    joint, body = loop.joint, loop.body
    status = joint_motion(joint, body, body.coupling, body.rotational)
    value = power(Y, (angular(body.bias), linear(body.bias)))
    v = body.wrench
    store(body.V, V[0], V[1])
    solve_subspace(body.S, joint.num_velocities, body.V, v, buffer)
    for k in range(joint.num_velocities):
        value += body.F[k] * (v[k] - body.rotational[k])
    return status, value


@helper
def add_slopes(loop, wrenches, factors, motion, buffer):
    """kappa into F of the joint's memory, and beta into A; needs the coordinates.

    The pose of the joint is restored.
    """
    joint, body = loop.joint, loop.body
    store(body.F, _ZERO, _ZERO)
    store(body.A, _ZERO, _ZERO)
    has_residuals = factors.residuals.shape[0] != 0
    if joint.constant != 0 and not has_residuals:
        return OK
    status, gap = OK, (_ZERO, _ZERO)
    if has_residuals:
        status, w, u = close_joint(joint, body, buffer)
        gap = w, u
    if status == OK:
        status = set_slope_of_bias(loop, wrenches, motion, buffer)
    if status == OK:
        status = set_slopes_by_coordinates(loop, wrenches, factors, motion, gap, buffer)
    for i in range(6):
        is_smooth = False
        if status == OK:
            put_pose(body, motion.T)
            status, is_smooth = set_slope_by_changes(loop, i)
        if status == OK and is_smooth:
            body.F[i] += power(wrenches.G, rate_of_log(gap, unit(i, 1.0)))
        elif status == OK:
            status = set_slope_by_poses(loop, wrenches, factors, motion, i, buffer)
    put_pose(body, motion.T)
    return status


@helper
def back_through_subspace(n, y, buffer, out):
    """out (6,) = Q R^-T y, y overwritten: y . dv by V, where `solve_subspace` has left Q and R."""
    Q = buffer[BUFFER_Q:BUFFER_R].reshape((6, 6))
    R = buffer[BUFFER_R:BUFFER_SIZE].reshape((6, 6))
    for j in range(6):
        out[j] = 0.0
    for k in range(n):
        y[k] = quotient(y[k], R[k, k])
        for i in range(k + 1, n):
            y[i] -= R[k, i] * y[k]
        for j in range(6):
            out[j] += Q[k, j] * y[k]


@helper
def set_slope_of_bias(loop, wrenches, motion, buffer):
    """Derivatives d of Y . b_J by v_J into F, and beta into A; v_J into `rotational`, and S.

    With S = Q R and v_J = R^-1 Q^T V, beta is Q R^-T d. b_J is quadratic in v_J, whose central
    differences are exact.
    """
    joint, body = loop.joint, loop.body
    n = joint.num_velocities
    if not motion.has_bias:
        return joint_motion(joint, body, body.coupling, joint_rest(body))
    status, _ = joint_bias(loop, motion.V, buffer)
    v, slopes = body.rotational, body.U
    size = 1.0
    for k in range(n):
        size = max(size, abs(v[k]))
        slopes[k] = 0.0
    for k in range(n):
        middle = v[k]
        for sign in range(-1, 2, 2):
            v[k] = middle + sign * size
            if status == OK:
                status = joint_motion(joint, body, body.coupling, v)
            b = angular(body.bias), linear(body.bias)
            slopes[k] += sign * power(wrenches.Y, b) / (2.0 * size)
        v[k] = middle
        body.F[k] = slopes[k]
    back_through_subspace(n, slopes, buffer, body.A)
    return status


@helper
def set_slopes_by_coordinates(loop, wrenches, factors, motion, gap, buffer):
    """Derivatives of psi by steps of the coordinates into U, at fixed T.

    Needs what `set_slope_of_bias` leaves.
    The coordinates go into `world_R`; the largest change of each for a small change of pose, half a
    radian, into `moment`: one that changes by more has jumped from pi to -pi.
    """
    joint, body = loop.joint, loop.body
    behind = minus((_ZERO, _ZERO), gap)
    for k in range(joint.num_velocities):
        S = angular(body.S[k]), linear(body.S[k])
        body.U[k] = -power(wrenches.G, rate_of_log(behind, S))
        body.moment[k] = 0.5 / max(sqrt(dot(S[0], S[0])), SLOW)
    middle = body.world_R.reshape(9)
    for j in range(joint.num_positions):
        middle[j] = body.coupling[j]
    if joint.constant != 0:
        return OK
    for k in range(joint.num_velocities):
        for step in range(1, 4):
            for sign in range(-1, 2, 2):
                status = step_coordinates(loop, k, sign * step * STEP)
                if status != OK:
                    return status
                status, value, Y = value_at_coordinates(loop, factors, motion, gap)
                if motion.has_bias and status == OK:
                    status, b = bias_near(loop, Y, motion.V, buffer)
                    value -= b
                if status != OK:
                    return status
                body.U[k] += sign * weight(step) * value
    return OK


@helper
def step_coordinates(loop, k, h):
    """The coordinates in `coupling` from those in `world_R` by h of step k."""
    joint, body = loop.joint, loop.body
    q, middle, dx = body.coupling, body.world_R.reshape(9), body.translational
    for j in range(joint.num_velocities):
        dx[j] = h if j == k else 0.0
    if joint.retract != 0:
        return call_joint(joint, body, joint.retract, at(middle, 0), at(dx, 0), at(q, 0))
    for j in range(joint.num_velocities):
        q[j] = middle[j] + dx[j]
    return OK


@helper
def set_changes_of_coordinates(loop):
    """The step that leads from the coordinates in `world_R` to those of the pose T."""
    joint, body = loop.joint, loop.body
    q, middle, dx = body.coupling, body.world_R.reshape(9), body.translational
    status = set_coordinates(loop)
    if status == OK and joint.difference != 0:
        return call_joint(joint, body, joint.difference, at(middle, 0), at(q, 0), at(dx, 0))
    for j in range(joint.num_velocities):
        dx[j] = q[j] - middle[j]
    return status


@helper
def set_slope_by_changes(loop, i):
    """Entry i of F by the changes of the coordinates with T; return whether these are smooth."""
    joint, body = loop.joint, loop.body
    body.F[i] = 0.0
    for step in range(1, 4):
        for sign in range(-1, 2, 2):
            moved_pose(body, i, sign * step * STEP, loop.T)
            status = set_changes_of_coordinates(loop)
            if status != OK:
                return status, False
            for k in range(joint.num_velocities):
                change = body.translational[k]
                if abs(change) > body.moment[k]:
                    return OK, False
                body.F[i] += sign * weight(step) * body.U[k] * change
    return OK, True


@helper
def set_slope_by_poses(loop, wrenches, factors, motion, i, buffer):
    """Entry i of F = kappa from psi at other poses."""
    body = loop.body
    body.F[i] = 0.0
    for step in range(1, 4):
        for sign in range(-1, 2, 2):
            put_pose(body, motion.T)
            moved_pose(body, i, sign * step * STEP, loop.T)
            status, value = value_at_trial(loop, wrenches, factors, motion, buffer)
            if status != OK:
                return status
            body.F[i] += sign * weight(step) * value
    return OK
