"""Joints whose functions are not compiled for lanes: they are called for one after another."""

from mbkit.kernels.compile import at, call_address, floats_at, helper, pointer_at
from mbkit.kernels.lanes import lane, width_of, with_lane
from mbkit.kernels.layout import STAGE_SIZE
from mbkit.kernels.status import OK

#: What they have for parameters: the joint's functions and its parameters, by address, and its
#: sizes. Those after DEXP_INV are of joints that close loops; behind each of these functions stand
#: its own parameters.
FUNCTION = 0
PARAMETERS = 1
NUM_POSITIONS = 2
NUM_VELOCITIES = 3
RETRACT = 4
DIFFERENCE = 5
DEXP_INV = 6
WRENCHES = 7
CONFIGURATION = 9

#: Numbers that the joint's function writes: R, p, S, S-dot v.
OUTPUT = STAGE_SIZE + 42


def motion(slot, parameters, q, v, R, p, S, bias):
    """T(q), S(q) and S-dot v; the slot has room for the arguments of one call, without lanes."""
    nq = int(parameters[NUM_POSITIONS])
    nv = int(parameters[NUM_VELOCITIES])
    memory = floats_at(slot, nq + nv + OUTPUT)
    one_v = memory[nq:]
    one_R = memory[nq + nv :]
    one_p = one_R[9:]
    one_S = one_R[12:]
    one_bias = one_R[48:]
    for j in range(width_of(q[0])):
        for k in range(nq):
            memory[k] = lane(q[k], j)
        for k in range(nv):
            one_v[k] = lane(v[k], j)
        status = call_address(
            int(parameters[FUNCTION]),
            (
                0, pointer_at(int(parameters[PARAMETERS])), at(memory, 0), at(one_v, 0),
                at(one_R, 0), at(one_p, 0), at(one_S, 0), at(one_bias, 0),
            ),
        )  # fmt: skip
        if status != OK:
            return status
        for k in range(9):
            R[k] = with_lane(R[k], j, one_R[k])
        for k in range(3):
            p[k] = with_lane(p[k], j, one_p[k])
        for k in range(6 * nv):
            S[k] = with_lane(S[k], j, one_S[k])
        for k in range(6):
            bias[k] = with_lane(bias[k], j, one_bias[k])
    return OK


@helper
def call_one(slot, parameters, function, sizes, x, y, out):
    """out of a function of two vectors, of these sizes; the slot has room for all three."""
    first, second, third = sizes
    memory = floats_at(slot, first + second + third)
    one_y = memory[first:]
    one_out = memory[first + second :]
    own = pointer_at(int(parameters[PARAMETERS]))
    for j in range(width_of(x[0])):
        for k in range(first):
            memory[k] = lane(x[k], j)
        for k in range(second):
            one_y[k] = lane(y[k], j)
        arguments = 0, own, at(memory, 0), at(one_y, 0), at(one_out, 0)
        status = call_address(int(parameters[function]), arguments)
        if status != OK:
            return status
        for k in range(third):
            out[k] = with_lane(out[k], j, one_out[k])
    return OK


@helper
def call_with_one(slot, parameters, function, sizes, x, out):
    """out of a function of one vector, of these sizes; the slot has room for both.

    Its own parameters are what follows it.
    """
    first, second = sizes
    memory = floats_at(slot, first + second)
    one_out = memory[first:]
    own = pointer_at(int(parameters[function + 1]))
    for j in range(width_of(x[0])):
        for k in range(first):
            memory[k] = lane(x[k], j)
        arguments = 0, own, at(memory, 0), at(one_out, 0)
        status = call_address(int(parameters[function]), arguments)
        if status != OK:
            return status
        for k in range(second):
            out[k] = with_lane(out[k], j, one_out[k])
    return OK


def constraint_wrenches(slot, parameters, q, out):
    """The wrenches that a joint bears which closes a loop."""
    sizes = int(parameters[NUM_POSITIONS]), 6 * (6 - int(parameters[NUM_VELOCITIES]))
    return call_with_one(slot, parameters, WRENCHES, sizes, q, out)


def configuration_from_pose(slot, parameters, T, out):
    """The configuration whose pose is nearest to T, of a joint that closes a loop."""
    sizes = STAGE_SIZE, int(parameters[NUM_POSITIONS])
    return call_with_one(slot, parameters, CONFIGURATION, sizes, T, out)


def retract(slot, parameters, q, dx, out):
    """The configuration that a step leads to."""
    nq = int(parameters[NUM_POSITIONS])
    sizes = nq, int(parameters[NUM_VELOCITIES]), nq
    return call_one(slot, parameters, RETRACT, sizes, q, dx, out)


def difference(slot, parameters, q0, q1, out):
    """The step that leads from one configuration to another."""
    nq = int(parameters[NUM_POSITIONS])
    sizes = nq, nq, int(parameters[NUM_VELOCITIES])
    return call_one(slot, parameters, DIFFERENCE, sizes, q0, q1, out)


def dexp_inv(slot, parameters, x, w, out):
    """The rate of a step, of a joint that has as many velocities as steps."""
    nv = int(parameters[NUM_VELOCITIES])
    return call_one(slot, parameters, DEXP_INV, (nv, nv, nv), x, w, out)
