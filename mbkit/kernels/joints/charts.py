"""Poses of joints in coordinates of the first or second kind, in closed form.

Nearest to T = (R, p) as `mbkit.kernels.joints.general_forms` has it, those of two crossing axes but
for terms of second order in what is left. A `Motion` names its own.
"""

from mbkit.kernels.compile import address_kernel, helper, pointer_after
from mbkit.kernels.elementary import arctan2, sin_cos, sqrt
from mbkit.kernels.joints.parameter_header import count_of, rest_of, write_twist
from mbkit.kernels.joints.revolute_prismatic_screw import locate_screw
from mbkit.kernels.joints.screw_product import SCREW_SIZE, rotation_at, vector_at
from mbkit.kernels.joints.unit_quaternion import copy
from mbkit.kernels.lie.euler import angles_from_quaternion
from mbkit.kernels.lie.matrices import matrix_times, transposed_times
from mbkit.kernels.lie.quaternion import quaternion_from_rotation, quaternion_log
from mbkit.kernels.lie.se3 import se3_log
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import cross, dot

#: Sine of the angle between two shifts below which they count as one.
PARALLEL = 1e-8


@address_kernel("ippp")
def screw(slot, parameters, T, out):
    """Of one screw about z."""
    first = rest_of(parameters)
    out[0] = locate_screw(parameters[first], parameters[first + 6], T, pointer_after(T, 9))
    return OK


@address_kernel("ippp")
def turn_and_shifts(slot, parameters, T, out):
    """Of a turn, or screw, about z and shifts along x, y or z, one after another.

    Shifts in the plane that come after the turn are along axes that it has turned.
    """
    n = count_of(parameters)
    first = rest_of(parameters)
    turning = 0
    for k in range(n):
        if parameters[first + SCREW_SIZE * k] != 0.0:
            turning = k
    pitch = parameters[first + SCREW_SIZE * turning + 6]
    angle = locate_screw(1.0, pitch, T, pointer_after(T, 9))
    out[turning] = angle
    s, c = sin_cos(angle)
    found = -1
    x = 0.0
    y = 0.0
    for k in range(n):
        a = vector_at(parameters, first + SCREW_SIZE * k + 4)
        if k == turning:
            continue
        if a[2] != 0.0:
            out[k] = T[11] / a[2]
            continue
        if k > turning:
            a = (c * a[0] - s * a[1], s * a[0] + c * a[1], 0.0)
        if found < 0:
            found = k
            x = a[0]
            y = a[1]
            continue
        volume = x * a[1] - y * a[0]
        if abs(volume) < PARALLEL:
            out[found] = x * T[9] + y * T[10]
            out[k] = 0.0
        else:
            out[found] = (T[9] * a[1] - T[10] * a[0]) / volume
            out[k] = (x * T[10] - y * T[9]) / volume
    return OK


@address_kernel("ippp")
def shifts(slot, parameters, T, out):
    """Of two or three shifts, by Cramer's rule; of two, for the nearest place in their plane."""
    first = rest_of(parameters)
    p = vector_at(T, 9)
    a = vector_at(parameters, first + 4)
    b = vector_at(parameters, first + SCREW_SIZE + 4)
    normal = cross(a, b)
    c = normal
    if count_of(parameters) == 3:
        c = vector_at(parameters, first + 2 * SCREW_SIZE + 4)
    volume = dot(normal, c)
    out[0] = dot(p, cross(b, c)) / volume
    out[1] = dot(p, cross(c, a)) / volume
    if count_of(parameters) == 3:
        out[2] = dot(p, normal) / volume
    return OK


@helper
def angle_about(e, a, b):
    """The turn about e that takes a next to b."""
    return arctan2(dot(e, cross(a, b)), dot(cross(e, a), cross(e, b)))


@address_kernel("ippp")
def crossed_axes(slot, parameters, T, out):
    """Of turns about e1 and e2: the first takes e2 next to R e2, the second R^T e1 next to e1."""
    first = rest_of(parameters)
    e1 = vector_at(parameters, first + 1)
    e2 = vector_at(parameters, first + SCREW_SIZE + 1)
    R = rotation_at(T)
    out[0] = angle_about(e1, e2, matrix_times(R, e2))
    out[1] = angle_about(e2, transposed_times(R, e1), e1)
    return OK


@helper
def axis_of(parameters, k):
    """Which of x, y and z the turn k is about."""
    e = vector_at(parameters, rest_of(parameters) + SCREW_SIZE * k + 1)
    return 0 if e[0] != 0.0 else (1 if e[1] != 0.0 else 2)


@address_kernel("ippp")
def angles(slot, parameters, T, out):
    """Of three turns about axes among x, y and z.

    At gimbal lock the others are chosen as in `mbkit.kernels.lie.euler`.
    """
    Q = quaternion_from_rotation(rotation_at(T))
    axes = (axis_of(parameters, 0), axis_of(parameters, 1), axis_of(parameters, 2))
    copy(angles_from_quaternion(Q, axes[0], axes[1], axes[2]), out)
    return OK


@address_kernel("ippp")
def rotation_vector(slot, parameters, T, out):
    """Of the sum of turns about x, y and z: the logarithm."""
    copy(quaternion_log(quaternion_from_rotation(rotation_at(T))), out)
    return OK


@address_kernel("ippp")
def normal_rotation_vector(slot, parameters, T, out):
    """Of the sum of turns about x and y.

    Nearest to a unit quaternion is the one without its last entry; to a turn by pi about z, all of
    them are equally near.
    """
    Q = quaternion_from_rotation(rotation_at(T))
    size = sqrt(Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2])
    if size == 0.0:
        Q = (1.0, 0.0, 0.0, 0.0)
        size = 1.0
    x = quaternion_log((Q[0] / size, Q[1] / size, Q[2] / size, 0.0))
    out[0] = x[0]
    out[1] = x[1]
    return OK


@address_kernel("ippp")
def screw_coordinates(slot, parameters, T, out):
    """Of the sum of all turns and shifts: the logarithm."""
    x, y = se3_log(quaternion_from_rotation(rotation_at(T)), vector_at(T, 9))
    write_twist(x, y, out, 0)
    return OK


@address_kernel("ippp")
def planar_sum(slot, parameters, T, out):
    """Of the sum of a turn, or screw, about z, shifts along x and y, and one along z or none.

    (x, y) = h cot(h) p - h z x p, h half of the angle.
    """
    first = rest_of(parameters)
    angle = locate_screw(1.0, parameters[first + 5], T, pointer_after(T, 9))
    h = 0.5 * angle
    sine, cosine = sin_cos(h)
    c = 1.0 if h == 0.0 else h * cosine / sine
    out[0] = angle
    out[1] = c * T[9] + h * T[10]
    out[2] = c * T[10] - h * T[9]
    if count_of(parameters) == 4:
        out[3] = T[11]
    return OK
