"""The compiled forms of the joints: what `RollingJoint` says, in scalars.

The only parameter is the radius.
"""

import math

import mbkit as mb
from mbkit.kernels.compile import helper
from mbkit.kernels.joints.unit_quaternion import NOT_UNIT, copy, load4, normalised, store4
from mbkit.kernels.lie.quaternion import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_rotation,
)
from mbkit.kernels.lie.so3 import so3_dexp_body_inv
from mbkit.kernels.vectors import cross, dot, load, scale

#: Status of a disc that lies flat.
FLAT = 2


@helper
def sphere_centre(n, w):
    """Whether there is a contact, u = n and du/dt = n x w."""
    return True, n, cross(n, w)


@helper
def disc_centre(n, w):
    """Whether it touches; u = n_xy / s, du/dt = -(w_z - n_z / s w.u) e_z x u, s = |n_xy|."""
    s = math.sqrt(n[0] * n[0] + n[1] * n[1])
    if s == 0.0:
        return False, n, n
    u = (n[0] / s, n[1] / s, 0.0)
    spin = w[2] - n[2] / s * dot(w, u)
    return True, u, (spin * u[1], -spin * u[0], 0.0)


@helper
def along(R, first, u):
    """A row of R times u."""
    return R[first] * u[0] + R[first + 1] * u[1] + R[first + 2] * u[2]


@helper
def write_motion(r, rotation, u, rate, q, w, R, p, S, bias):
    """T = (R, c + r R u), S = (I; -r hat(u)), S-dot w = (0; r w x du/dt)."""
    for j in range(9):
        R[j] = rotation[j]
    p[0] = q[4] + r * along(rotation, 0, u)
    p[1] = q[5] + r * along(rotation, 3, u)
    p[2] = r * along(rotation, 6, u)
    for j in range(18):
        S[j] = 1.0 if j % 7 == 0 else 0.0
    S[4] = -r * u[2]
    S[5] = r * u[1]
    S[9] = r * u[2]
    S[11] = -r * u[0]
    S[15] = -r * u[1]
    S[16] = r * u[0]
    turning = cross(w, rate)
    for j in range(3):
        bias[j] = 0.0
        bias[3 + j] = r * turning[j]


@helper
def write_rates(r, rotation, rate, v, out):
    """The angular velocity, and dc/dt = -r R du/dt."""
    copy(load(v), out)
    out[3] = -r * along(rotation, 0, rate)
    out[4] = -r * along(rotation, 3, rate)


@helper
def write_wrenches(r, u, out):
    """Forces at the contact: (-r hat(u); I)."""
    for k in range(3):
        unit = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        moment = cross(scale(-r, u), unit)
        for j in range(3):
            out[6 * k + j] = moment[j]
            out[6 * k + 3 + j] = unit[j]


@mb.joint_kernel("motion")
def sphere_motion(slot, parameters, q, v, R, p, S, bias):
    """T(q), S(q) and S-dot w of the sphere."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    rotation = quaternion_rotation(Q)
    _, u, rate = sphere_centre((rotation[6], rotation[7], rotation[8]), load(v))
    write_motion(parameters[0], rotation, u, rate, q, load(v), R, p, S, bias)
    return 0


@mb.joint_kernel("motion")
def disc_motion(slot, parameters, q, v, R, p, S, bias):
    """T(q), S(q) and S-dot w of the disc."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    rotation = quaternion_rotation(Q)
    touches, u, rate = disc_centre((rotation[6], rotation[7], rotation[8]), load(v))
    if not touches:
        return FLAT
    write_motion(parameters[0], rotation, u, rate, q, load(v), R, p, S, bias)
    return 0


@mb.joint_kernel("rates")
def sphere_rates(slot, parameters, q, v, out):
    """Angular velocity and velocity of the contact of the sphere."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    rotation = quaternion_rotation(Q)
    _, _, rate = sphere_centre((rotation[6], rotation[7], rotation[8]), load(v))
    write_rates(parameters[0], rotation, rate, v, out)
    return 0


@mb.joint_kernel("rates")
def disc_rates(slot, parameters, q, v, out):
    """Angular velocity and velocity of the contact of the disc."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    rotation = quaternion_rotation(Q)
    touches, _, rate = disc_centre((rotation[6], rotation[7], rotation[8]), load(v))
    if not touches:
        return FLAT
    write_rates(parameters[0], rotation, rate, v, out)
    return 0


@mb.joint_kernel("constraint_wrenches")
def sphere_wrenches(slot, parameters, q, out):
    """Forces at the contact of the sphere."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    rotation = quaternion_rotation(Q)
    write_wrenches(parameters[0], (rotation[6], rotation[7], rotation[8]), out)
    return 0


@mb.joint_kernel("constraint_wrenches")
def disc_wrenches(slot, parameters, q, out):
    """Forces at the contact of the disc."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    rotation = quaternion_rotation(Q)
    touches, u, _ = disc_centre((rotation[6], rotation[7], rotation[8]), (0.0, 0.0, 0.0))
    if not touches:
        return FLAT
    write_wrenches(parameters[0], u, out)
    return 0


@mb.joint_kernel("retract")
def retract(slot, parameters, q, dx, out):
    """Q exp(dx) of length one, c + dx."""
    is_unit, Q = normalised(load4(q))
    if not is_unit:
        return NOT_UNIT
    _, Q = normalised(quaternion_product(Q, quaternion_exp(load(dx))))
    store4(Q, out)
    out[4] = q[4] + dx[3]
    out[5] = q[5] + dx[4]
    return 0


@mb.joint_kernel("difference")
def difference(slot, parameters, q0, q1, out):
    """Log(Q0* Q1), c1 - c0."""
    is_unit0, Q0 = normalised(load4(q0))
    is_unit1, Q1 = normalised(load4(q1))
    if not (is_unit0 and is_unit1):
        return NOT_UNIT
    copy(quaternion_log(quaternion_product(quaternion_conjugate(Q0), Q1)), out)
    out[3] = q1[4] - q0[4]
    out[4] = q1[5] - q0[5]
    return 0


@mb.joint_kernel("dexp_inv")
def dexp_inv(slot, parameters, x, w, out):
    """dexp^-1_{-x} w on SO(3), w on R^2. Source: Mueller 2018, (60)."""
    a = w[3]
    b = w[4]
    copy(so3_dexp_body_inv(load(x), load(w)), out)
    out[3] = a
    out[4] = b
    return 0
