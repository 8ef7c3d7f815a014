"""Reactions of joints with two crossing axes: forces through the crossing, and a moment.

Of a universal joint, about the common normal of its axes; of a constant velocity joint, about the
normal of the plane that halves the angle between the shafts. Both depend on q smoothly.
"""

from mbkit.kernels.compile import address_kernel, helper
from mbkit.kernels.joints.parameter_header import rest_of
from mbkit.kernels.joints.screw_product import SCREW_SIZE, screw_exp, vector_at
from mbkit.kernels.lie.matrices import transposed_times
from mbkit.kernels.lie.quaternion import quaternion_exp, quaternion_rotate
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import add, cross, scale


@helper
def write_wrenches(moment, out):
    """(moment; 0) and (0; I)."""
    for j in range(24):
        out[j] = 1.0 if j in (9, 16, 23) else 0.0
    for j in range(3):
        out[j] = moment[j]


@address_kernel("ippp")
def universal_wrenches(slot, parameters, q, out):
    """The moment is e1 x e2, e1 as seen from behind the turn about e2."""
    second = rest_of(parameters) + SCREW_SIZE
    C, _ = screw_exp(parameters, second, q[1])
    e1 = transposed_times(C, vector_at(parameters, rest_of(parameters) + 1))
    write_wrenches(cross(e1, vector_at(parameters, second + 1)), out)
    return OK


@address_kernel("ippp")
def constant_velocity_wrenches(slot, parameters, q, out):
    """The moment is exp(-x/2) (e1 x e2), x = e1 q1 + e2 q2: the shaft turned back by half of T."""
    first = rest_of(parameters)
    e1 = vector_at(parameters, first)
    e2 = vector_at(parameters, first + 6)
    x = add(scale(-0.5 * q[0], e1), scale(-0.5 * q[1], e2))
    write_wrenches(quaternion_rotate(quaternion_exp(x), cross(e1, e2)), out)
    return OK
