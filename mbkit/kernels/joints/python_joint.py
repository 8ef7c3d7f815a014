"""A joint written in Python, in the form of the table: copy in, call back, copy out.

A callback gets one integer, the address of the joint's slot, under which the object layer keeps
views of it ready: making them anew from pointers would cost more than most joints do.
"""

from mbkit.kernels.compile import address_kernel, call_address, floats_at, helper
from mbkit.kernels.layout import (
    DONE,
    PENDING,
    PYTHON_CONFIGURATION_FROM_POSE,
    PYTHON_DEXP_INV,
    PYTHON_DIFFERENCE,
    PYTHON_MOTION,
    PYTHON_NDX,
    PYTHON_NUM_POSITIONS,
    PYTHON_NUM_VELOCITIES,
    PYTHON_RATES,
    PYTHON_RETRACT,
    PYTHON_WRENCHES,
    ROTATION_TOLERANCE,
    SLOT_BIAS,
    SLOT_FIRST,
    SLOT_LEAST,
    SLOT_P,
    SLOT_R,
    SLOT_S,
    SLOT_STATUS,
)
from mbkit.kernels.status import CALLBACK_FAILED, OK

#: Status of a joint that came to its end with a pose that is none.
NO_ROTATION = 1


@helper
def slot_width(parameters):
    """Numbers that each of the slot's two inputs takes."""
    # of steps there are at least as many as of velocities
    return int(max(parameters[PYTHON_NUM_POSITIONS], parameters[PYTHON_NDX], SLOT_LEAST))


@helper
def call_back(slot, parameters, operation, first, second):
    """Copy both inputs, pointer and length each, into the slot and call the operation's function.

    Whether it came to its end is read from the slot, not from what it returned: after Ctrl-C a
    callback may be left before its first statement, and then returns anything.
    """
    x, num_x = first
    y, num_y = second
    width = slot_width(parameters)
    memory = floats_at(slot, SLOT_FIRST + 2 * width)
    for j in range(num_x):
        memory[SLOT_FIRST + j] = x[j]
    for j in range(num_y):
        memory[SLOT_FIRST + width + j] = y[j]
    memory[SLOT_STATUS] = PENDING
    call_address(int(parameters[operation]), (slot,))
    return OK if memory[SLOT_STATUS] == DONE else CALLBACK_FAILED


@helper
def copy_output(slot, parameters, start, count, target):
    """Copy the callback's results in the slot's output, from `start`, to a pointer."""
    first = SLOT_FIRST + 2 * slot_width(parameters) + start
    memory = floats_at(slot, first + count)
    for j in range(count):
        target[j] = memory[first + j]


@helper
def vector_operation(slot, parameters, x, y, out, form):
    """Call back with two vectors, copy out a third; form: the operation, and where sizes are."""
    operation, num_x, num_y, num_out = form
    first = x, int(parameters[num_x])
    second = y, int(parameters[num_y])
    status = call_back(slot, parameters, operation, first, second)
    if status == OK:
        copy_output(slot, parameters, 0, int(parameters[num_out]), out)
    return status


@helper
def is_rotation(R):
    """Whether |R R^T - I| and |det R - 1| are small; not a number passes: it is found elsewhere."""
    determinant = (
        R[0] * (R[4] * R[8] - R[5] * R[7])
        - R[1] * (R[3] * R[8] - R[5] * R[6])
        + R[2] * (R[3] * R[7] - R[4] * R[6])
    )
    wrong = abs(determinant - 1.0) > ROTATION_TOLERANCE
    for i in range(3):
        for j in range(i + 1):
            dot = R[3 * i] * R[3 * j] + R[3 * i + 1] * R[3 * j + 1] + R[3 * i + 2] * R[3 * j + 2]
            wrong = wrong or abs(dot - (1.0 if i == j else 0.0)) > ROTATION_TOLERANCE
    return not wrong


@address_kernel("ippppppp")
def motion(slot, parameters, q, v, R, p, S, bias):
    """T(q), S(q) and S-dot v."""
    nq = int(parameters[PYTHON_NUM_POSITIONS])
    nv = int(parameters[PYTHON_NUM_VELOCITIES])
    status = call_back(slot, parameters, PYTHON_MOTION, (q, nq), (v, nv))
    if status == OK:
        copy_output(slot, parameters, SLOT_R, 9, R)
        copy_output(slot, parameters, SLOT_P, 3, p)
        copy_output(slot, parameters, SLOT_S, 6 * nv, S)
        copy_output(slot, parameters, SLOT_BIAS, 6, bias)
        if not is_rotation(R):
            return NO_ROTATION
    return status


_RETRACT = PYTHON_RETRACT, PYTHON_NUM_POSITIONS, PYTHON_NDX, PYTHON_NUM_POSITIONS
_DIFFERENCE = PYTHON_DIFFERENCE, PYTHON_NUM_POSITIONS, PYTHON_NUM_POSITIONS, PYTHON_NDX
_DEXP_INV = PYTHON_DEXP_INV, PYTHON_NDX, PYTHON_NDX, PYTHON_NDX
_RATES = PYTHON_RATES, PYTHON_NUM_POSITIONS, PYTHON_NUM_VELOCITIES, PYTHON_NDX


@address_kernel("ipppp")
def retract(slot, parameters, q, dx, out):
    """The configuration that dx leads to."""
    return vector_operation(slot, parameters, q, dx, out, _RETRACT)


@address_kernel("ipppp")
def difference(slot, parameters, q0, q1, out):
    """The dx that leads from q0 to q1."""
    return vector_operation(slot, parameters, q0, q1, out, _DIFFERENCE)


@address_kernel("ipppp")
def dexp_inv(slot, parameters, x, w, out):
    """dx/dt of q = retract(q0, x) that moves with the rates w."""
    return vector_operation(slot, parameters, x, w, out, _DEXP_INV)


@address_kernel("ipppp")
def rates(slot, parameters, q, v, out):
    """The rates at which a step leaves q with velocity v."""
    return vector_operation(slot, parameters, q, v, out, _RATES)


@address_kernel("ippp")
def constraint_wrenches(slot, parameters, q, out):
    """Wrenches that do no work along S, column by column."""
    nq = int(parameters[PYTHON_NUM_POSITIONS])
    nv = int(parameters[PYTHON_NUM_VELOCITIES])
    status = call_back(slot, parameters, PYTHON_WRENCHES, (q, nq), (q, 0))
    if status == OK:
        copy_output(slot, parameters, 0, 6 * (6 - nv), out)
    return status


@address_kernel("ippp")
def configuration_from_pose(slot, parameters, T, out):
    """The configuration nearest to a pose, by the method of the joint."""
    status = call_back(slot, parameters, PYTHON_CONFIGURATION_FROM_POSE, (T, 12), (T, 0))
    if status == OK:
        copy_output(slot, parameters, 0, int(parameters[PYTHON_NUM_POSITIONS]), out)
    return status
