"""Configuration and wrenches of a joint that gives its motion alone, on dual numbers, exact.

See `general_forms`. The configuration q nearest to a pose T has F(q, T) = S^T (w, d) = 0. It is
searched for in doubles; along a direction in which T and the numbers of the joint move, it moves by

    dq = -(dF/dq)^-1 dF,

dF what F changes by where q stands still. Compiled for dual numbers alone (`mbkit.kernels.duals`).
Source: the implicit function theorem.
"""

import numpy as np

from mbkit.kernels.compile import (
    as_array,
    at,
    call_address,
    helper,
    pointer_after,
    pointer_at,
)
from mbkit.kernels.duals import DIRECTIONS, along, moving
from mbkit.kernels.elementary import value_of
from mbkit.kernels.joints.reciprocal_wrenches import complement_in
from mbkit.kernels.joints.screw_product import rotation_at, vector_at
from mbkit.kernels.lie.matrices import transposed_times
from mbkit.kernels.lie.quaternion import (
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_log,
    quaternion_product,
)
from mbkit.kernels.new_numbers import new_numbers
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import dot, subtract

#: What stands before the parameters of the joint: the search in doubles and its parameters, by
#: address; the motion and the retraction (0: steps add) for dual numbers; the joint's sizes.
NEAREST = 0
NEAREST_PARAMETERS = 1
MOTION = 2
RETRACT = 3
NUM_POSITIONS = 4
NUM_VELOCITIES = 5
OWN = 6

#: Memory: pose, S, bias, zero velocities, F, a step; then two configurations, or reflections.
R = 0
P = 9
S = 12
BIAS = 48
REST = 54
LEFT = 60
STEP = 66
REST_OF_MEMORY = 72


@helper
def move(slot, parameters, q, memory):
    """Write the motion at q, at rest; the joint's status."""
    for j in range(6):
        memory[REST + j] = 0.0
    return call_address(
        int(parameters[MOTION]),
        (
            slot,
            pointer_after(parameters, OWN),
            q,
            at(memory, REST),
            at(memory, R),
            at(memory, P),
            at(memory, S),
            at(memory, BIAS),
        ),
    )


@helper
def look(slot, parameters, target, q, memory):
    """Write F at q; the joint's status."""
    quaternion, T = target
    status = move(slot, parameters, q, memory)
    C = rotation_at(at(memory, R))
    back = quaternion_conjugate(quaternion_from_rotation(C))
    w = quaternion_log(quaternion_product(back, quaternion))
    shift = subtract((T[9], T[10], T[11]), (memory[P], memory[P + 1], memory[P + 2]))
    d = transposed_times(C, shift)
    columns = at(memory, S)
    for a in range(int(parameters[NUM_VELOCITIES])):
        F = dot(vector_at(columns, 6 * a), w) + dot(vector_at(columns, 6 * a + 3), d)
        memory[LEFT + a] = F
    return status


@helper
def retracted(slot, parameters, q, dx, out):
    """Write where the step leads to; the joint's status."""
    if int(parameters[RETRACT]) == 0:
        for j in range(int(parameters[NUM_POSITIONS])):
            out[j] = q[j] + dx[j]
        return OK
    own = pointer_after(parameters, OWN)
    return call_address(int(parameters[RETRACT]), (slot, own, q, dx, out))


@helper
def solve(A, B, n):
    """B (n, k) becomes A^-1 B, A (n, n) is overwritten: Gaussian elimination."""
    for i in range(n):
        first = i
        for r in range(i + 1, n):
            if abs(A[r, i]) > abs(A[first, i]):
                first = r
        for c in range(n):
            x = A[i, c]
            A[i, c] = A[first, c]
            A[first, c] = x
        for c in range(B.shape[1]):
            x = B[i, c]
            B[i, c] = B[first, c]
            B[first, c] = x
        for r in range(i + 1, n):
            factor = A[r, i] / A[i, i]
            for c in range(i, n):
                A[r, c] -= factor * A[i, c]
            for c in range(B.shape[1]):
                B[r, c] -= factor * B[i, c]
    for k in range(n):
        i = n - 1 - k
        for c in range(B.shape[1]):
            x = B[i, c]
            for j in range(i + 1, n):
                x -= A[i, j] * B[j, c]
            B[i, c] = x / A[i, i]


@helper
def searched(parameters, slot, T):
    """The values of the configuration nearest to T, behind those of T; the status."""
    values = np.empty(12 + int(parameters[NUM_POSITIONS]))
    for j in range(12):
        values[j] = value_of(T[j])
    own = pointer_at(int(parameters[NEAREST_PARAMETERS]))
    status = call_address(int(parameters[NEAREST]), (slot, own, at(values, 0), at(values, 12)))
    return status, values


def configuration_from_pose(slot, parameters, T, out):
    """The configuration nearest to T."""
    nq = int(parameters[NUM_POSITIONS])
    n = int(parameters[NUM_VELOCITIES])
    status, values = searched(parameters, slot, T)
    if status != OK:
        return status
    memory = new_numbers(as_array(out, 1), REST_OF_MEMORY + 2 * nq)
    q = at(memory, REST_OF_MEMORY)
    beside = at(memory, REST_OF_MEMORY + nq)
    for j in range(nq):
        q[j] = moving(values[12 + j], 0, 0.0)
    target = quaternion_from_rotation(rotation_at(T)), T
    by_T = np.empty((n, DIRECTIONS))
    by_q = np.empty((n, n))
    status = look(slot, parameters, target, q, memory)
    for a in range(n):
        for i in range(DIRECTIONS):
            by_T[a, i] = along(memory[LEFT + a], i)
        memory[STEP + a] = moving(0.0, a, 1.0)
    if status == OK:
        status = retracted(slot, parameters, q, at(memory, STEP), beside)
    if status == OK:
        status = look(slot, parameters, target, beside, memory)
    if status != OK:
        return status
    for a in range(n):
        for i in range(n):
            by_q[a, i] = along(memory[LEFT + a], i) - by_T[a, i]
    solve(by_q, by_T, n)
    for a in range(n):
        step = moving(0.0, 0, 0.0)
        for i in range(DIRECTIONS):
            step -= moving(0.0, i, by_T[a, i])
        memory[STEP + a] = step
    return retracted(slot, parameters, q, at(memory, STEP), out)


def constraint_wrenches(slot, parameters, q, out):
    """An orthonormal basis of the wrenches that do no work along S; see `complement`."""
    n = int(parameters[NUM_VELOCITIES])
    memory = new_numbers(as_array(out, 1), REST_OF_MEMORY + 36)
    status = move(slot, parameters, q, memory)
    reflections = memory[REST_OF_MEMORY:].reshape((6, 6))
    for i in range(6):
        for j in range(6):
            reflections[i, j] = 0.0
    complement_in(at(memory, S), n, out, reflections)
    return status
