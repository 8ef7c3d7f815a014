"""The orientation in the positions of an absolute joint, as a quaternion and back."""

from mbkit.kernels.compile import helper
from mbkit.kernels.joints.absolute.kinds import AXES, ORIENTATION, QUATERNION, ROTATION_VECTOR
from mbkit.kernels.joints.unit_quaternion import copy, load4, normalised, store4
from mbkit.kernels.lie.euler import angles_from_quaternion, quaternion_from_angles
from mbkit.kernels.lie.quaternion import quaternion_exp, quaternion_log, quaternion_normalised
from mbkit.kernels.vectors import load

PI = 3.141592653589793


@helper
def place_of_position(parameters):
    """How many positions the orientation has."""
    return 4 if int(parameters[ORIENTATION]) == QUATERNION else 3


@helper
def load_orientation(parameters, q):
    """Whether it is one, and the quaternion."""
    kind = int(parameters[ORIENTATION])
    if kind == QUATERNION:
        return normalised(load4(q))
    if kind == ROTATION_VECTOR:
        return True, quaternion_exp(load(q))
    axes = (int(parameters[AXES]), int(parameters[AXES + 1]), int(parameters[AXES + 2]))
    return True, quaternion_from_angles(load(q), axes[0], axes[1], axes[2])


@helper
def store_orientation(parameters, product, out):
    """Write a quaternion of length one but for rounding, which would add up, step by step."""
    kind = int(parameters[ORIENTATION])
    Q = quaternion_normalised(product)
    if kind == QUATERNION:
        store4(Q, out)
    elif kind == ROTATION_VECTOR:
        copy(quaternion_log(Q), out)
    else:
        axes = (int(parameters[AXES]), int(parameters[AXES + 1]), int(parameters[AXES + 2]))
        outer, middle, inner = angles_from_quaternion(Q, axes[0], axes[1], axes[2])
        copy((principal(outer), middle, principal(inner)), out)


@helper
def principal(angle):
    """An angle between -2 pi and 2 pi, brought between -pi and pi."""
    if angle > PI:
        return angle - 2.0 * PI
    if angle <= -PI:
        return angle + 2.0 * PI
    return angle
