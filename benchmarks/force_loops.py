"""Compiled loops to be timed: evaluations of vdot, and the arithmetic of a spring by itself."""

import math

from mbkit.kernels.compile import float64, floats, int64, kernel, matrix, stack
from mbkit.kernels.equations_of_motion import acceleration
from mbkit.kernels.status import OK
from mbkit.kernels.vectors import (
    accumulate,
    add,
    cross,
    dot,
    load,
    pairing,
    rotate,
    scale,
    subtract,
)


@kernel(int64(int64, int64, floats, floats, floats, floats))
def evaluations(space, count, q, v, vdot, powers):
    """Evaluate vdot(t, q, v) as often, as the stages of a time loop do."""
    for _ in range(count):
        state = acceleration(space, 0.0, q, v, vdot, powers)
        if state != OK:
            return state
    return OK


@kernel(float64(int64, stack, matrix, matrix, matrix, matrix))
def springs(count, R, p, V, W, numbers):
    """As often: the wrenches of springs and dampers between points, added to W (2 n, 6).

    Spring k is between bodies 2 k and 2 k + 1, whose poses R, p and hybrid twists V are there, with
    its numbers in a row: stiffness, rest length, damping and both points. Nothing is looked up.
    Returns what they dissipate.
    """
    dissipated = 0.0
    for _ in range(count):
        for k in range(numbers.shape[0]):
            row = numbers[k]
            a = 2 * k
            b = 2 * k + 1
            arm_a = rotate(R[a], (row[3], row[4], row[5]))
            arm_b = rotate(R[b], (row[6], row[7], row[8]))
            d = subtract(add(load(p[b]), arm_b), add(load(p[a]), arm_a))
            length = math.sqrt(dot(d, d))
            e = scale(1.0 / length if length != 0.0 else 0.0, d)
            t_a = cross(arm_a, e)
            t_b = cross(arm_b, e)
            rate = pairing(V[b], t_b, e) - pairing(V[a], t_a, e)
            damping = row[2] * rate
            tension = row[0] * (length - row[1]) + damping
            dissipated += damping * rate
            accumulate(W[a], scale(tension, t_a), scale(tension, e))
            accumulate(W[b], scale(-tension, t_b), scale(-tension, e))
    return dissipated
