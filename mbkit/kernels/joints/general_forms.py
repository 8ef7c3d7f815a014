"""The configuration nearest to a pose, and wrenches, of a joint that gives its motion alone.

Nearest to (R, p) is least |w|^2 + |d|^2, with w the rotation vector of R_q^T R and d = R_q^T
(p - p_q), radians as metres. Along a velocity v it changes by -2 (S v) . (w, d), so that Newton's
method for least squares takes steps dx with (S^T S + damping) dx = S^T (w, d). Source: Nocedal,
Wright, Numerical Optimization, 2nd edition, 10.3.

`mbkit.joints.defaults.configuration_from_pose` has the same in Python.
"""

import numpy as np

from mbkit.kernels.compile import (
    address_kernel,
    at,
    call_address,
    helper,
    pointer_after,
    pointer_at,
)
from mbkit.kernels.elementary import sqrt
from mbkit.kernels.joints.reciprocal_wrenches import allocate_motion, complement
from mbkit.kernels.joints.screw_product import rotation_at
from mbkit.kernels.lie.matrices import transposed_times
from mbkit.kernels.lie.quaternion import (
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_log,
    quaternion_product,
)
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import subtract

#: The parameters: the joint's functions and their parameters by address (retract 0: steps add), its
#: sizes, and its neutral configuration.
MOTION = 0
OWN_PARAMETERS = 1
RETRACT = 2
NUM_POSITIONS = 3
NUM_VELOCITIES = 4
NEUTRAL = 5

#: Where it starts: thrice from the neutral configuration, at first for both, for the place, and for
#: the rotation alone; then from steps within half a turn and pi metres of it.
NUM_STARTS = 20
BOTH = 0
PLACE = 1
ROTATION = 2

#: Distance of a pose that is not looked for again from elsewhere.
CLOSE = 1e-2

MOST_STEPS = 60
LEAST_DAMPING = 1e-12
MOST_DAMPING = 1e8

#: Steps below it are rounding; below the other, the distance may no longer resolve them.
ROUNDING = 1e-15
SMALL = 1e-6

#: Memory: pose, S, bias, zero velocities, what is left, S^T S and its factor, S^T left, a step;
#: then four configurations.
R = 0
P = 9
S = 12
BIAS = 48
REST = 54
LEFT = 60
NORMAL = 66
FACTOR = 102
RIGHT = 138
STEP = 144
CONFIGURATIONS = 150


@helper
def fraction(x):
    """The fractional part of x."""
    return x - int(x)


@helper
def look(slot, parameters, quaternion, T, memory, q):
    """Write the motion at q and its remaining distance to T; return the joint's status."""
    status = call_address(
        int(parameters[MOTION]),
        (
            slot,
            pointer_at(int(parameters[OWN_PARAMETERS])),
            q,
            at(memory, REST),
            at(memory, R),
            at(memory, P),
            at(memory, S),
            at(memory, BIAS),
        ),
    )
    C = rotation_at(at(memory, R))
    back = quaternion_conjugate(quaternion_from_rotation(C))
    w = quaternion_log(quaternion_product(back, quaternion))
    shift = subtract((T[9], T[10], T[11]), (memory[P], memory[P + 1], memory[P + 2]))
    d = transposed_times(C, shift)
    for j in range(3):
        memory[LEFT + j] = w[j]
        memory[LEFT + 3 + j] = d[j]
    return status


@helper
def form_normal(memory, n, first, end):
    """Write S^T S and S^T left of some of the six rows; the mean of the diagonal."""
    trace = 0.0
    for a in range(n):
        right = 0.0
        for j in range(first, end):
            right += memory[S + 6 * a + j] * memory[LEFT + j]
        memory[RIGHT + a] = right
        for b in range(a + 1):
            product = 0.0
            for j in range(first, end):
                product += memory[S + 6 * a + j] * memory[S + 6 * b + j]
            memory[NORMAL + 6 * a + b] = product
        trace += memory[NORMAL + 7 * a]
    return trace / n


@helper
def solve(memory, n, added):
    """Write the step of (S^T S + added I) dx = S^T left, by Cholesky's factor; its length."""
    for a in range(n):
        for b in range(a + 1):
            value = memory[NORMAL + 6 * a + b] + (added if a == b else 0.0)
            for k in range(b):
                value -= memory[FACTOR + 6 * a + k] * memory[FACTOR + 6 * b + k]
            if a == b:
                # rounding may leave less than what was added
                memory[FACTOR + 7 * a] = sqrt(max(value, 0.5 * added))
            else:
                memory[FACTOR + 6 * a + b] = value / memory[FACTOR + 7 * b]
    for a in range(n):
        value = memory[RIGHT + a]
        for k in range(a):
            value -= memory[FACTOR + 6 * a + k] * memory[STEP + k]
        memory[STEP + a] = value / memory[FACTOR + 7 * a]
    square = 0.0
    for i in range(n):
        a = n - 1 - i
        value = memory[STEP + a]
        for k in range(a + 1, n):
            value -= memory[FACTOR + 6 * k + a] * memory[STEP + k]
        value /= memory[FACTOR + 7 * a]
        memory[STEP + a] = value
        square += value * value
    return sqrt(square)


@helper
def retracted(slot, parameters, q, dx, out):
    """Write where the step leads to; the joint's status."""
    if parameters[RETRACT] == 0.0:
        for j in range(int(parameters[NUM_POSITIONS])):
            out[j] = q[j] + dx[j]
        return OK
    return call_address(
        int(parameters[RETRACT]),
        (slot, pointer_at(int(parameters[OWN_PARAMETERS])), q, dx, out),
    )


@helper
def cost_of(memory, first, end):
    """The sum of some squares of what is left."""
    square = 0.0
    for j in range(first, end):
        square += memory[LEFT + j] * memory[LEFT + j]
    return square


@helper
def descend(slot, parameters, target, memory, places, mode):
    """Move q to where the distance to T is least, near where it is.

    target: the quaternion of T, and T; places: q, and memory for another.

    The status, |left|^2, and the length of the last step: small where that place was found.
    """
    quaternion, T = target
    q, trial = places
    nq = int(parameters[NUM_POSITIONS])
    n = int(parameters[NUM_VELOCITIES])
    first = 3 if mode == PLACE else 0
    end = 3 if mode == ROTATION else 6
    status = look(slot, parameters, quaternion, T, memory, q)
    cost = cost_of(memory, first, end)
    damping = LEAST_DAMPING
    last = 1e300
    new = True
    mean = 0.0
    for _step in range(MOST_STEPS):
        if status != OK or not cost < 1e300:
            break
        if new:
            mean = form_normal(memory, n, first, end)
        if not mean > 0.0:
            break
        size = solve(memory, n, damping * mean)
        if not size > ROUNDING:
            last = size
        if not size > ROUNDING or damping > MOST_DAMPING:
            break
        status = retracted(slot, parameters, q, at(memory, STEP), trial)
        if status != OK:
            break
        status = look(slot, parameters, quaternion, T, memory, trial)
        found = cost_of(memory, first, end)
        if size < SMALL and not size < 0.5 * last:
            break
        new = found < cost or size < SMALL
        if new:
            for j in range(nq):
                q[j] = trial[j]
            cost = found
            last = size
            damping = max(0.01 * damping, LEAST_DAMPING)
        else:
            damping = max(10.0 * damping, 1e-3)
    return status, cost, last


@helper
def start(slot, parameters, memory, number, q):
    """Write a configuration to start from; the joint's status.

    Multiples of square roots of primes, of which the integer part is dropped, fill a cube evenly.
    """
    if number < 3:
        for j in range(int(parameters[NUM_POSITIONS])):
            q[j] = parameters[NEUTRAL + j]
        return OK
    k = number - 2.0
    roots = (
        1.4142135623730951,
        1.7320508075688772,
        2.23606797749979,
        2.6457513110645907,
        3.3166247903554,
        3.605551275463989,
    )
    for j in range(int(parameters[NUM_VELOCITIES])):
        memory[STEP + j] = 6.283185307179586 * (fraction(k * roots[j]) - 0.5)
    return retracted(slot, parameters, pointer_after(parameters, NEUTRAL), at(memory, STEP), q)


@address_kernel("ippp")
def nearest(slot, parameters, T, out):
    """The configuration nearest to T: of the first start that comes close, else of the closest."""
    nq = int(parameters[NUM_POSITIONS])
    memory = np.zeros(CONFIGURATIONS + 2 * nq)
    q = at(memory, CONFIGURATIONS)
    trial = at(memory, CONFIGURATIONS + nq)
    target = quaternion_from_rotation(rotation_at(T)), T
    least = 1e300
    for j in range(nq):
        out[j] = np.nan
    for number in range(NUM_STARTS):
        status = start(slot, parameters, memory, number, q)
        if status != OK:
            return status
        cost = 0.0
        last = 0.0
        for part in range(2):
            mode = BOTH if part == 1 else number
            if part == 0 and number not in (PLACE, ROTATION):
                continue
            status, cost, last = descend(slot, parameters, target, memory, (q, trial), mode)
            if status != OK:
                return status
        if cost < least:
            least = cost
            for j in range(nq):
                out[j] = q[j]
            if cost < CLOSE * CLOSE and last < 2.0 * SMALL:
                break
    return OK


@address_kernel("ippp")
def reciprocal(slot, parameters, S, out):
    """An orthonormal basis of the wrenches reciprocal to columns of six, which it changes."""
    complement(S, int(parameters[0]), out)
    return OK


@address_kernel("ippp")
def wrenches(slot, parameters, q, out):
    """An orthonormal basis of the wrenches that do no work along S; see `complement`."""
    n = int(parameters[NUM_VELOCITIES])
    C, r, columns, bias, rest = allocate_motion(n)
    status = call_address(
        int(parameters[MOTION]),
        (
            slot,
            pointer_at(int(parameters[OWN_PARAMETERS])),
            q,
            at(rest, 0),
            at(C, 0),
            at(r, 0),
            at(columns, 0),
            at(bias, 0),
        ),
    )
    complement(columns, n, out)
    return status
