"""The spherical joint: q a unit quaternion, v the angular velocity in the successor."""

from mbkit.kernels.compile import address_kernel
from mbkit.kernels.joints.screw_product import rotation_at
from mbkit.kernels.joints.unit_quaternion import (
    NOT_UNIT,
    both_normalised,
    copy,
    load4,
    normalised,
    store4,
    turn,
)
from mbkit.kernels.lie.quaternion import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_from_rotation,
    quaternion_log,
    quaternion_product,
)
from mbkit.kernels.lie.so3 import so3_dexp_body_inv
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import load


@address_kernel("ippppppp", in_lanes=True)
def motion(slot, parameters, q, v, R, p, S, bias):
    """T = (R(q), 0), S = (I; 0), S-dot = 0."""
    for j in range(3):
        p[j] = 0.0
    return OK if turn(q, R, S, bias, 3) else NOT_UNIT


@address_kernel("ipppp")
def retract(slot, parameters, q, dx, out):
    """Q exp(dx), of length 1 again."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    _, Q = normalised(quaternion_product(Q, quaternion_exp(load(dx))))
    store4(Q, out)
    return OK


@address_kernel("ipppp")
def difference(slot, parameters, q0, q1, out):
    """Log(Q0* Q1)."""
    are_unit, Q0, Q1 = both_normalised(load4(q0), load4(q1))
    if not are_unit:
        return NOT_UNIT
    copy(quaternion_log(quaternion_product(quaternion_conjugate(Q0), Q1)), out)
    return OK


@address_kernel("ipppp")
def dexp_inv(slot, parameters, x, v, out):
    """dx/dt = dexp^-1_{-x} v. Source: Mueller 2018, (60)."""
    copy(so3_dexp_body_inv(load(x), load(v)), out)
    return OK


@address_kernel("ippp")
def constraint_wrenches(slot, parameters, q, out):
    """Forces through the centre: (0; I)."""
    for k in range(3):
        for j in range(6):
            out[6 * k + j] = 1.0 if j == k + 3 else 0.0
    return OK


@address_kernel("ippp")
def configuration_from_pose(slot, parameters, T, out):
    """The unit quaternion of R, its first entry not negative."""
    store4(quaternion_from_rotation(rotation_at(T)), out)
    return OK
