"""The free joint in absolute coordinates: C = (orientation, position), steps by any of the maps.

    C psi(X), V left-trivialised,   or   psi(X) C, V right-trivialised,

with the product of SE(3), (R1 R2, r1 + R1 r2), or of SO(3) x R^3, (R1 R2, r1 + r2). Velocities are
body-fixed, mixed; spatial, hybrid twists; S takes them to body-fixed ones.
Source: Mueller, Singularity-free Lie group integration and geometrically consistent evaluation of
multibody system models described in terms of standard absolute coordinates, section 6, with
r' = r + dr for the printed (80) and (84) of 2b and 2c.
"""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.joints.absolute.kinds import LEFT, LIFT, PRODUCT, SIDE
from mbkit.kernels.joints.absolute.local_coordinates import coordinates, increment, rate
from mbkit.kernels.joints.absolute.orientations import (
    load_orientation,
    place_of_position,
    store_orientation,
)
from mbkit.kernels.joints.parameter_header import write_pose, write_twist
from mbkit.kernels.joints.screw_product import rotation_at, vector_at
from mbkit.kernels.joints.unit_quaternion import NOT_UNIT
from mbkit.kernels.lie.matrices import transposed_times
from mbkit.kernels.lie.quaternion import (
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_product,
    quaternion_rotate,
    quaternion_rotation,
)
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, cross, scale, subtract


@helper
def on_so3xr3(parameters):
    """Whether the group is the direct product."""
    return int(parameters[LIFT]) == PRODUCT


@helper
def is_left(parameters):
    """Whether steps are left-trivialised."""
    return int(parameters[SIDE]) == LEFT


@helper
def body_fixed(parameters, C, r, w, u):
    """The body-fixed twist of a velocity (w, u) at C = (R, r): S (w, u)."""
    if on_so3xr3(parameters):
        turned = w if is_left(parameters) else transposed_times(C, w)
        return turned, transposed_times(C, u)
    if is_left(parameters):
        return w, u
    return transposed_times(C, w), transposed_times(C, subtract(u, cross(r, w)))


@address_kernel("ippppppp", in_lanes=True)
def motion(slot, parameters, q, v, R, p, S, bias):
    """T = (R, r); S; S-dot v = (0, -w x u) on SO(3) x R^3, for (w, u) = S v, and 0 on SE(3)."""
    is_unit, Q = load_orientation(parameters, q)
    if not is_unit:
        return NOT_UNIT
    C = quaternion_rotation(Q)
    r = vector_at(q, place_of_position(parameters))
    write_pose(C, r, R, p)
    for k in range(3):
        e = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        w, u = body_fixed(parameters, C, r, e, (0.0, 0.0, 0.0))
        write_twist(w, u, S, 6 * k)
        w, u = body_fixed(parameters, C, r, (0.0, 0.0, 0.0), e)
        write_twist(w, u, S, 6 * (k + 3))
    c = (0.0, 0.0, 0.0)
    if on_so3xr3(parameters):
        w, u = body_fixed(parameters, C, r, vector_at(v, 0), vector_at(v, 3))
        c = cross(u, w)
    write_twist((0.0, 0.0, 0.0), c, bias, 0)
    return OK


@address_kernel("ipppp")
def retract(slot, parameters, q, dx, out):
    """C psi(dx), or psi(dx) C."""
    is_unit, Q = load_orientation(parameters, q)
    if not is_unit:
        return NOT_UNIT
    first = place_of_position(parameters)
    r = vector_at(q, first)
    dQ, t = increment(parameters, vector_at(dx, 0), vector_at(dx, 3))
    if is_left(parameters):
        product = quaternion_product(Q, dQ)
        shift = t if on_so3xr3(parameters) else quaternion_rotate(Q, t)
        moved = add(r, shift)
    else:
        product = quaternion_product(dQ, Q)
        carried = r if on_so3xr3(parameters) else quaternion_rotate(dQ, r)
        moved = add(carried, t)
    store_orientation(parameters, product, out)
    for j in range(3):
        out[first + j] = moved[j]
    return OK


@address_kernel("ipppp")
def difference(slot, parameters, q0, q1, out):
    """psi^-1 of C0^-1 C1, or of C1 C0^-1."""
    is_unit0, Q0 = load_orientation(parameters, q0)
    is_unit1, Q1 = load_orientation(parameters, q1)
    if not (is_unit0 and is_unit1):
        return NOT_UNIT
    first = place_of_position(parameters)
    r0 = vector_at(q0, first)
    r1 = vector_at(q1, first)
    back = quaternion_conjugate(Q0)
    t = subtract(r1, r0)
    if is_left(parameters):
        dQ = quaternion_product(back, Q1)
        if not on_so3xr3(parameters):
            t = quaternion_rotate(back, t)
    else:
        dQ = quaternion_product(Q1, back)
        if not on_so3xr3(parameters):
            t = subtract(r1, quaternion_rotate(dQ, r0))
    x, y = coordinates(parameters, dQ, t)
    write_twist(x, y, out, 0)
    return OK


@address_kernel("ipppp")
def dexp_inv(slot, parameters, x, v, out):
    """dpsi_-x^-1 v, or dpsi_x^-1 v."""
    sign = -1.0 if is_left(parameters) else 1.0
    w, u = rate(
        parameters,
        scale(sign, vector_at(x, 0)),
        scale(sign, vector_at(x, 3)),
        vector_at(v, 0),
        vector_at(v, 3),
    )
    write_twist(w, u, out, 0)
    return OK


@address_kernel("ippp")
def constraint_wrenches(slot, parameters, q, out):
    """None: the joint bears nothing."""
    return OK


@address_kernel("ippp")
def configuration_from_pose(slot, parameters, T, out):
    """The orientation of R, its quaternion's first entry not negative, and r."""
    store_orientation(parameters, quaternion_from_rotation(rotation_at(T)), out)
    first = place_of_position(parameters)
    for j in range(3):
        out[first + j] = T[9 + j]
    return OK
