"""The free joint: q a unit quaternion and a position, v the body-fixed twist of the successor."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.joints.screw_product import rotation_at
from mbkit.kernels.joints.unit_quaternion import (
    NOT_UNIT,
    both_normalised,
    load4,
    normalised,
    store4,
    turn,
)
from mbkit.kernels.lie.quaternion import (
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_product,
    quaternion_rotate,
)
from mbkit.kernels.lie.se3 import se3_dexp_body_inv, se3_exp, se3_log
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, store, subtract


@address_kernel("ippppppp", in_lanes=True)
def motion(slot, parameters, q, v, R, p, S, bias):
    """T = (R(q), p), S = I, S-dot = 0."""
    for j in range(3):
        p[j] = q[4 + j]
    return OK if turn(q, R, S, bias, 6) else NOT_UNIT


@address_kernel("ipppp")
def retract(slot, parameters, q, dx, out):
    """T exp(dx) on SE(3): (Q dQ, p + R dp)."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    dQ, dp = se3_exp((dx[0], dx[1], dx[2]), (dx[3], dx[4], dx[5]))
    p = add((q[4], q[5], q[6]), quaternion_rotate(Q, dp))
    _, Q = normalised(quaternion_product(Q, dQ))  # or rounding would add up, step by step
    store4(Q, out)
    out[4] = p[0]
    out[5] = p[1]
    out[6] = p[2]
    return OK


@address_kernel("ipppp")
def difference(slot, parameters, q0, q1, out):
    """Log(T0^-1 T1) on SE(3)."""
    are_unit, Q0, Q1 = both_normalised(load4(q0), load4(q1))
    if not are_unit:
        return NOT_UNIT
    back = quaternion_conjugate(Q0)
    shift = subtract((q1[4], q1[5], q1[6]), (q0[4], q0[5], q0[6]))
    x, y = se3_log(quaternion_product(back, Q1), quaternion_rotate(back, shift))
    store(out, x, y)
    return OK


@address_kernel("ipppp")
def dexp_inv(slot, parameters, x, v, out):
    """dx/dt = dexp^-1_{-x} v on SE(3). Source: Mueller 2018, (60), (61)."""
    w, u = se3_dexp_body_inv(
        (x[0], x[1], x[2]), (x[3], x[4], x[5]), (v[0], v[1], v[2]), (v[3], v[4], v[5])
    )
    store(out, w, u)
    return OK


@address_kernel("ippp")
def constraint_wrenches(slot, parameters, q, out):
    """None: the joint bears nothing."""
    return OK


@address_kernel("ippp")
def configuration_from_pose(slot, parameters, T, out):
    """The unit quaternion of R, its first entry not negative, and p."""
    store4(quaternion_from_rotation(rotation_at(T)), out)
    for j in range(3):
        out[4 + j] = T[9 + j]
    return OK
